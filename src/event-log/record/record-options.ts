/** The options of a recording, its destination, and the handle that ends it. */
import { unknownOption, type OptionNames } from '../../text/option-names.js';

/** Options of `createLogFile`. */
export interface LogFileOptions {
  /** Size after which a new part begins, bytes. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Number of older files that are kept, `PATH.1` to `PATH.n`. Default 20; 0 keeps none. */
  readonly maxOlderFiles?: number;
  /** Total size of the older files that are kept, bytes. The newest of them is kept in any case. Default: 4 × `maxBytes`. */
  readonly maxOlderBytes?: number;
}

/** Options of a recording. */
export interface RecordOptions extends LogFileOptions {
  /** A sink, or the path of a file. Only its user can read the file; an existing one becomes an older file. */
  readonly target: string | LogSink;
  /**
   * Also records every message to and from a server: direction, method, id, size, and the time until its
   * answer. Default false.
   */
  readonly wire?: boolean;
  /**
   * Also records the messages themselves, with arguments and results. Secrets of entries are masked, and so
   * is what looks like a secret by its name or form. Implies `wire`. Default false.
   */
  readonly bodies?: boolean;
  /**
   * Name of this computer in the log, which tells the logs of several computers apart. Default: the one of the system; false
   * leaves it out.
   */
  readonly host?: string | false;
}

/** A path, a sink, or options with either of them. */
export type RecordTarget = string | LogSink | RecordOptions;

export function toRecordOptions(target: RecordTarget): RecordOptions {
  return typeof target === 'object' && 'target' in target ? target : { target };
}

const NAMES: OptionNames<RecordOptions> = {
  target: true,
  wire: true,
  bodies: true,
  host: true,
  maxBytes: true,
  maxOlderFiles: true,
  maxOlderBytes: true,
};
/** The least value of each number. */
const LEAST = { maxBytes: 1, maxOlderFiles: 0, maxOlderBytes: 0 };

/** Why a value is not a record target; undefined if it is one. */
export function recordProblem(value: unknown): string | undefined {
  if (isTarget(value)) return undefined;
  if (typeof value !== 'object' || value === null || !('target' in value))
    return "expected a path, or an object with the functions 'write' and 'close'";
  const unknown = unknownOption(value as RecordOptions, NAMES);
  if (unknown !== undefined) return unknown;
  const options = value as Partial<Record<keyof RecordOptions, unknown>>;
  const { target, wire, bodies, host } = options;
  if (!isTarget(target))
    return "expected 'target' to be a path, or an object with the functions 'write' and 'close'";
  for (const [name, flag] of Object.entries({ wire, bodies }))
    if (flag !== undefined && typeof flag !== 'boolean') return `expected '${name}' to be true or false`;
  if (host !== undefined && host !== false && typeof host !== 'string')
    return "expected 'host' to be a name, or false";
  for (const [name, least] of Object.entries(LEAST)) {
    const number = options[name as keyof typeof LEAST];
    if (number !== undefined && !(Number.isSafeInteger(number) && Number(number) >= least))
      return `expected '${name}' to be a whole number of at least ${least}`;
  }
  return undefined;
}

function isTarget(value: unknown): boolean {
  return isLogSink(value) || (typeof value === 'string' && value !== '');
}

/** A recording in progress. */
export interface Recording {
  /**
   * Ends the recording once everything so far is written. Bounded and idempotent; never rejects.
   *
   * @example
   * ```ts
   * const recording = await troupe.record('troupe.log');
   * await recording.close();
   * ```
   */
  close(): Promise<void>;
}

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
