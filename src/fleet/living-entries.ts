/**
 * The entries of processes that say by them that they are there (`repeated-entry.ts`), as another process sees them.
 *
 * L1. A reader judges an entry by its own timers: if nobody has written it for 15 s, its process is gone. No clocks of two
 *     machines are compared. A reader that was frozen counts that as one second.
 * L2. The time in which the engine cannot be reached does not count: what was known stays known.
 * L3. A reader removes an entry that nobody has written for 60 s.
 * L4. What an entry said stays known for 15 s after it was removed: an engine that has lost its data removes entries as
 *     well, and their processes are still there.
 */
import type { Clock } from '../ports.js';
import { call, type FleetEngine, type StopFleet } from './engine.js';
import type { FleetKey } from './fleet-key.js';

const TICK_MS = 1_000;
/** Seconds without a word after which a process is gone. */
const GONE_AFTER = 15;
/** Seconds without a word after which its entry is removed. */
const REMOVED_AFTER = 60;
/** Changes within this time are one. */
const TOGETHER_MS = 100;

export interface LivingEntriesParts<T> {
  readonly engine: FleetEngine;
  readonly key: FleetKey;
  readonly clock: Clock;
  /** Ends with `/`. */
  readonly prefix: string;
  /** Called once what is there was heard, then after each change. Its errors are dropped. */
  readonly onChange: (now: ReadonlyMap<string, T>) => void;
  /** Called if the engine no longer has an entry. */
  readonly onRemoved?: (id: string) => void;
}

interface Seen<T> {
  /** Undefined if it was sealed with another key: then it is not of this fleet. */
  readonly value: T | undefined;
  /** Whether the engine has the entry. */
  isStored: boolean;
  /** Seconds without a word, counted while the engine could be reached. */
  quiet: number;
}

export class LivingEntries<T> {
  readonly #parts: LivingEntriesParts<T>;
  readonly #seen = new Map<string, Seen<T>>();
  readonly #watching: Promise<StopFleet>;
  #isHeard = false;
  #isOver = false;
  #tick: unknown;
  #telling: unknown;

  constructor(parts: LivingEntriesParts<T>) {
    this.#parts = parts;
    this.#watching = parts.engine.watch(parts.prefix, (name, sealed) => this.#hear(name, sealed));
    const heard = (): void => {
      if (this.#isOver) return;
      this.#isHeard = true;
      this.#tell();
    };
    // It rejects only if the engine is closed.
    this.#watching.then(heard, () => {});
  }

  /** Whether what is there was heard. */
  get isHeard(): boolean {
    return this.#isHeard;
  }

  /** Those that are there. */
  get present(): ReadonlyMap<string, T> {
    const now = new Map<string, T>();
    for (const [id, seen] of this.#seen) {
      const value = presentValue(seen);
      if (value !== undefined) now.set(id, value);
    }
    return now;
  }

  /** What it said last, also for a time after it was removed (L4). Undefined if nothing is known of it. */
  find(id: string): { readonly isGone: boolean; readonly value: T | undefined } | undefined {
    const seen = this.#seen.get(id);
    return seen && { isGone: seen.quiet >= GONE_AFTER, value: seen.value };
  }

  stop(): void {
    this.#isOver = true;
    for (const timer of [this.#tick, this.#telling]) this.#parts.clock.clearTimeout(timer);
    this.#watching.then((stop) => stop()).catch(() => {});
  }

  #hear(name: string, sealed: string | undefined): void {
    if (this.#isOver) return;
    const { prefix, onRemoved, clock } = this.#parts;
    const id = name.slice(prefix.length);
    const before = this.#seen.get(id);
    if (sealed === undefined) {
      if (before !== undefined) before.isStored = false;
      onRemoved?.(id);
      return this.#tellSoon();
    }
    const value = this.#open(name, sealed);
    this.#seen.set(id, { value, isStored: true, quiet: 0 });
    this.#tick ??= clock.setTimeout(() => this.#count(), TICK_MS);
    if (JSON.stringify(value) !== JSON.stringify(presentValue(before))) this.#tellSoon();
  }

  #open(name: string, sealed: string): T | undefined {
    try {
      return JSON.parse(this.#parts.key.open(name, sealed)) as T;
    } catch {
      return undefined;
    }
  }

  #count(): void {
    const { engine, prefix, clock } = this.#parts;
    this.#tick = undefined;
    for (const [id, seen] of engine.isUp ? this.#seen : []) {
      seen.quiet += 1;
      if (seen.quiet === GONE_AFTER) this.#tellSoon();
      if (seen.quiet >= GONE_AFTER && !seen.isStored) this.#seen.delete(id);
      // If it fails, it is tried again after the next second.
      if (seen.quiet >= REMOVED_AFTER) engine.remove(prefix + id).catch(() => {});
    }
    if (this.#seen.size > 0) this.#tick = clock.setTimeout(() => this.#count(), TICK_MS);
  }

  #tellSoon(): void {
    if (this.#isHeard) this.#telling ??= this.#parts.clock.setTimeout(() => this.#tell(), TOGETHER_MS);
  }

  #tell(): void {
    this.#telling = undefined;
    call(this.#parts.onChange, this.present);
  }
}

function presentValue<T>(seen: Seen<T> | undefined): T | undefined {
  return seen !== undefined && seen.isStored && seen.quiet < GONE_AFTER ? seen.value : undefined;
}
