/** What a host gives to an inspection and gets from it; the declarations of the package hold this without XState. */

/** Options of the inspection page. */
export interface InspectOptions {
  /** Port on 127.0.0.1 for the page. Default: any free port. */
  readonly port?: number;
  /** Title of the page. Default: the client name of the troupe and the process id. */
  readonly title?: string;
  /**
   * Maximum size of the history that is kept in memory from this call on, whether or not a page is open, in bytes: a page
   * shows what happened before it was opened. Nothing is written to the disk. If the troupe records to a file, older
   * entries are read from there. 0 keeps none: then a page shows what happens from the opening of the first page on.
   * Any other value is at least 1 MiB. Default: 32 MiB.
   */
  readonly history?: number;
  /**
   * Whether the page `/stately` sends events to Stately's hosted inspector. That receives all states, contexts and
   * events, with secrets masked. A text is the address of another viewer of its protocol. Default false.
   */
  readonly stately?: boolean | string;
}

/** A page that is being served. */
export interface Inspection {
  /** Address of the page. Its fragment is a token. Anybody who has it can see everything and command every connection. */
  readonly url: string;
  /** Address of the bridge to Stately's inspector. Absent unless `stately` is set. */
  readonly statelyUrl?: string;
  /**
   * Ends the service. Bounded and idempotent; never rejects.
   *
   * @example
   * ```ts
   * const inspection = await troupe.inspect({ port: 9_300 });
   * await inspection.close();
   * ```
   */
  close(): Promise<void>;
}
