/** Times, durations and addresses among the fields of a log, by the names of the fields. */
import { laneAt, laneInWords } from '../log/lane-names.js';
import { duration, fullTime } from '../state/times.js';

const TIMES: ReadonlySet<string> = new Set(['at', 'since', 'dueSince', 'losses', 'signIns']);
/** An earlier time is of a clock that does not count from the epoch. */
const EARLIEST = 1e11;

/** A time with its day, a duration with its unit, the machine at an address; undefined for any other value. */
export function valueWords(name: string | undefined, value: unknown): string | undefined {
  if (name === undefined) return undefined;
  if ((name === 'to' || name === 'from') && typeof value === 'string') return laneInWords(laneAt(value));
  if (typeof value !== 'number') return undefined;
  if (TIMES.has(name) || name.endsWith('At')) return value >= EARLIEST ? fullTime(value) : undefined;
  return name === 'ms' || /[a-z]Ms$/.test(name) ? duration(value) : undefined;
}
