/** When the configuration is read again, and what is published; the test provides the files, the sources and the results. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { HostServers } from '../../../src/servers/config-reader.js';
import type { LoadedConfig } from '../../../src/servers/load-config.js';
import type { WatchPorts } from '../../../src/config/files/file-watch.js';
import { NotReadyError } from '../../../src/errors.js';
import { NumberedClock } from '../../../src/actor-system/numbered-clock.js';
import type { LifecycleEventBody } from '../../../src/lifecycle/event.js';
import { ReloadQueue, type Applied } from '../../../src/servers/reload-queue.js';
import { RootSupervisor } from '../../../src/actor-system/root-actors.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';

const { watches } = vi.hoisted(() => ({ watches: [] as FakeWatch[] }));

interface FakeWatch {
  readonly ports: WatchPorts;
  paths: readonly string[];
  isClosed: boolean;
}

// Mocked because the queue loads the readings and the watch itself when it needs them.
vi.mock('../../../src/config/files/file-watch.js', () => ({
  FileWatch: class implements FakeWatch {
    paths: readonly string[] = [];
    isClosed = false;
    constructor(readonly ports: WatchPorts) {
      watches.push(this);
    }
    async follow(paths: readonly string[]): Promise<void> {
      this.paths = paths;
    }
    async close(): Promise<void> {
      this.isClosed = true;
    }
  },
}));

useLeakCheck();
useCrashWatch();

const START = 1_000_000;

interface Reading {
  readonly at: number;
  readonly servers: HostServers | undefined;
}

function make() {
  const clock = createControlledClock();
  const events: LifecycleEventBody[] = [];
  const readings: Reading[] = [];
  const answer = { ok: true, error: undefined as Error | undefined, places: ['/a.json'], isClosed: false };
  const crashes: string[] = [];
  const roots = new RootSupervisor(new NumberedClock(clock), ({ message }) => crashes.push(message));
  let appliedUnasked = 0;
  const made = new ReloadQueue<Applied>({
    clock,
    publish: (event) => events.push(event),
    roots: () => roots,
    isClosed: () => answer.isClosed,
    readAndApply: async (servers) => {
      readings.push({ at: clock.now() - START, servers });
      if (answer.error !== undefined) throw answer.error;
      const source = { id: '/a.json', path: '/a.json', scope: 'given', ok: answer.ok } as const;
      return { loaded: { sources: [source] } as unknown as LoadedConfig };
    },
    applied: () => (appliedUnasked += 1),
    places: async () => {
      if (answer.places.length === 0) throw new Error('no home');
      return answer.places;
    },
  });
  const at = (): number[] => readings.map((reading) => reading.at);
  const crash = (): void => roots.ref('configuration')?.send(null);
  const close = async (): Promise<void> => {
    answer.isClosed = true;
    await made.close();
    roots.stop();
  };
  return { clock, events, readings, at, answer, made, crash, crashes, close, unasked: () => appliedUnasked };
}

/** With a watch that is set. */
async function watching(readable = true) {
  const parts = make();
  await parts.made.watch(readable);
  await parts.clock.advance(0);
  const watch = watches.at(-1) as FakeWatch;
  const change = async (): Promise<void> => {
    watch.ports.onchange();
    await parts.clock.advance(300);
  };
  return { ...parts, watch, change };
}

describe('a change of a watched file', () => {
  it('is read after a quiet period; then the current files are watched.', async () => {
    const { clock, answer, watch, change, at, close, unasked } = await watching();
    expect(watch.paths).toEqual(['/a.json']);
    answer.places = ['/b.json'];
    watch.ports.onchange();
    await clock.advance(200);
    await change();
    expect([at(), unasked()]).toEqual([[500], 1]);
    expect(watch.paths).toEqual(['/b.json']);
    await close();
  });

  it('that leaves it unreadable is read again after 1, 2 and 4 s, and then after the next change.', async () => {
    const { clock, answer, at, change, close } = await watching();
    answer.ok = false;
    await change();
    await clock.advance(59_700);
    expect(at()).toEqual([300, 1_300, 3_300, 7_300]);
    await change();
    await clock.advance(60_000);
    expect(at().slice(4)).toEqual([60_300, 61_300, 63_300, 67_300]);
    await close();
  });

  it('is not read again once it could be read.', async () => {
    const { clock, answer, at, change, close } = await watching();
    answer.ok = false;
    await change();
    answer.ok = true;
    await clock.advance(60_000);
    expect(at()).toEqual([300, 1_300]);
    expect(clock.pending).toEqual([]);
    await close();
  });

  it('that cannot be applied is a diagnostic, but not while the troupe closes.', async () => {
    const { answer, events, change, close } = await watching();
    answer.error = new Error('a bug');
    await change();
    expect(events).toMatchObject([{ type: 'diagnostic', kind: 'reload-failed' }]);
    answer.isClosed = true;
    await change();
    expect(events).toHaveLength(1);
    await close();
  });
});

