/**
 * Ends the entries of moved sessions (`moved-sessions.ts`) that no end of a session ends: their hosts were killed, or never got
 * a session.
 *
 * N1. An entry is removed once none of its hosts has been in the fleet for a minute. Each host counts that by its own timers:
 *     no clocks are compared, and a host that was frozen counts it as one tick.
 * N2. A host that has had none of the sessions for a minute takes itself out. While a host drains, sessions may still come.
 * N3. The time in which the engine cannot be reached does not count, nor the time before the hosts are known.
 * N4. Only a host of an entry writes it, so no entry without one is written while it is removed.
 */
import type { EntryEngine } from '../../fleet/sealed-entries.js';
import type { FleetEngine, StopFleet } from '../../fleet/engine.js';
import type { FleetHost } from '../../fleet/hosts.js';
import type { FleetKey } from '../../fleet/fleet-key.js';
import type { Clock } from '../../ports.js';
import { MOVED_PREFIX, toTakers } from './moved-sessions.js';

const TICK_MS = 5_000;
/** Ticks after which an entry is ended. */
const ENDED_AFTER = 12;

export interface EndedMovesParts {
  readonly engine: EntryEngine & Pick<FleetEngine, 'isUp'>;
  readonly key: FleetKey;
  readonly clock: Clock;
  /** Name of this host. */
  readonly self: string;
  /** The hosts that are there; empty while they are not known. */
  readonly hosts: () => ReadonlyMap<string, Pick<FleetHost, 'state'>>;
  /** Whether a session that began at that host is here. */
  readonly hasSessionsOf: (origin: string) => boolean;
  /** Takes this host out of the entry of that host. */
  readonly forget: (origin: string) => Promise<void>;
}

interface Moved {
  readonly takers: readonly string[];
  /** Ticks without any of them. */
  quiet: number;
  /** Ticks in which this host is one of them, without a session. */
  idle: number;
}

export class EndedMoves {
  readonly #parts: EndedMovesParts;
  readonly #moved = new Map<string, Moved>();
  readonly #watching: Promise<StopFleet>;
  #tick: unknown;
  #isOver = false;

  constructor(parts: EndedMovesParts) {
    this.#parts = parts;
    this.#watching = parts.engine.watch(MOVED_PREFIX, (name, sealed) => this.#hear(name, sealed));
    // It rejects only if the engine is closed.
    this.#watching.catch(() => {});
  }

  close(): void {
    this.#isOver = true;
    this.#parts.clock.clearTimeout(this.#tick);
    this.#watching.then((stop) => stop()).catch(() => {});
  }

  #hear(name: string, sealed: string | undefined): void {
    if (this.#isOver) return;
    const takers = sealed === undefined ? undefined : this.#open(name, sealed);
    if (takers === undefined) this.#moved.delete(name);
    else this.#moved.set(name, { takers, quiet: 0, idle: 0 });
    this.#tickSoon();
  }

  #open(name: string, sealed: string): readonly string[] | undefined {
    try {
      return toTakers(JSON.parse(this.#parts.key.open(name, sealed)));
    } catch {
      // It is of another fleet.
      return undefined;
    }
  }

  #tickSoon(): void {
    if (this.#moved.size > 0) this.#tick ??= this.#parts.clock.setTimeout(() => this.#count(), TICK_MS);
  }

  #count(): void {
    const { engine, hosts, self, hasSessionsOf, forget } = this.#parts;
    const now = hosts();
    const isMoving = [...now.values()].some(({ state }) => state === 'draining');
    this.#tick = undefined;
    for (const [name, moved] of engine.isUp && now.size > 0 ? this.#moved : []) {
      const { takers } = moved;
      const origin = name.slice(MOVED_PREFIX.length);
      const isIdle = takers.includes(self) && !isMoving && !hasSessionsOf(origin);
      moved.quiet = takers.some((host) => now.has(host)) ? 0 : moved.quiet + 1;
      moved.idle = isIdle ? moved.idle + 1 : 0;
      // If one of them fails, it is tried again with the next tick.
      if (moved.quiet >= ENDED_AFTER) engine.remove(name).catch(() => {});
      else if (moved.idle >= ENDED_AFTER) forget(origin).catch(() => {});
    }
    this.#tickSoon();
  }
}
