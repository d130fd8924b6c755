/** The destination of a log: a file (`file-store.ts`), or an implementation of the host. */

/** The destination of a recording. `createLogFile` makes one for a file; a host may implement others. */
export interface LogSink {
  /**
   * Size after which a new part begins, in characters: `rotate` is called, and the next output begins with a header.
   * Default, and without a `rotate`: the log has one part.
   */
  readonly maxSize?: number;
  /**
   * Takes whole lines, each with its line feed. Not called again before the promise has settled.
   *
   * @param lines One or more lines of JSON, each with its line feed.
   */
  write(lines: string): Promise<void> | void;
  /** Starts a new part; the lines so far belong to the previous one. */
  rotate?(): Promise<void> | void;
  /** Called once, after the last line. */
  close(): Promise<void> | void;
}

export function isLogSink(value: unknown): value is LogSink {
  if (typeof value !== 'object' || value === null) return false;
  const sink = value as Partial<Record<keyof LogSink, unknown>>;
  const hasRotation = sink.rotate === undefined || typeof sink.rotate === 'function';
  return typeof sink.write === 'function' && typeof sink.close === 'function' && hasRotation;
}
