/**
 * The secrets of one server or account over time. What was replaced stays hidden: whoever had it may still repeat it.
 *
 * Bounded: the oldest are forgotten, but never a lasting one, or one of those that were told last.
 */
import { createMask, isLikely, NO_MASK, SHORTEST_SECRET, type Mask } from './secrets.js';

/** A token of an hour is remembered for a day, and so are a few values that change with every attempt. */
const MOST_SECRETS = 64;

export class KnownSecrets {
  /** In the order in which they were last told. */
  readonly #secrets = new Set<string>();
  readonly #lasting: readonly string[];
  #mask: Mask = NO_MASK;
  #likelyMask: Mask = NO_MASK;

  constructor(lasting: Iterable<string | undefined> = []) {
    this.#lasting = longEnough(lasting);
    this.#makeMasks();
  }

  /** Strikes out all of them. */
  readonly mask: Mask = (text) => this.#mask(text);

  /** That of now: leaves short values alone, which may be ordinary words. */
  get likelyMask(): Mask {
    return this.#likelyMask;
  }

  remember(told: Iterable<string | undefined>): void {
    const secrets = longEnough(told);
    const areKnown = secrets.every((secret) => this.#secrets.has(secret));
    for (const secret of secrets) {
      this.#secrets.delete(secret);
      this.#secrets.add(secret);
    }
    if (areKnown) return;
    for (const oldest of this.#secrets) {
      if (this.#secrets.size <= Math.max(MOST_SECRETS, secrets.length)) break;
      this.#secrets.delete(oldest);
    }
    this.#makeMasks();
  }

  #makeMasks(): void {
    const all = [...this.#lasting, ...this.#secrets];
    this.#mask = createMask(all);
    this.#likelyMask = createMask(all.filter(isLikely));
  }
}

function longEnough(secrets: Iterable<string | undefined>): string[] {
  return [...secrets].filter((secret): secret is string => (secret?.length ?? 0) >= SHORTEST_SECRET);
}
