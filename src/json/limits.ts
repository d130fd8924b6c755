/** How much a server may send. The defaults are in `transports/message-limits.ts`. */

/**
 * Limits on what servers send. Within the defaults, one message keeps the event loop for about 200 ms at most
 * (`tools/bench/message-limits.mjs`). A message beyond a
 * limit is dropped with a `diagnostic`; if it answers a call, that call fails.
 */
export interface MessageLimits {
  /** Most bytes of one message of a server on stdio. Default 16 MiB. */
  readonly stdioMessageBytes?: number;
  /** Most bytes of one message of a remote server. Default 16 MiB. */
  readonly remoteMessageBytes?: number;
  /**
   * Most structural characters of one message of a server: braces, brackets, colons and commas outside of strings. They
   * decide how long a message takes to parse. Default 200,000. A message also nests at most 1,000 levels.
   */
  readonly structuralCharacters?: number;
  /** Most entries of one list of a server, such as its tools, over all pages; the rest is left out. Default 2,000. */
  readonly listEntries?: number;
  /**
   * Most events in a second that one server causes by log messages, progress and other notifications; the rest is left out
   * and counted in a `diagnostic`. Callbacks of calls get all progress. Default 1,000.
   */
  readonly eventsPerSecond?: number;
}
