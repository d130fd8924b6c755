/**
 * The ways of the charts with a real process at the other end, which is told what to do while it runs: a child over a
 * socket of its own, a remote server over the channel to its parent. Every transition of a connection and of the manager
 * is taken; the review's chart speaks with a store alone.
 */
import { describe, expect, it, vi } from 'vitest';
import type { ActorOptions, AnyActorLogic, InspectionEvent } from 'xstate';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import { count, missing, summaries } from './real-paths/account.js';
import { childPaths } from './real-paths/child-paths.js';
import { endPaths } from './real-paths/end-paths.js';
import { fleetPaths } from './real-paths/fleet-paths.js';
import { useLives } from './real-paths/life.js';
import { remotePaths } from './real-paths/remote-paths.js';

const watched = vi.hoisted(() => ({ count: undefined as ((event: InspectionEvent) => void) | undefined }));

vi.mock('xstate', async (original) => {
  const xstate = await original<typeof import('xstate')>();
  const inspect = (event: InspectionEvent): void => watched.count?.(event);
  const createActor = (logic: AnyActorLogic, options?: ActorOptions<AnyActorLogic>) =>
    xstate.createActor(logic, { inspect, ...options } as never);
  return { ...xstate, createActor };
});

vi.mock('../../src/actors/restore-wishes.js', async (original) => {
  const real = await original<typeof import('../../src/actors/restore-wishes.js')>();
  const { fail, mistake } = await import('./real-paths/mistake.js');
  const restoreWishes: typeof real.restoreWishes = (...given) =>
    mistake.isMade ? fail() : real.restoreWishes(...given);
  return { ...real, restoreWishes };
});

useLeakCheck();
useCrashWatch();
useLives();
watched.count = count;

childPaths();
endPaths();
remotePaths();
fleetPaths();

describe('by real processes', () => {
  it('every transition was taken.', () => {
    for (const summary of summaries()) process.stdout.write(`by real processes: ${summary}\n`);
    expect(missing()).toEqual([]);
  });
});
