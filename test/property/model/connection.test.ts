/** Random sequences of events for a connection, checked against a model that is read from the page on its lifecycle. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TransportKind } from '../../../machines/connection/connection.events.js';
import { ConnectionDriver } from '../../support/connection-driver.js';
import type { Slot } from '../../support/held-effects.js';
import { sampleFailure } from '../../support/sample-failures.js';
import { COMMANDS } from './connection-commands.js';
import { observe } from './invariants.js';
import {
  CRASHED_GENERATION,
  legalMoves,
  LifecycleModel,
  MODEL_POLICY,
  type Start,
} from './lifecycle-model.js';
import { readLifecyclePage, type Move } from './lifecycle-page.js';
import { checkSequences, type Runs } from './repeatable.js';

const page = readLifecyclePage();
const LIMIT_MS = 90_000;
/** As many seeds as needed until every row of the page was used. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

const starts: fc.Arbitrary<Start> = fc.record({
  transport: fc.constantFrom<TransportKind>('stdio', 'http', 'in-process'),
  wanted: fc.boolean(),
  online: fc.boolean(),
  crashed: fc.nat(9).map((n) => n === 0),
});

function begin({ crashed, ...start }: Start): ConnectionDriver {
  const options = { ...start, policy: MODEL_POLICY };
  if (!crashed) return new ConnectionDriver(options);
  const crash = sampleFailure('permanent', 'session', 0, { code: 'internal' });
  return new ConnectionDriver({ ...options, crash, generation: CRASHED_GENERATION });
}

/** Stops a connection whose effects no longer settle. Returns the number of stops. */
async function stopHard(driver: ConnectionDriver): Promise<number> {
  let stops = 0;
  const killing = 'shuttingDown.killing+ending';
  while (driver.path !== 'stopped' && driver.path !== killing && stops < 9) {
    stops += 1;
    await driver.command('connection.stop');
  }
  if (driver.path === killing) {
    await driver.command('connection.stop');
    const [slot] = driver.running();
    await driver.fail(slot as Slot, 'permanent');
  }
  return stops;
}

interface Seen {
  readonly states: Set<string>;
  readonly moves: Set<Move>;
}

/** Runs the sequences; returns the states and moves of all of them. */
async function run(runs: Runs): Promise<Seen> {
  const seen: Seen = { states: new Set(), moves: new Set() };
  await checkSequences(
    runs,
    fc.asyncProperty(
      starts,
      fc.commands([COMMANDS], { maxCommands: 90, size: 'max' }),
      async (start, commands) => {
        const driver = begin(start);
        const model = new LifecycleModel(start, page);
        await fc.asyncModelRun(() => ({ model, real: observe(driver) }), commands);
        for (const move of model.used) seen.moves.add(move);
        for (const path of driver.history) seen.states.add(path.split('.')[0]!);
        expect(await stopHard(driver)).toBeLessThanOrEqual(3);
        expect(driver.path).toBe('stopped');
        expect(driver.running()).toEqual([]);
        expect(driver.clock.pending).toEqual([]);
      },
    ),
  );
  return seen;
}

describe('the connection chart and the page on its lifecycle', () => {
  it(
    'agree on every sequence of events, and three stops end a connection after any of them.',
    async () => {
      const { states } = await run({ numRuns: 150 });
      expect(states.size).toBeGreaterThan(5);
    },
    LIMIT_MS,
  );

  it(
    'agree on sequences that visit every state and use every row of the page.',
    async () => {
      const states = new Set<string>();
      const unused = new Set(page.moves);
      for (const seed of SEEDS) {
        const seen = await run({ numRuns: 300, seed });
        for (const state of seen.states) states.add(state);
        for (const move of seen.moves) unused.delete(move);
        if (unused.size === 0) break;
      }
      expect([...states].toSorted()).toEqual([...legalMoves(page).keys()].toSorted());
      expect(
        [...unused].map((move) => `${move.in.join(', ')} | ${move.when.join(', ')} | ${move.if.join(', ')}`),
      ).toEqual([]);
    },
    LIMIT_MS,
  );
});
