/** Events and contexts without what differs in every run: times, numbers of processes and ports, counters, jitter. Pure. */
import { isJsonObject } from '../../../src/json/json-object.js';

/** The run that a value belongs to. */
export interface RunTerms {
  /** Time of its first and of its last entry, milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** The generation that its connection began with: a later start of the same connection continues to count. */
  readonly generation: number;
}

const TIME = '(a time)';
const NUMBER = '(a number)';
const DELAY = '(a delay)';
const YEAR_MS = 31_536_000_000;
/** Virtual clocks begin near 0: there, only names tell times from other numbers. */
const REAL_CLOCK = 100 * 86_400_000;

const TIMES = /^(?:at|since|losses|signIns|\w+At|\w+Since)$/;
const COUNTERS: ReadonlySet<string> = new Set(['pid', 'seed', 'id', 'call', 'timer', 'durationMs']);
/** They depend on the seed, within what the policy says. */
const DELAYS: ReadonlySet<string> = new Set(['delayMs']);
const GENERATIONS: ReadonlySet<string> = new Set(['generation', 'issued', 'retiring']);

/** Whatever differs has one. */
const HAS_DIGIT = /\d/;
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, '(an id)'],
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z?/g, TIME],
  [/\b(localhost|127\.0\.0\.1|\[::1\]):\d+/g, '$1:(a port)'],
  [/\b(pid|process) \d+\b/gi, `$1 ${NUMBER}`],
];

export function normalForm(value: unknown, terms: RunTerms, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => normalForm(item, terms, name));
  if (typeof value === 'number') return normalNumber(value, terms, name);
  if (typeof value === 'string') return HAS_DIGIT.test(value) ? normalText(value) : value;
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, item]) => [field, normalForm(item, terms, field)]),
  );
}

function normalText(text: string): string {
  return WORDS.reduce((changed, [form, word]) => changed.replace(form, word), text);
}

function normalNumber(value: number, { from, to, generation }: RunTerms, name: string): unknown {
  if (GENERATIONS.has(name)) return value - generation;
  if (COUNTERS.has(name)) return NUMBER;
  if (DELAYS.has(name)) return value === 0 ? 0 : DELAY;
  const isOfTheRun = from > REAL_CLOCK && from - YEAR_MS < value && value < to + YEAR_MS;
  return TIMES.test(name) || isOfTheRun ? TIME : value;
}
