/**
 * One live list over all servers, made of the entries that each of them listed.
 *
 * R1. Sorted by raw identity (server, then the entry's own), so that its order never depends on which server was
 *     faster.
 * R2. A list that did not change is the same object, and so is each unchanged entry.
 * R3. Entries of a connection that is away stay, marked stale; they are removed when it stops or is removed.
 */
import type { ConnectionState } from '../../machines/connection/connection.states.js';
import { compareText } from '../text/visible-text.js';
import { isSameList } from './list-diff.js';

/** What the list needs to know about a server. */
export interface ListedServer {
  readonly source: string;
  readonly state: ConnectionState;
}

/** One entry before it is shown. */
export interface Shown<D> {
  readonly server: string;
  readonly id: string;
  readonly definition: D;
  readonly source: string;
  readonly stale: boolean;
}

export interface ListMaking<D, E> {
  /** What a server listed last; the same list until it changes. */
  readonly listed: (server: string) => readonly D[];
  readonly idOf: (definition: D) => string;
  /** The names under which the entries are shown, in their order. Default: their identities. */
  readonly namesOf?: (shown: readonly Shown<D>[]) => readonly string[];
  readonly toEntry: (shown: Shown<D>, name: string) => E;
}

/** The entries of one server, and what they were made from. */
interface Share<D> {
  readonly server: string;
  readonly listed: readonly D[];
  readonly source: string;
  readonly stale: boolean;
  /** Sorted by identity. */
  readonly shown: readonly Shown<D>[];
}

interface Made<D, E> {
  readonly shown: Shown<D>;
  readonly name: string;
  readonly entry: E;
}

export class LiveList<D, E extends object> {
  #entries: readonly E[] = Object.freeze([]);
  #shares: readonly Share<D>[] = [];
  /** By server and identity. */
  #made: ReadonlyMap<string, Made<D, E>> = new Map();

  constructor(private readonly making: ListMaking<D, E>) {}

  get entries(): readonly E[] {
    return this.#entries;
  }

  /** Rebuilds the list; returns whether it changed. */
  update(servers: Iterable<readonly [name: string, listed: ListedServer]>): boolean {
    const known = new Map(this.#shares.map((share) => [share.server, share]));
    const shares = [...servers]
      .filter(([, { state }]) => state !== 'stopped')
      .toSorted(([a], [b]) => compareText(a, b))
      .map(([server, listed]) => this.#share(server, listed, known.get(server)));
    if (isSameList(shares, this.#shares)) return false;
    this.#shares = shares;
    const shown = shares.flatMap((share) => share.shown);
    const names = this.making.namesOf?.(shown) ?? shown.map(({ id }) => id);
    const made = shown.map((each, index) => this.#make(each, names[index] ?? each.id));
    this.#made = new Map(made.map((each) => [keyOf(each.shown), each]));
    const entries = made.map(({ entry }) => entry);
    if (isSameList(entries, this.#entries)) return false;
    this.#entries = Object.freeze(entries);
    return true;
  }

  #share(server: string, { source, state }: ListedServer, before: Share<D> | undefined): Share<D> {
    const listed = this.making.listed(server);
    const stale = state !== 'ready';
    if (before?.listed === listed && before.source === source && before.stale === stale) return before;
    const shown = listed
      .map((definition) => ({ server, id: this.making.idOf(definition), definition, source, stale }))
      .toSorted((a, b) => compareText(a.id, b.id));
    return { server, listed, source, stale, shown };
  }

  #make(shown: Shown<D>, name: string): Made<D, E> {
    const before = this.#made.get(keyOf(shown));
    if (before !== undefined && before.name === name && isSameShown(before.shown, shown)) return before;
    return { shown, name, entry: Object.freeze(this.making.toEntry(shown, name)) };
  }
}

/** A unique key, since names of servers hold no NUL. */
function keyOf({ server, id }: Shown<unknown>): string {
  return `${server}\0${id}`;
}

/** Equal definitions keep their objects, so a comparison by identity detects a change. */
function isSameShown<D>(a: Shown<D>, b: Shown<D>): boolean {
  return a.definition === b.definition && a.stale === b.stale && a.source === b.source;
}
