/** When a reload is tried again; the files are the test's idea. */
import { describe, expect, it, vi } from 'vitest';
import { AutoReload } from '../../src/auto-reload.js';
import type { WatchPorts } from '../../src/config/watch.js';
import { NotReadyError } from '../../src/errors.js';
import type { LifecycleEventBody } from '../../src/lifecycle/event.js';
import { createControlledClock } from '../support/controlled-clock.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';

const { watches } = vi.hoisted(() => ({ watches: [] as FakeWatch[] }));

interface FakeWatch {
  readonly ports: WatchPorts;
  paths: readonly string[];
  isClosed: boolean;
}

vi.mock('../../src/config/watch.js', () => ({
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

const source = (ok: boolean) => ({ id: '/a.json', path: '/a.json', scope: 'given' as const, ok });

function make() {
  const clock = createControlledClock();
  const events: LifecycleEventBody[] = [];
  const at: number[] = [];
  const answer = { sources: [source(true)], error: undefined as Error | undefined, places: ['/a.json'] };
  const auto = new AutoReload({
    clock,
    publish: (event) => events.push(event),
    reload: async () => {
      at.push(clock.now() - 1_000_000);
      if (answer.error !== undefined) throw answer.error;
      return { sources: answer.sources };
    },
    places: async () => {
      if (answer.places.length === 0) throw new Error('no home');
      return answer.places;
    },
  });
  const watch = watches.at(-1) as FakeWatch;
  const change = async (): Promise<void> => {
    watch.ports.onchange();
    await clock.advance(0);
  };
  return { clock, events, at, answer, auto, watch, change };
}

describe('a change of a watched file', () => {
  it('is a reload, after which the files that count then are watched.', async () => {
    const { clock, answer, auto, watch, change, at } = make();
    auto.follow([source(true)]);
    await clock.advance(0);
    expect(watch.paths).toEqual(['/a.json']);
    answer.places = ['/b.json'];
    await change();
    expect(at).toEqual([0]);
    expect(watch.paths).toEqual(['/b.json']);
  });

  it('that leaves it unreadable is tried again after 1, 2 and 4 s, and then waits for the next change.', async () => {
    const { clock, answer, at, change } = make();
    answer.sources = [source(false)];
    await change();
    await clock.advance(60_000);
    expect(at).toEqual([0, 1_000, 3_000, 7_000]);
    await change();
    await clock.advance(60_000);
    expect(at.slice(4)).toEqual([60_000, 61_000, 63_000, 67_000]);
  });

  it('is tried again no more once it can be read.', async () => {
    const { clock, answer, at, change } = make();
    answer.sources = [source(false)];
    await change();
    answer.sources = [source(true)];
    await clock.advance(60_000);
    expect(at).toEqual([0, 1_000]);
    expect(clock.pending).toEqual([]);
  });

  it('that cannot be applied is told.', async () => {
    const { answer, events, change } = make();
    answer.error = new Error('a bug');
    await change();
    expect(events).toMatchObject([{ type: 'diagnostic', kind: 'reload-failed' }]);
  });

  it('that comes before the start or after the close is nothing to tell.', async () => {
    const { answer, events, change } = make();
    answer.error = new NotReadyError('closed');
    await change();
    expect(events).toEqual([]);
  });
});

describe('a file that was unreadable at the start', () => {
  it('is tried again by itself.', async () => {
    const { clock, auto, at } = make();
    auto.follow([source(false)]);
    await clock.advance(60_000);
    expect(at).toEqual([1_000]);
  });
});

describe('a watch that fails', () => {
  it('is told.', () => {
    const { events, watch } = make();
    watch.ports.onerror(new Error('ENOSPC'));
    expect(events).toMatchObject([{ type: 'diagnostic', kind: 'watch-problem' }]);
  });

  it('to find what it is to watch is told.', async () => {
    const { clock, answer, auto, events } = make();
    answer.places = [];
    auto.follow([source(true)]);
    await clock.advance(0);
    expect(events).toMatchObject([{ type: 'diagnostic', kind: 'watch-problem' }]);
  });
});

describe('closing', () => {
  it('ends the watch and what is to be tried again.', async () => {
    const { clock, auto, watch, at } = make();
    auto.follow([source(false)]);
    await auto.close();
    await clock.advance(60_000);
    expect([at, clock.pending, watch.isClosed]).toEqual([[], [], true]);
    auto.follow([source(false)]);
    expect(clock.pending).toEqual([]);
  });
});
