/** What goes on in a session: the calls that its server has not answered, when its lists were read, and how long they hold. */
import type { ServerList } from '../../machines/connection/connection.events.js';

/**
 * The calls that a silent server has not answered yet. While there are any, the server may be busy with them.
 *
 * O1. A call is pending until it ends. If it timed out, and the server has been silent since it was sent, it is overdue.
 * O2. After that, a call that is sent during the same silence is no reason to wait: otherwise a host that keeps calling
 *     would wait for a dead server forever, one limit after the other. Calls sent before keep their own limits.
 *
 * `heardAt` is the time of the last sign of life, in milliseconds since the epoch. Only a change of it counts, not its
 * direction: the clock may be set back.
 */
export interface PendingCall {
  readonly heardAt: number;
  /** Number of the silence that it was sent in, if another call was overdue by then; else 0. */
  readonly silence: number;
}

export class PendingCalls {
  #calls = 0;
  /** Calls of the present silence that are no reason to wait (O2). */
  #late = 0;
  #silences = 0;
  /** `heardAt` of the present silence; undefined if no call is overdue. */
  #silentAt: number | undefined;

  /** Calls that have not ended. */
  get calls(): number {
    return this.#calls;
  }

  /** Whether a call is a reason to wait for the silent server. */
  isAwaited(heardAt: number): boolean {
    return this.#calls > (this.#isOverdue(heardAt) ? this.#late : 0);
  }

  begin(heardAt: number): PendingCall {
    const isLate = this.#isOverdue(heardAt);
    this.#calls += 1;
    if (isLate) this.#late += 1;
    return { heardAt, silence: isLate ? this.#silences : 0 };
  }

  /** Whether the call was overdue. `isTooLate`: it ended because its time was over. */
  end(call: PendingCall, heardAt: number, isTooLate: boolean): boolean {
    this.#calls -= 1;
    if (call.silence !== 0 && call.silence === this.#silences) this.#late -= 1;
    if (!isTooLate || call.heardAt !== heardAt) return false;
    if (!this.#isOverdue(heardAt)) {
      this.#silentAt = heardAt;
      this.#silences += 1;
      this.#late = 0;
    }
    return true;
  }

  #isOverdue(heardAt: number): boolean {
    return this.#silentAt === heardAt;
  }
}

interface Read {
  readonly number: number;
  /** Milliseconds since the epoch; undefined while it is in progress. */
  readonly endedAt: number | undefined;
  /** From when on the list is out of date, in milliseconds since the epoch. Default: never. */
  readonly staleAt?: number | undefined;
}

const NONE: Read = { number: 0, endedAt: undefined };
const NOTHING: readonly ServerList[] = [];

export class ListReads {
  readonly #last: { [List in ServerList]?: Read } = {};
  /** When the first list will be out of date, in milliseconds since the epoch. */
  #staleAt = Infinity;

  /** The number of the last read; 0 if the list was never read. */
  number(list: ServerList): number {
    return (this.#last[list] ?? NONE).number;
  }

  begin(lists: readonly ServerList[]): void {
    for (const list of lists) this.#last[list] = { number: this.number(list) + 1, endedAt: undefined };
  }

  /** `ttlMs`: how long the lists hold. Default: until they change. */
  end(lists: readonly ServerList[], at: number, ttlMs = Infinity): void {
    const staleAt = ttlMs === Infinity ? undefined : at + ttlMs;
    for (const list of lists) this.#last[list] = { number: this.number(list), endedAt: at, staleAt };
    if (staleAt !== undefined) this.#staleAt = Math.min(this.#staleAt, staleAt);
  }

  /** The lists that are out of date, each once. */
  takeStale(now: number): readonly ServerList[] {
    if (now < this.#staleAt) return NOTHING;
    const all = Object.entries(this.#last) as [ServerList, Read][];
    const stale = all.filter(([, { staleAt = Infinity }]) => now >= staleAt);
    for (const [list, read] of stale) this.#last[list] = { ...read, staleAt: undefined };
    this.#staleAt = Math.min(...Object.values(this.#last).map(({ staleAt = Infinity }) => staleAt));
    return stale.map(([list]) => list);
  }

  /** Whether the list is being read, or was read within the last `ms` milliseconds. */
  isRecent(list: ServerList, now: number, ms: number): boolean {
    const { number, endedAt } = this.#last[list] ?? NONE;
    return number > 0 && (endedAt === undefined || Math.abs(now - endedAt) <= ms);
  }
}
