/** The time for which a program may run. Its owner can extend it until it is over. */
export interface RunTerm {
  /** What is left, milliseconds; 0 or less if it is over for good. */
  leftMs(): number;
  /**
   * Calls `onextended` at each extension, until the returned function is called.
   */
  follow(onextended: () => void): () => void;
}

/** What happens to a program that runs once in the fleet when its time is over. */
export const LEASE_LOST = {
  code: 'lease-lost',
  message: 'The lease of the server is over: another host of the fleet may run it now.',
} as const;
