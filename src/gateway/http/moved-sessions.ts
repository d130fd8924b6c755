/**
 * Where the sessions of hosts that left have gone: one sealed entry `moved/HOST` for each such host, with the names of the
 * hosts that took them. The hash of a session's id says which of these has it, so there is no entry for each session.
 *
 * M1. An entry is there before the first session moves.
 * M2. The last session that a host ends takes the host out of the entry; an entry without hosts is removed. If its hosts were
 *     killed, others remove it (`ended-moves.ts`).
 */
import { createHash } from 'node:crypto';
import { isUnavailable, type SealedEntries } from '../../fleet/sealed-entries.js';
import { hostOfSession } from './session-id.js';

/** What the names of the entries begin with. */
export const MOVED_PREFIX = 'moved/';
/** In place of a host that has ended all of its moved sessions. */
const NOBODY = '';

export class MovedSessions {
  readonly #entries: SealedEntries;
  readonly #self: string;
  /** What was read last, by the host that began the sessions. */
  readonly #known = new Map<string, readonly string[]>();

  constructor(entries: SealedEntries, self: string) {
    this.#entries = entries;
    this.#self = self;
  }

  /** The host that has that session, as far as it is known without the engine. */
  known(id: string): string | undefined {
    return takerOf(id, this.#known.get(hostOfSession(id) ?? ''));
  }

  /** The host that has that session; undefined if it has not moved. Never rejects. */
  async find(id: string): Promise<string | undefined> {
    const origin = hostOfSession(id);
    if (origin === undefined) return undefined;
    try {
      const { value } = await this.#entries.read(nameOf(origin));
      const takers = toTakers(value);
      if (takers === undefined) this.#known.delete(origin);
      else this.#known.set(origin, takers);
    } catch (error) {
      if (!isUnavailable(error)) this.#known.delete(origin);
    }
    return this.known(id);
  }

  /** These hosts take what this host has of the sessions that `origin` began. Rejects with a `FleetError`. */
  async plan(origin: string, others: readonly string[]): Promise<void> {
    await this.#entries.change(nameOf(origin), (value) => {
      const takers = toTakers(value) ?? [this.#self];
      const isOnlyHere = takers.every((host) => host === this.#self);
      const next = isOnlyHere ? others : takers.map((host, place) => this.#replaced(host, place, others));
      this.#known.set(origin, next);
      return next;
    });
  }

  /** This host has none of the sessions that `origin` began any more. Rejects with a `FleetError`. */
  async forget(origin: string): Promise<void> {
    const name = nameOf(origin);
    const isAnywhere = (value: unknown): boolean =>
      (toTakers(value) ?? []).some((host) => host !== this.#self && host !== NOBODY);
    if (!isAnywhere((await this.#entries.read(name)).value)) return this.#entries.remove(name);
    await this.#entries.change(name, (value) =>
      (toTakers(value) ?? []).map((host) => (host === this.#self ? NOBODY : host)),
    );
  }

  #replaced(host: string, place: number, others: readonly string[]): string {
    return host === this.#self ? (others[place % others.length] ?? NOBODY) : host;
  }
}

function nameOf(origin: string): string {
  return MOVED_PREFIX + origin;
}

function takerOf(id: string, takers: readonly string[] | undefined): string | undefined {
  if (takers === undefined || takers.length === 0) return undefined;
  const place = createHash('sha256').update(id).digest().readUInt32BE(0) % takers.length;
  return takers[place] || undefined;
}

/** The hosts of an entry; undefined if it is something else. */
export function toTakers(value: unknown): readonly string[] | undefined {
  const isList = Array.isArray(value) && value.every((host) => typeof host === 'string');
  return isList ? value : undefined;
}
