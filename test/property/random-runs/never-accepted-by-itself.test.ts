/**
 * A changed tool is never accepted without a person: random lists, acceptances, store failures and restarts in any order,
 * compared with what persons have accepted.
 */
import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Lifetime } from '../../../src/lifecycle/lifetime.js';
import { fingerprint, toReviewed } from '../../../src/catalog/tool-fingerprint.js';
import type { ReviewStore } from '../../../src/review/review-store.js';
import { Reviews } from '../../../src/review/reviews.js';
import { NO_MASK } from '../../../src/secrets/secrets.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';
import { HeldStore } from '../../support/held-store.js';

useLeakCheck();

const HASH = 'f'.repeat(64);
const NAMES = ['read', 'write', 'delete'] as const;
/** Versions of a tool, which are in its description. */
const VERSIONS = [1, 2, 3] as const;

type Version = `${(typeof NAMES)[number]} ${(typeof VERSIONS)[number]}`;

const toTool = (version: Version) => {
  const [name = ''] = version.split(' ');
  return tool(name, { description: version });
};
const reviewed = (version: Version) => toReviewed(toTool(version));
const toVersion = ({ description }: { description?: string | undefined }) => description as Version;

type Step =
  | { readonly kind: 'list'; readonly versions: readonly Version[] }
  | { readonly kind: 'accept' | 'accept elsewhere'; readonly version: Version }
  | { readonly kind: 'accept what is held'; readonly nth: number }
  | { readonly kind: 'store answers' | 'store fails' | 'store is notified' | 'restart' | 'time passes' };

class World {
  readonly store = new HeldStore();
  /** Everything that was ever accepted by a person, or came first. */
  readonly everAccepted = new Set<Version>();
  listed: readonly Version[] = [];
  readonly #clock = createControlledClock();
  #reviews = this.#begin();

  constructor() {
    this.store.onfirst = (tools) => tools.map(toVersion).forEach((version) => this.everAccepted.add(version));
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'list':
        this.listed = step.versions;
        this.#reviews.listed('fs', step.versions.map(toTool));
        break;
      case 'accept':
        this.#accept(step.version);
        break;
      case 'accept what is held': {
        const { held } = this.#reviews;
        const chosen = held[step.nth % Math.max(1, held.length)];
        if (chosen !== undefined) this.#accept(toVersion(chosen.listed));
        break;
      }
      case 'accept elsewhere':
        this.everAccepted.add(step.version);
        this.store.acceptElsewhere(HASH, [reviewed(step.version)]);
        break;
      case 'store answers':
        this.store.answer();
        break;
      case 'store fails':
        this.store.fail();
        break;
      case 'store is notified':
        this.store.acceptElsewhere(HASH, []);
        break;
      case 'time passes':
        await this.#clock.advance(10_000);
        this.store.forsake();
        break;
      case 'restart':
        await this.#restart();
    }
    await turn();
  }

  /** The versions that a model sees. */
  get shown(): readonly Version[] {
    const held = this.#reviews.heldBack('fs');
    return this.listed.filter((version) => !held.has(toTool(version).name));
  }

  get callable(): readonly Version[] {
    return this.listed.filter((version) => this.#reviews.whyHeld('fs', toTool(version).name) === undefined);
  }

  /** Lets the store catch up. */
  async rest(): Promise<void> {
    for (let answers = 0; this.store.pending > 0; answers += 1) {
      expect(answers, 'number of answers until the store is idle').toBeLessThan(20);
      this.store.answer();
      await turn();
    }
  }

  async end(): Promise<void> {
    await this.#stop();
    expect(this.#clock.pending).toEqual([]);
  }

  #begin(): Reviews {
    const store: ReviewStore = this.store;
    return new Reviews({
      mode: 'hold-changes',
      store,
      clock: this.#clock,
      publish: () => {},
      mask: () => NO_MASK,
      echoMask: () => NO_MASK,
      target: (server) => ({ server, hash: HASH }),
      filter: () => ({}),
      generation: () => 1,
      lifetime: new Lifetime(),
      changed: () => {},
    });
  }

  /** Pending requests to the store are lost with the process. */
  async #stop(): Promise<void> {
    const closing = this.#reviews.close();
    await this.#clock.advance(2_000);
    await closing;
    this.store.forsake();
  }

  async #restart(): Promise<void> {
    await this.#stop();
    this.listed = [];
    this.#reviews = this.#begin();
  }

  /**
   * A person accepts exactly this version. The acceptance counts if the version is held, which is unknown while the store
   * is being read.
   */
  #accept(version: Version): void {
    const definition = reviewed(version);
    if (this.listed.includes(version) || this.store.pending > 0) this.everAccepted.add(version);
    this.#reviews
      .accept({ server: 'fs', tool: definition.name, fingerprint: fingerprint(definition) })
      .catch(() => {});
  }
}

/** At most one version of each tool. */
const versionsOfList = fc
  .tuple(...NAMES.map((name) => fc.option(fc.constantFrom(...VERSIONS.map((n) => `${name} ${n}` as const)))))
  .map((versions) => versions.filter((version) => version !== null));
const anyVersion = fc.constantFrom(...NAMES.flatMap((name) => VERSIONS.map((n) => `${name} ${n}` as const)));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: versionsOfList.map((versions) => ({ kind: 'list' as const, versions })) },
  { weight: 2, arbitrary: anyVersion.map((version) => ({ kind: 'accept' as const, version })) },
  { weight: 4, arbitrary: fc.nat(8).map((nth) => ({ kind: 'accept what is held' as const, nth })) },
  { weight: 1, arbitrary: anyVersion.map((version) => ({ kind: 'accept elsewhere' as const, version })) },
  { weight: 8, arbitrary: fc.constant({ kind: 'store answers' as const }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...(['store fails', 'store is notified', 'restart', 'time passes'] as const).map((kind) => ({
        kind,
      })),
    ),
  },
);

describe('a tool that changed', () => {
  it('is never accepted without a person, for any order of lists, acceptances and failures', async () => {
    let shownInAll = 0;
    let heldInAll = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const world = new World();
        for (const each of steps) {
          await world.take(each);
          const { shown, listed } = world;
          expect(shown.filter((version) => !world.everAccepted.has(version))).toEqual([]);
          expect(world.callable).toEqual(shown);
          shownInAll += shown.length;
          heldInAll += listed.length - shown.length;
        }
        await world.end();
      }),
      { numRuns: 300 },
    );
    expect(shownInAll).toBeGreaterThan(1_000);
    expect(heldInAll).toBeGreaterThan(1_000);
  }, 120_000);

  it('is shown if and only if it is the version that was accepted last, once the store is idle', async () => {
    const unbroken = fc
      .array(step, { minLength: 5, maxLength: 40 })
      .map((steps) => steps.filter(({ kind }) => kind !== 'store fails' && kind !== 'time passes'));
    await fc.assert(
      fc.asyncProperty(unbroken, async (steps) => {
        const world = new World();
        for (const each of steps) {
          await world.take(each);
          await world.rest();
          const accepted = world.store.remembered;
          const isLast = (version: Version): boolean => {
            const last = accepted?.get(toTool(version).name);
            return last !== undefined && toVersion(last) === version;
          };
          expect(world.shown).toEqual(world.listed.filter(isLast));
        }
        await world.end();
      }),
      { numRuns: 200 },
    );
  }, 120_000);
});
