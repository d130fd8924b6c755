/**
 * What was approved: by this process, and by the store that the host gave. Decides nothing about who needs approval;
 * that is `config/trust.ts`.
 *
 * A1. Never rejects: what the store cannot tell counts as not approved, what it cannot keep counts for this process
 *     only, and both are told.
 * A2. What waits for an answer of the store begins after what was approved before was kept.
 */
import type { ApprovalStore } from './config/approval-store.js';
import type { IsApproved, ServerSpec } from './config/merge.js';
import { toTrustRequest } from './config/trust.js';
import type { TrustRequest } from './options.js';

export class Approvals {
  /** By hash, those of this process with the end of their keeping. */
  readonly #given = new Map<string, Promise<void>>();

  constructor(
    private readonly store?: ApprovalStore,
    private readonly tell: (problem: string) => void = () => {},
  ) {}

  /** Which entries are approved at this moment. */
  async snapshot(): Promise<IsApproved> {
    const stored = await this.#attempt('read', async () => (await this.store?.list()) ?? []);
    const hashes = new Set([...this.#given.keys(), ...(stored ?? []).map(({ hash }) => hash)]);
    return (spec: ServerSpec) => spec.scope === 'project' && hashes.has(toTrustRequest(spec).hash);
  }

  async has({ hash }: TrustRequest): Promise<boolean> {
    const keeping = this.#given.get(hash);
    if (keeping === undefined) {
      return (await this.#attempt('read', async () => this.store?.has(hash))) === true;
    }
    await keeping;
    return true;
  }

  approve(request: TrustRequest): void {
    const { store } = this;
    const keeping = this.#attempt('written', async () => store?.approve(request));
    this.#given.set(request.hash, keeping);
  }

  /** Tells of approvals that came from elsewhere, where the store can. Gives back how to end that. */
  follow(onChange: () => void): () => void {
    return this.store?.watch?.(onChange) ?? (() => {});
  }

  /** Resolves when everything that was approved is kept. */
  async kept(): Promise<void> {
    await Promise.all(this.#given.values());
  }

  async #attempt<T>(what: 'read' | 'written', work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.tell(`An approval could not be ${what}: ${reason}`);
      return undefined;
    }
  }
}