describe('a file that was unreadable at the start', () => {
  it('is read again by itself.', async () => {
    const { clock, at, close } = await watching(false);
    await clock.advance(60_000);
    expect(at()).toEqual([1_000]);
    await close();
  });
});

describe('a watch that fails', () => {
  it('is a diagnostic.', async () => {
    const { events, watch, close } = await watching();
    watch.ports.onerror(new Error('ENOSPC'));
    expect(events).toMatchObject([{ type: 'diagnostic', kind: 'watch-problem' }]);
    await close();
  });

  it('to find its files is a diagnostic.', async () => {
    const { answer, change, events, close } = await watching();
    answer.places = [];
    await change();
    expect(events).toMatchObject([{ type: 'diagnostic', kind: 'watch-problem' }]);
    await close();
  });
});

describe('readings on request', () => {
  it('run one after the other in that order, each with its own servers and its own outcome.', async () => {
    const { made, readings, answer, close, unasked } = make();
    const [first, second] = [made.ask({ a: { command: 'a' } }), made.ask(undefined)];
    await expect(first).resolves.toMatchObject({ loaded: { sources: [{ ok: true }] } });
    await expect(second).resolves.toBeDefined();
    answer.error = new Error('a bug');
    await expect(made.ask({})).rejects.toBe(answer.error);
    answer.error = undefined;
    await made.ask({});
    expect(readings.map(({ servers }) => servers)).toEqual([{ a: { command: 'a' } }, undefined, {}, {}]);
    expect(unasked()).toBe(0);
    await close();
  });

  it('are not retried if nothing is watched, and publish nothing.', async () => {
    const { made, clock, answer, events, at, close } = make();
    answer.ok = false;
    await made.ask(undefined);
    await clock.advance(60_000);
    expect([at(), events, clock.pending]).toEqual([[0], [], []]);
    await close();
  });

  it('are rejected if the troupe closes before their turn, and after that.', async () => {
    const { made, close } = make();
    await made.ask(undefined);
    await turn();
    const asked = [made.ask(undefined), made.ask(undefined)];
    const outcomes = Promise.allSettled(asked);
    await close();
    expect(await outcomes).toMatchObject([{ status: 'fulfilled' }, { reason: expect.any(NotReadyError) }]);
    await expect(made.ask(undefined)).rejects.toBeInstanceOf(NotReadyError);
  });
});

describe('a chart that crashes', () => {
  it('is restarted, and reads again what it may have missed.', async () => {
    const { clock, at, crash, crashes, change, events, close } = await watching();
    crash();
    await clock.advance(1_000);
    expect([at(), crashes]).toEqual([[1_000], [expect.any(String)]]);
    (watches.at(-1) as FakeWatch).ports.onerror(new Error('ENOSPC'));
    expect(events).toMatchObject([{ kind: 'watch-problem' }]);
    await change();
    expect(at()).toEqual([1_000]);
    (watches.at(-1) as FakeWatch).ports.onchange();
    await clock.advance(300);
    expect(at()).toEqual([1_000, 1_600]);
    await close();
  });

  it('is not restarted the fifth time, and requests are rejected.', async () => {
    const { made, crash, crashes, close } = await watching();
    for (let count = 0; count < 5; count += 1) {
      crash();
      await turn();
    }
    expect(crashes).toHaveLength(5);
    await expect(made.ask(undefined)).rejects.toBeInstanceOf(NotReadyError);
    await close();
  });
});

describe('closing', () => {
  it('ends the watch and the retries.', async () => {
    const { clock, watch, at, close } = await watching(false);
    await close();
    await clock.advance(60_000);
    expect([at(), clock.pending, watch.isClosed]).toEqual([[], [], true]);
  });

  it('before the chart is loaded starts none.', async () => {
    const { made, clock, close } = make();
    const before = watches.length;
    const begun = made.watch(false);
    await close();
    await begun;
    expect([watches.length, clock.pending]).toEqual([before, []]);
  });
});
