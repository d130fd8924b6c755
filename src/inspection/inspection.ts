/** What a host says of an inspection that it wants, and what it has of one. */

export interface InspectOptions {
  /** The port of 127.0.0.1 that the page is served on. Default: any that is free. */
  readonly port?: number;
  /** What the page says it shows. Default: the name that the troupe tells its servers, and the number of the process. */
  readonly title?: string;
  /**
   * Whether the page `/stately` hands what happens to Stately's hosted inspector, which then is sent all of it: states,
   * contexts and events, secrets masked. A text is the address of another viewer of its protocol. Default false.
   */
  readonly stately?: boolean | string;
}

/** A page that is being served. */
export interface Inspection {
  /** The address of the page. Its fragment is a token: whoever has it may see everything, and command every connection. */
  readonly url: string;
  /** The address of the bridge to Stately's inspector, where that was asked for. */
  readonly statelyUrl?: string;
  /** Serves it no longer. Bounded and idempotent; never rejects. */
  close(): Promise<void>;
}
