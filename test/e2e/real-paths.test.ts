/**
 * Every transition of the connection chart that a server, a host or time can cause, with real processes and real HTTP, and
 * every transition of the manager chart. The connection's paths and servers are those that hosts use (`mcp-troupe/testing`).
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import type { ActorOptions, AnyActorLogic, InspectionEvent } from 'xstate';
import { createTroupe } from '../../src/runtime/troupe.js';
import { edgePaths } from '../../src/testing/edge-paths.js';
import { transitionCoverage } from '../../src/testing/transition-coverage.js';
import type { CausedBy } from '../../src/testing/walks/causes.js';
import { beyondReach, serverModel } from '../../src/testing/walks/server-model.js';
import { walkWithServers } from '../../src/testing/walks/walk-with-servers.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import { count, missing, summary } from './real-paths/account.js';
import { fleetPaths } from './real-paths/fleet-paths.js';
import { LIMIT_MS, useLives } from './real-paths/life.js';

const watched = vi.hoisted(() => ({ count: undefined as ((event: InspectionEvent) => void) | undefined }));

// Replaced because a troupe accepts one inspector from its host, and this one has to count in every troupe.
vi.mock('xstate', async (original) => {
  const xstate = await original<typeof import('xstate')>();
  const inspect = (event: InspectionEvent): void => watched.count?.(event);
  const createActor = (logic: AnyActorLogic, options?: ActorOptions<AnyActorLogic>) =>
    xstate.createActor(logic, { inspect, ...options } as never);
  return { ...xstate, createActor };
});

const main = fileURLToPath(new URL('../../dist/bundle/src/testing/scripted-server-main.js', import.meta.url));
/** Walks at a time: most of the time of each is spent on its processes. */
const LANES = 6;

useLeakCheck();
useCrashWatch();
useLives();
watched.count = count;

describe('with real servers', { timeout: LIMIT_MS * 4 }, () => {
  it('every transition of a connection that has a cause outside of Troupe is taken.', async () => {
    const model = serverModel();
    const search = edgePaths(model.machine, model);
    const coverage = transitionCoverage();
    const last: Partial<Record<CausedBy, number>> = {};
    // Long paths first: they take the transitions of short ones.
    const paths = search.paths.toReversed().values();
    const failures: unknown[] = [];
    const lane = async (): Promise<void> => {
      for (const path of paths) {
        if (failures.length > 0 || !coverage.missing.includes(path.edge)) continue;
        const host = { coverage, open: (options: object) => createTroupe({ ...options }) };
        const by = await walkWithServers(path, host, { main }).catch((error: unknown) => {
          failures.push(error);
          return 'troupe' as const;
        });
        last[by] = (last[by] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    expect(failures).toEqual([]);
    process.stdout.write(`with real servers: ${coverage.summary}, by ${JSON.stringify(last)}\n`);
    expect(coverage.missing).toEqual(search.missing);
    expect(Object.keys(beyondReach(coverage.missing))).toHaveLength(16);
  });
});

fleetPaths();

describe('with real processes', () => {
  it('every transition of the manager is taken.', () => {
    process.stdout.write(`with real processes: ${summary()}\n`);
    expect(missing()).toEqual([]);
  });
});
