/**
 * Finds signs that a text was written to steer a model. It says where they are, but not what to do about them: a
 * security guide contains the same words. Disguises that only a reader recognizes (paraphrase, encodings, most
 * languages) are not found.
 *
 * I1. The time is linear in the length of any text.
 * I2. The whole text is scanned, in windows; the findings do not depend on where windows begin.
 * I3. Findings repeat no words of the text, since a result may hold secrets.
 */
import { BEHIND, INJECTION_PATTERNS, REACH, type InjectionSignalName } from './injection-patterns.js';
import { splitsSurrogatePair } from '../text/cut-text.js';

/** A sign of prompt injection in a text. */
export interface InjectionSignal {
  /** Kind of the sign. */
  readonly name: InjectionSignalName;
  /** Number of places where it occurs. */
  readonly count: number;
  /** Offsets of the first ten places, in characters from the start of the whole text. */
  readonly positions: readonly number[];
}

const WINDOW = 2 ** 18;
const MAX_POSITIONS = 10;

/** The signals in the order of the patterns. Pauses after every window. */
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
  return splitsSurrogatePair(text, end) ? end + 1 : end;
}

/** The search for one pattern in a text. */
class Search {
  count = 0;
  readonly positions: number[] = [];
  #matchedUntil = 0;

  constructor(
    readonly name: InjectionSignalName,
    private readonly pattern: RegExp,
  ) {}

  /** Counts matches that begin in this window. */
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
      if (this.positions.length < MAX_POSITIONS) this.positions.push(position);
    }
  }
}

function toSignals(searches: readonly Search[]): InjectionSignal[] {
  const signals = new Map<InjectionSignalName, InjectionSignal>();
  for (const { name, count, positions } of searches) {
    if (count === 0) continue;
    const known = signals.get(name) ?? { count: 0, positions: [] };
    const all = [...known.positions, ...positions].toSorted((a, b) => a - b);
    signals.set(name, { name, count: known.count + count, positions: all.slice(0, MAX_POSITIONS) });
  }
  return [...signals.values()];
}
