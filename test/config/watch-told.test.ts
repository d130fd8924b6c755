/** How often a watch tells, and what it does where watching fails; the events of the file system are the test's. */
import { EventEmitter } from 'node:events';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { FileWatch } from '../../src/config/watch.js';
import { createControlledClock } from '../support/controlled-clock.js';
import { useLeakCheck } from '../support/leak-check.js';

class FakeWatcher extends EventEmitter {
  readonly close = vi.fn<() => Promise<void>>(() => Promise.resolve());
}

const { made, watched, closedFolders, chokidar } = vi.hoisted(() => {
  const made: unknown[] = [];
  /** The folders of each watch that was made. */
  const watched: (readonly string[])[] = [];
  const watch = (folders: readonly string[]): unknown => {
    watched.push(folders);
    return made.at(-1);
  };
  return { made, watched, closedFolders: new Set<string>(), chokidar: { watch } };
});
vi.mock('chokidar', () => chokidar);
/** The superuser may read whatever there is, so the system cannot be made to refuse him. */
vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>();
  const access: typeof real.access = async (path, mode) => {
    if (closedFolders.has(String(path))) throw Object.assign(new Error('denied'), { code: 'EACCES' });
    await real.access(path, mode);
  };
  return { ...real, access };
});

useLeakCheck();

async function watching() {
  const clock = createControlledClock();
  const watcher = new FakeWatcher();
  made.push(watcher);
  const told: number[] = [];
  const errors: string[] = [];
  const watch = new FileWatch({
    clock,
    onchange: () => told.push(clock.now() - 1_000_000),
    onerror: ({ message }) => errors.push(message),
  });
  await watch.follow(['/a.json']);
  return { clock, watcher, watch, told, errors };
}

describe('a watch', () => {
  it('tells what comes in quick succession once, 300 ms after the last of it.', async () => {
    const { clock, watcher, told } = await watching();
    for (const event of ['change', 'unlink', 'add']) {
      watcher.emit('all', event, '/a.json');
      await clock.advance(200);
    }
    expect(told).toEqual([]);
    await clock.advance(100);
    expect(told).toEqual([700]);
    await clock.advance(10_000);
    expect(told).toEqual([700]);
  });

  it('tells at last of a file that never rests.', async () => {
    const { clock, watcher, told } = await watching();
    for (let passed = 0; passed < 4_000; passed += 100) {
      watcher.emit('all', 'change', '/a.json');
      await clock.advance(100);
    }
    expect(told).toEqual([2_000, 4_000]);
  });

  it('tells once when it is set, of what was missed before.', async () => {
    const { clock, watcher, told } = await watching();
    watcher.emit('ready');
    await clock.advance(300);
    expect(told).toEqual([300]);
  });

  it('tells nothing more once it is closed, and leaves no timer.', async () => {
    const { clock, watcher, watch, told } = await watching();
    watcher.emit('all', 'change', '/a.json');
    await watch.close();
    watcher.emit('all', 'change', '/a.json');
    expect(clock.pending).toEqual([]);
    expect(told).toEqual([]);
    expect(watcher.close).toHaveBeenCalledOnce();
  });

  it('tells of an error, and goes on.', async () => {
    const { clock, watcher, told, errors } = await watching();
    watcher.emit('error', new Error('ENOSPC: no watches left'));
    watcher.emit('error', 'odd');
    expect(errors).toEqual(['ENOSPC: no watches left', 'odd']);
    watcher.emit('all', 'change', '/a.json');
    await clock.advance(300);
    expect(told).toEqual([300]);
  });

  it('is set anew where the library has let go of its folder, as it does where that could not be read for a moment.', async () => {
    const { clock, watcher, watch, told } = await watching();
    const folder = dirname(process.execPath);
    await watch.follow([join(folder, 'a.json')]);
    const second = new FakeWatcher();
    made.push(second);
    watcher.emit('all', 'unlinkDir', folder);
    await clock.advance(300);
    await watch.follow([join(folder, 'a.json')]);
    second.emit('all', 'change', join(folder, 'a.json'));
    await clock.advance(300);
    expect(told).toEqual([300, 600]);
    await watch.close();
  });

  it('of the top of the file system is set once: the library says whenever it begins that this is gone.', async () => {
    const { clock, watcher, watch } = await watching();
    const times = watched.length;
    watcher.emit('all', 'unlinkDir', '/');
    await clock.advance(300);
    await watch.follow(['/a.json']);
    expect(watched).toHaveLength(times);
    await watch.close();
  });

  it('of a folder that may not be read is one of the folder above, is told, and comes back when it may be.', async () => {
    const { watch, errors } = await watching();
    const folder = dirname(process.execPath);
    closedFolders.add(folder);
    await watch.follow([join(folder, 'a.json')]);
    expect(watched.at(-1)).toEqual([dirname(folder)]);
    expect(errors).toEqual([`the folder ${folder} may not be read (permission denied)`]);
    closedFolders.clear();
    await watch.follow([join(folder, 'a.json')]);
    expect(watched.at(-1)).toEqual([folder]);
    expect(errors).toHaveLength(1);
    await watch.close();
  });

  it('that cannot be set is an error that is told, and is tried with the next list.', async () => {
    const errors: string[] = [];
    const watch = new FileWatch({
      clock: createControlledClock(),
      onchange: () => {},
      onerror: ({ message }) => errors.push(message),
    });
    const { watch: works } = chokidar;
    chokidar.watch = () => {
      throw new Error('no watcher here');
    };
    await watch.follow(['/a.json']);
    expect(errors).toEqual(['no watcher here']);
    chokidar.watch = works;
    const watcher = new FakeWatcher();
    made.push(watcher);
    await watch.follow(['/a.json']);
    expect(watcher.listenerCount('all')).toBe(1);
    await watch.close();
  });
});
