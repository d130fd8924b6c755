/** A recording that is under way. */
export interface Recording {
  /** Ends it: what has happened until now is written. Bounded and idempotent; never rejects. */
  close(): Promise<void>;
}
