/** When the lists of a session were read. */
import type { ServerList } from '../../machines/connection/connection.events.js';

interface Read {
  readonly number: number;
  /** Milliseconds since the epoch; undefined while it is in progress. */
  readonly endedAt: number | undefined;
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

  end(lists: readonly ServerList[], at: number): void {
    for (const list of lists) this.#last.set(list, { number: this.number(list), endedAt: at });
  }

  /** Whether the list is being read, or was read within the last `ms` milliseconds. */
  isRecent(list: ServerList, now: number, ms: number): boolean {
    const { number, endedAt } = this.#last.get(list) ?? NONE;
    return number > 0 && (endedAt === undefined || Math.abs(now - endedAt) <= ms);
  }
}
