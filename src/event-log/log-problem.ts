/** What can be wrong with a log. */

export type LogProblemCode =
  /** It does not begin as a log does. */
  | 'not-a-log'
  /** It was written by a newer version of Troupe. */
  | 'newer'
  /** A line does not fit. */
  | 'corrupt'
  /** A line is longer than any that is written. */
  | 'too-long'
  /** The last line was cut off; the rest of the log is whole. */
  | 'truncated'
  /** The bytes could not be read. */
  | 'unreadable';

export interface LogProblem {
  readonly code: LogProblemCode;
  /** Number of the line, from 1. */
  readonly line: number;
  /** One sentence that names the line. */
  readonly message: string;
}
