/**
 * The secrets of one server or account over time. A replaced secret stays masked: whoever had it may still repeat it.
 *
 * Bounded: the oldest are forgotten, but never a lasting secret, or one of the latest call.
 */
import { createMask, isLikely, NO_MASK, MIN_SECRET, type Mask } from './secrets.js';

/** Enough to remember hourly tokens for a day, and a few values that change with every attempt. */
const MAX_SECRETS = 64;

export class KnownSecrets {
  /** In the order in which they were last remembered. */
  readonly #secrets = new Set<string>();
  readonly #lasting: readonly string[];
  #mask: Mask = NO_MASK;
  #likelyMask: Mask = NO_MASK;

  constructor(lasting: Iterable<string | undefined> = []) {
    this.#lasting = longEnough(lasting);
    this.#makeMasks();
  }

  /** Masks all of them. */
  readonly mask: Mask = (text) => this.#mask(text);

  /** The present mask without short values, which may be ordinary words. */
  get likelyMask(): Mask {
    return this.#likelyMask;
  }

  remember(texts: Iterable<string | undefined>): void {
    const secrets = longEnough(texts);
    const areKnown = secrets.every((secret) => this.#secrets.has(secret));
    for (const secret of secrets) {
      this.#secrets.delete(secret);
      this.#secrets.add(secret);
    }
    if (areKnown) return;
    for (const oldest of this.#secrets) {
      if (this.#secrets.size <= Math.max(MAX_SECRETS, secrets.length)) break;
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
  return [...secrets].filter((secret): secret is string => (secret?.length ?? 0) >= MIN_SECRET);
}
