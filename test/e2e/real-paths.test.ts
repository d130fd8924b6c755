/**
 * Paths through the charts with a real process as the server, which tests control while it runs: a child over a separate
 * socket, a remote server over the channel to its parent. Covers every transition of the connection and manager charts
 * except the few in `exempt.ts`.
 */
import { describe, expect, it, vi } from 'vitest';
import type { ActorOptions, AnyActorLogic, InspectionEvent } from 'xstate';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import { count, missing, summaries } from './real-paths/account.js';
import { childPaths } from './real-paths/child-paths.js';
import { commandPaths } from './real-paths/command-paths.js';
import { endPaths } from './real-paths/end-paths.js';
import { EXEMPT } from './real-paths/exempt.js';
import { fleetPaths } from './real-paths/fleet-paths.js';
import { useLives } from './real-paths/life.js';
import { remotePaths } from './real-paths/remote-paths.js';
import { subscriptionPaths } from './real-paths/subscription-paths.js';

const watched = vi.hoisted(() => ({ count: undefined as ((event: InspectionEvent) => void) | undefined }));

// Replaced because a troupe accepts one inspector from its host, and this one has to count in every troupe.
vi.mock('xstate', async (original) => {
  const xstate = await original<typeof import('xstate')>();
  const inspect = (event: InspectionEvent): void => watched.count?.(event);
  const createActor = (logic: AnyActorLogic, options?: ActorOptions<AnyActorLogic>) =>
    xstate.createActor(logic, { inspect, ...options } as never);
  return { ...xstate, createActor };
});

// These two are replaced because no other way leads an error of Troupe itself into a real connection.
vi.mock('../../src/actors/restore-preferences.js', async (original) => {
  const real = await original<typeof import('../../src/actors/restore-preferences.js')>();
  const { failSoon, isMade } = await import('./real-paths/mistake.js');
  const restorePreferences: typeof real.restorePreferences = (...given) =>
    isMade('restoring') ? failSoon() : real.restorePreferences(...given);
  return { ...real, restorePreferences };
});

vi.mock('../../src/actors/report-list.js', async (original) => {
  const real = await original<typeof import('../../src/actors/report-list.js')>();
  const { fail, isMade } = await import('./real-paths/mistake.js');
  const reportProblems: typeof real.reportProblems = (...given) =>
    isMade('adopting') ? fail() : real.reportProblems(...given);
  return { ...real, reportProblems };
});

useLeakCheck();
useCrashWatch();
useLives();
watched.count = count;

childPaths();
commandPaths();
endPaths();
remotePaths();
subscriptionPaths();
fleetPaths();

describe('with real processes', () => {
  it('every transition that a process can cause is taken.', () => {
    for (const summary of summaries()) process.stdout.write(`with real processes: ${summary}\n`);
    expect(missing().toSorted()).toEqual(Object.keys(EXEMPT).toSorted());
  });
});
