/** When the lists of a session were read, and how long they hold. */
import type { ServerList } from '../../machines/connection/connection.events.js';

interface Read {
  readonly number: number;
  /** Milliseconds since the epoch; undefined while it is in progress. */
  readonly endedAt: number | undefined;
  /** From when on the list is out of date, in milliseconds since the epoch. Default: never. */
  readonly staleAt?: number | undefined;
}

const NONE: Read = { number: 0, endedAt: undefined };

export class ListReads {
  readonly #last = new Map<ServerList, Read>();

  /** The number of the last read; 0 if the list was never read. */
  number(list: ServerList): number {
    return (this.#last.get(list) ?? NONE).number;
  }

  begin(lists: readonly ServerList[]): void {
    for (const list of lists) this.#last.set(list, { number: this.number(list) + 1, endedAt: undefined });
  }

  /** `ttlMs`: how long the lists hold. Default: until they change. */
  end(lists: readonly ServerList[], at: number, ttlMs = Infinity): void {
    const staleAt = ttlMs === Infinity ? undefined : at + ttlMs;
    for (const list of lists) this.#last.set(list, { number: this.number(list), endedAt: at, staleAt });
  }

  /** The lists that are out of date, each once. */
  takeStale(now: number): readonly ServerList[] {
    const stale = [...this.#last].filter(([, { staleAt = Infinity }]) => now >= staleAt);
    for (const [list, read] of stale) this.#last.set(list, { ...read, staleAt: undefined });
    return stale.map(([list]) => list);
  }

  /** Whether the list is being read, or was read within the last `ms` milliseconds. */
  isRecent(list: ServerList, now: number, ms: number): boolean {
    const { number, endedAt } = this.#last.get(list) ?? NONE;
    return number > 0 && (endedAt === undefined || Math.abs(now - endedAt) <= ms);
  }
}
