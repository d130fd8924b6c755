/** Where a log is written to. A file is one (`file-store.ts`); a host may have others. */

export interface LogSink {
  /**
   * Size after which a new part begins, in characters: `rotate` is called, and what is written next begins with a
   * header. Default, and without a `rotate`: the log has one part.
   */
  readonly maxSize?: number;
  /** Takes whole lines, each with its line feed. Not called again before the promise settles. */
  write(lines: string): Promise<void> | void;
  /** What was written so far is a part of its own. */
  rotate?(): Promise<void> | void;
  /** Nothing more is written. */
  close(): Promise<void> | void;
}

export function isLogSink(value: unknown): value is LogSink {
  if (typeof value !== 'object' || value === null) return false;
  const sink = value as Partial<Record<keyof LogSink, unknown>>;
  const hasRotation = sink.rotate === undefined || typeof sink.rotate === 'function';
  return typeof sink.write === 'function' && typeof sink.close === 'function' && hasRotation;
}
