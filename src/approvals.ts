/**
 * What was approved: by this process, and by the store that the host gave. Decides nothing about who needs approval;
 * that is `config/trust.ts`.
 *
 * A1. Never rejects or waits for ever: what the store cannot tell within its time counts as not approved, what it cannot
 *     keep counts for this process only, and both are told.
 * A2. What waits for an answer of the store begins after what was approved before was kept.
 * A3. What the store has kept it may also lose: an approval that somebody revoked there is none here.
 */
import type { ApprovalStore } from './config/approval-store.js';
import type { IsApproved, ServerSpec } from './config/merge.js';
import { toTrustRequest } from './config/trust.js';
import type { TrustRequest } from './options.js';
import { systemClock, type Clock } from './ports.js';
import { doneWithin } from './release.js';
import { messageOf } from './thrown.js';

/** For each thing that a store is asked for. */
const STORE_LIMIT_MS = 2_000;

export class Approvals {
  /** By hash, those of this process; each tells in the end whether the store has kept it. */
  readonly #given = new Map<string, Promise<boolean>>();

  constructor(
    private readonly store?: ApprovalStore,
    private readonly tell: (problem: string) => void = () => {},
    private readonly clock: Clock = systemClock,
  ) {}

  /** Which entries are approved at this moment. */
  async snapshot(): Promise<IsApproved> {
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

  approve(request: TrustRequest): void {
    this.#given.set(request.hash, this.#keep(request));
  }

  async #keep(request: TrustRequest): Promise<boolean> {
    const keeping = this.#attempt('written', async (store) => {
      await store.approve(request);
      return true;
    });
    return (await keeping) === true;
  }

  /** Those of this process that the store has kept. */
  async #kept(): Promise<readonly (readonly [hash: string, keeping: Promise<boolean>])[]> {
    const given = [...this.#given];
    const isKept = await Promise.all(given.map(([, keeping]) => keeping));
    return given.filter((_, index) => isKept[index]);
  }

  /** Somebody has revoked it, unless it was given once more meanwhile. */
  #forget(hash: string, keeping: Promise<boolean> | undefined): void {
    if (this.#given.get(hash) === keeping) this.#given.delete(hash);
  }

  /** Tells of approvals that came from elsewhere, where the store can. Gives back how to end that. */
  follow(onChange: () => void): () => void {
    const { store } = this;
    let unfollow: unknown;
    this.#watching('followed', () => (unfollow = store?.watch?.(onChange)));
    if (unfollow === undefined) return () => {};
    return () => this.#watching('left alone', () => (unfollow as () => void)());
  }

  #watching(what: 'followed' | 'left alone', work: () => void): void {
    try {
      work();
    } catch (error) {
      this.tell(`Approvals from elsewhere could not be ${what}: ${messageOf(error)}`);
    }
  }

  /** Resolves when everything that was approved is kept. */
  async kept(): Promise<void> {
    await Promise.all(this.#given.values());
  }

  /** Undefined where there is no store, too. */
  async #attempt<T>(
    what: 'read' | 'written',
    work: (store: ApprovalStore) => Promise<T>,
  ): Promise<T | undefined> {
    if (this.store === undefined) return undefined;
    const working = work(this.store);
    try {
      if (await doneWithin(this.clock, STORE_LIMIT_MS, working)) return await working;
      throw new Error(`the store did not answer within ${STORE_LIMIT_MS / 1_000} s`);
    } catch (error) {
      this.tell(`An approval could not be ${what}: ${messageOf(error)}`);
      return undefined;
    }
  }
}
