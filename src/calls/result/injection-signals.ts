/**
 * Looks for signs that a text was written to steer a model. Says where they are and never what to do about them: the
 * words of a security guide look the same. Disguises that take a reader (paraphrase, encodings, most languages) are not
 * seen.
 *
 * I1. Linear in the length of the text, whatever it is.
 * I2. The whole text is scanned, in windows; what is found does not depend on where they begin.
 * I3. No word of the text is repeated in what is reported, since a result may hold secrets.
 */
import { BEHIND, INJECTION_PATTERNS, REACH, type InjectionSignalName } from './injection-patterns.js';
import { partsAPair } from './surrogates.js';

export interface InjectionSignal {
  readonly name: InjectionSignalName;
  /** How many places have it. */
  readonly count: number;
  /** Where they begin, counted in characters of the whole text; the first ten of each kind. */
  readonly positions: readonly number[];
}

const WINDOW = 2 ** 18;
const MOST_POSITIONS = 10;

/** In the order of the patterns. Pauses after every window. */
export function* scanForInjection(
  text: string,
  window = WINDOW,
): Generator<undefined, readonly InjectionSignal[], undefined> {
  const searches = INJECTION_PATTERNS.map(([name, pattern]) => new Search(name, pattern));
  let from = 0;
  while (from < text.length) {
    const until = windowEnd(text, from + window);
    for (const search of searches) search.look(text, from, until);
    from = until;
    if (from < text.length) yield;
  }
  return toSignals(searches);
}

function windowEnd(text: string, end: number): number {
  if (end >= text.length) return text.length;
  return partsAPair(text, end) ? end + 1 : end;
}

/** One pattern on its way through a text. */
class Search {
  count = 0;
  readonly positions: number[] = [];
  #matchedUntil = 0;

  constructor(
    readonly name: InjectionSignalName,
    private readonly pattern: RegExp,
  ) {}

  /** Counts what begins in this window. */
  look(text: string, from: number, until: number): void {
    const { pattern } = this;
    const offset = Math.max(0, from - BEHIND);
    const window = text.slice(offset, until + REACH);
    pattern.lastIndex = Math.max(from, this.#matchedUntil) - offset;
    for (let match = pattern.exec(window); match !== null; match = pattern.exec(window)) {
      const position = offset + match.index;
      if (position >= until) return;
      this.#matchedUntil = offset + pattern.lastIndex;
      this.count += 1;
      if (this.positions.length < MOST_POSITIONS) this.positions.push(position);
    }
  }
}

function toSignals(searches: readonly Search[]): InjectionSignal[] {
  const signals = new Map<InjectionSignalName, InjectionSignal>();
  for (const { name, count, positions } of searches) {
    if (count === 0) continue;
    const known = signals.get(name) ?? { count: 0, positions: [] };
    const all = [...known.positions, ...positions].toSorted((a, b) => a - b);
    signals.set(name, { name, count: known.count + count, positions: all.slice(0, MOST_POSITIONS) });
  }
  return [...signals.values()];
}
