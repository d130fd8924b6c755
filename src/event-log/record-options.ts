/** What a host says of a recording that it wants. */
import { nearestName } from '../config/near-miss.js';
import { isLogSink, type LogSink } from './log-sink.js';

export interface RecordOptions {
  /** The path of a file, which only its user can read and which is made anew, or a sink. */
  readonly target: string | LogSink;
  /**
   * Whether every message to and from a server is noted: direction, method, id, size, and the time until its answer.
   * Default: not.
   */
  readonly wire?: boolean;
  /**
   * Whether the messages themselves are noted, and so arguments and results: values of secrets are masked, and so is
   * what looks like a secret by its name or its form. Default: not. Implies `wire`.
   */
  readonly bodies?: boolean;
  /** Size after which a new file begins, bytes; for a path. Default 64 MiB. */
  readonly maxBytes?: number;
}

/** A path, a sink, or either with more said of it. */
export type RecordTarget = string | LogSink | RecordOptions;

export function toRecordOptions(target: RecordTarget): RecordOptions {
  return typeof target === 'object' && 'target' in target ? target : { target };
}

const KNOWN = ['target', 'wire', 'bodies', 'maxBytes'] satisfies readonly (keyof RecordOptions)[];

/** Why a value is no such thing; undefined where it is one. */
export function recordProblem(value: unknown): string | undefined {
  if (isTarget(value)) return undefined;
  if (typeof value !== 'object' || value === null || !('target' in value))
    return "expected a path, or an object with the functions 'write' and 'close'";
  const unknown = Object.keys(value).find((name) => !KNOWN.some((known) => known === name));
  if (unknown !== undefined) {
    const meant = nearestName(unknown, KNOWN);
    return `'${unknown}' is not known here${meant === undefined ? '' : `; did you mean '${meant}'?`}`;
  }
  const { target, wire, bodies, maxBytes } = value as Partial<Record<keyof RecordOptions, unknown>>;
  if (!isTarget(target))
    return "expected 'target' to be a path, or an object with the functions 'write' and 'close'";
  for (const [name, flag] of Object.entries({ wire, bodies }))
    if (flag !== undefined && typeof flag !== 'boolean') return `expected '${name}' to be true or false`;
  const isSize = maxBytes === undefined || (Number.isSafeInteger(maxBytes) && Number(maxBytes) >= 1);
  return isSize ? undefined : "expected 'maxBytes' to be a whole number of at least 1";
}

function isTarget(value: unknown): boolean {
  return isLogSink(value) || (typeof value === 'string' && value !== '');
}
