/**
 * The entries that are trusted: by this process, or in the store of the host. `trust-rules.ts` decides which entries need
 * trust.
 *
 * A1. Nothing rejects or waits forever. An entry that the store cannot read in time is not trusted; one that it cannot
 *     write is trusted by this process only. Both are reported.
 * A2. A question to the store waits until the entries that were trusted before are written.
 * A3. An entry that the store had and has no longer was revoked there, so this process does not trust it either.
 */
import type { TrustStore } from './trust-store.js';
import type { IsTrusted } from '../config/merge.js';
import type { ServerSpec } from '../config/entry/server-spec.js';
import { toTrustRequest } from './trust-rules.js';
import type { TrustRequest } from './trust-request.js';
import { systemClock, type Clock } from '../ports.js';
import { settlesWithin } from '../async/timers.js';
import { messageOf } from '../text/error-message.js';

/** Limit on each operation of a store. */
const STORE_LIMIT_MS = 2_000;

export class TrustedEntries {
  /** Entries that this process trusted, by hash. Each promise resolves to whether the store has written the entry. */
  readonly #given = new Map<string, Promise<boolean>>();

  constructor(
    private readonly store?: TrustStore,
    private readonly report: (problem: string) => void = () => {},
    private readonly clock: Clock = systemClock,
  ) {}

  /** Which entries are trusted at this moment. */
  async snapshot(): Promise<IsTrusted> {
    const kept = await this.#kept();
    const stored = await this.#attempt('read', async (store) => (await store.list()).map(({ hash }) => hash));
    if (stored !== undefined)
      for (const [hash, keeping] of kept) if (!stored.includes(hash)) this.#forget(hash, keeping);
    const hashes = new Set([...this.#given.keys(), ...(stored ?? [])]);
    return (spec: ServerSpec) => spec.scope === 'project' && hashes.has(toTrustRequest(spec).hash);
  }

  async has({ hash }: TrustRequest): Promise<boolean> {
    const keeping = this.#given.get(hash);
    if (keeping !== undefined && !(await keeping)) return true;
    const isStored = await this.#attempt('read', async (store) => store.has(hash));
    if (isStored === false) this.#forget(hash, keeping);
    return isStored ?? keeping !== undefined;
  }

  trust(request: TrustRequest): void {
    this.#given.set(request.hash, this.#keep(request));
  }

  async #keep(request: TrustRequest): Promise<boolean> {
    const keeping = this.#attempt('written', async (store) => {
      await store.trust(request);
      return true;
    });
    return (await keeping) === true;
  }

  /** Entries of this process that the store has written. */
  async #kept(): Promise<readonly (readonly [hash: string, keeping: Promise<boolean>])[]> {
    const given = [...this.#given];
    const isKept = await Promise.all(given.map(([, keeping]) => keeping));
    return given.filter((_, index) => isKept[index]);
  }

  /** The entry was revoked in the store, unless this process has trusted it again in the meantime. */
  #forget(hash: string, keeping: Promise<boolean> | undefined): void {
    if (this.#given.get(hash) === keeping) this.#given.delete(hash);
  }

  /** Calls `onChange` when another process changes the entries, if the store can watch, until the returned function is called. */
  follow(onChange: () => void): () => void {
    const { store } = this;
    let unfollow: unknown;
    this.#watching('begin', () => (unfollow = store?.watch?.(onChange)));
    if (unfollow === undefined) return () => {};
    return () => this.#watching('end', () => (unfollow as () => void)());
  }

  #watching(step: 'begin' | 'end', work: () => void): void {
    try {
      work();
    } catch (error) {
      this.report(`The watch of the trust store could not ${step}: ${messageOf(error)}`);
    }
  }

  /** Resolves when every entry that was trusted is written. */
  async kept(): Promise<void> {
    await Promise.all(this.#given.values());
  }

  /** Undefined if it fails, or there is no store. */
  async #attempt<T>(
    what: 'read' | 'written',
    work: (store: TrustStore) => Promise<T>,
  ): Promise<T | undefined> {
    if (this.store === undefined) return undefined;
    const working = work(this.store);
    try {
      if (await settlesWithin(this.clock, STORE_LIMIT_MS, working)) return await working;
      throw new Error(`the store did not answer within ${STORE_LIMIT_MS / 1_000} s`);
    } catch (error) {
      this.report(`A trusted entry could not be ${what}: ${messageOf(error)}`);
      return undefined;
    }
  }
}
