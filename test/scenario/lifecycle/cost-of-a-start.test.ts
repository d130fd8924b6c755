/**
 * What one more server adds to a start, as counts: a start of many servers is slow if each needs one actor, event, timer, hash or
 * file operation more. A change that raises a count on purpose changes the number here.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createFileCatalogStore } from '../../../src/catalog/cache-store.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fakeProgram, FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { passTime, useTroupes } from '../../support/test-troupe.js';
import { WAIT_LIMIT_MS } from '../../support/time-limit.js';

/** Calls of `node:fs/promises` by name. Mocked because they are what is counted. */
const files = vi.hoisted(() => new Map<string, number>());

vi.mock('node:fs/promises', async (original) => {
  const real = await original<Record<string, unknown>>();
  const counted = (name: string, work: (...args: unknown[]) => unknown) =>
    function (...args: unknown[]): unknown {
      files.set(name, (files.get(name) ?? 0) + 1);
      return work(...args);
    };
  return Object.fromEntries(
    Object.entries(real).map(([name, work]) => [
      name,
      typeof work === 'function' ? counted(name, work as (...args: unknown[]) => unknown) : work,
    ]),
  );
});

/** Calls of `hash`. Mocked because they are what is counted. */
const hashes = vi.hoisted(() => ({ count: 0 }));

vi.mock('node:crypto', async (original) => {
  const real = await original<typeof import('node:crypto')>();
  const hash = (...args: Parameters<typeof real.hash>): unknown => {
    hashes.count += 1;
    return real.hash(...args);
  };
  return { ...real, hash };
});

interface Inspected {
  readonly type: string;
  readonly actorRef?: { readonly id: string };
}

type Counts = Record<string, number>;

describe('one more server in a start', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();
  const folders: string[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
  });

  /** The counts of a start of `count` servers, and those of the writes after it. */
  async function started(count: number): Promise<{ start: Counts; after: Counts }> {
    const folder = await mkdtemp(join(tmpdir(), 'start-'));
    folders.push(folder);
    const clock = createControlledClock();
    let timers = 0;
    const counted = {
      now: () => clock.now(),
      setTimeout: (fn: () => void, ms: number) => {
        timers += 1;
        return clock.setTimeout(fn, ms);
      },
      clearTimeout: (handle: unknown) => clock.clearTimeout(handle),
    };
    const seen: Counts = { actors: 0, events: 0 };
    const servers = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `s${index}`,
        fakeProgram(new FakeServer(() => ({ kind: 'stdio' }), { tools: [tool('read'), tool('write')] })),
      ]),
    );
    const { troupe } = make({
      clock: counted,
      servers,
      maxConcurrentStarts: count,
      cache: createFileCatalogStore({ folder }),
      inspector: ({ type }: Inspected) => {
        if (type === '@xstate.actor') seen['actors']! += 1;
        if (type === '@xstate.event') seen['events']! += 1;
      },
    });
    files.clear();
    hashes.count = 0;
    await troupe.start();
    const start = { ...seen, timers, hashes: hashes.count, ...Object.fromEntries(files) };
    files.clear();
    await clock.advance(100);
    await vi.waitUntil(() => files.get('rename') === count, { timeout: WAIT_LIMIT_MS });
    // Looking for old files, which is done once, reads as many as there are by then.
    const { writeFile = 0, chmod = 0, rename = 0 } = Object.fromEntries(files);
    await passTime(clock, troupe.close());
    return { start, after: { writeFile, chmod, rename } };
  }

  /** How much each count grows by for each server. */
  function perServer(few: Counts, many: Counts, servers: number): Counts {
    const names = [...new Set([...Object.keys(few), ...Object.keys(many)])].toSorted();
    const growth = names.map((name) => [name, ((many[name] ?? 0) - (few[name] ?? 0)) / servers] as const);
    return Object.fromEntries(growth.filter(([, each]) => each !== 0));
  }

  it('adds these actors, events, timers, hashes and file operations, and its list is written after the start.', async () => {
    const few = await started(2);
    const many = await started(12);
    expect(perServer(few.start, many.start, 10)).toEqual({
      actors: 8,
      events: 22,
      timers: 6,
      hashes: 4,
      stat: 1,
    });
    expect(perServer(few.after, many.after, 10)).toEqual({ writeFile: 1, chmod: 1, rename: 1 });
  });
});
