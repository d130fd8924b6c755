/**
 * Results, timers, losses and commands of a whole fleet in random order. Checks the invariants of each connection and of
 * the manager, and that the recording replays to the same end.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Replayer } from '../../../src/event-log/replay/replayer.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { legalMoves } from './lifecycle-model.js';
import { readLifecyclePage } from './lifecycle-page.js';
import { checkSequences } from './repeatable.js';
import { choicesOf, MEMBERS, ScheduledFleet } from './scheduled-fleet.js';

useLeakCheck();
useCrashWatch();

const LIMIT_MS = 90_000;
const LEGAL = legalMoves(readLifecyclePage());

const topOf = (path: string): string => path.split('.')[0]!;

function expectLegalPaths(fleet: ScheduledFleet): void {
  for (const name of MEMBERS) {
    const tops = fleet.paths[name].map(topOf).filter((top, index, all) => top !== all[index - 1]);
    for (const [index, top] of tops.slice(1).entries()) expect([...LEGAL.get(tops[index]!)!]).toContain(top);
  }
}

/** A session starts only after the previous one has ended. One successor may be prepared beside it. */
function expectOneSessionEach(fleet: ScheduledFleet): void {
  for (const name of MEMBERS) {
    const alive = new Set<number>();
    for (const { what, generation, isBesides } of fleet.sessions.filter((session) => session.name === name)) {
      if (what === 'all gone') alive.clear();
      else if (what === 'gone') alive.delete(generation);
      else {
        expect(alive.size).toBe(isBesides ? 1 : 0);
        alive.add(generation);
      }
    }
  }
}

function expectReplay({ log }: ScheduledFleet): void {
  const { header, entries } = log.read();
  const replayer = new Replayer(header);
  for (const entry of entries) replayer.take(entry);
  replayer.end();
  expect(replayer.divergences).toEqual([]);
  expect(replayer.whyNoRerun).toBeUndefined();
}

describe('a fleet with events in any order', () => {
  it(
    'takes only legal paths, has one session for each connection, can be stopped, and replays to the same end.',
    async () => {
      const ends = new Set<string>();
      await checkSequences(
        { numRuns: 60 },
        fc.asyncProperty(fc.scheduler(), choicesOf(fc), async (scheduler, choices) => {
          const fleet = new ScheduledFleet(scheduler, choices);
          await fleet.run();
          expect(fleet.state).toBe('closed');
          expect(fleet.running).toEqual([]);
          expect(fleet.timers).toBe(0);
          expectLegalPaths(fleet);
          expectOneSessionEach(fleet);
          expectReplay(fleet);
          for (const name of MEMBERS) for (const path of fleet.paths[name]) ends.add(topOf(path));
        }),
      );
      expect(ends.size).toBeGreaterThan(6);
    },
    LIMIT_MS,
  );
});
