/** What a watch reports, and what it does if watching fails; the test emits the events of the file system. */
import { EventEmitter } from 'node:events';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { FileWatch } from '../../../../src/config/files/file-watch.js';
import { useLeakCheck } from '../../../support/leak-check.js';

class FakeWatcher extends EventEmitter {
  readonly close = vi.fn<() => Promise<void>>(() => Promise.resolve());
}

const { made, watched, closedFolders, chokidar } = vi.hoisted(() => {
  const made: unknown[] = [];
  /** The folders of each watch that was created. */
  const watched: (readonly string[])[] = [];
  const watch = (folders: readonly string[]): unknown => {
    watched.push(folders);
    return made.at(-1);
  };
  return { made, watched, closedFolders: new Set<string>(), chokidar: { watch } };
});
/** Mocked because no real file system can be made to emit given events, or to fail. */
vi.mock('chokidar', () => chokidar);
/** A superuser may read everything, so a test that runs as root cannot make a real folder unreadable. */
vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>();
  const access: typeof real.access = async (path, mode) => {
    if (closedFolders.has(String(path))) throw Object.assign(new Error('denied'), { code: 'EACCES' });
    await real.access(path, mode);
  };
  return { ...real, access };
});

useLeakCheck();

const ROOT = resolve('/');
const FILE = join(ROOT, 'a.json');

async function watching() {
  const watcher = new FakeWatcher();
  made.push(watcher);
  const reported = { changes: 0 };
  const errors: string[] = [];
  const watch = new FileWatch({
    onchange: () => (reported.changes += 1),
    onerror: ({ message }) => errors.push(message),
  });
  await watch.follow([FILE]);
  return { watcher, watch, reported, errors };
}

describe('a watch', () => {
  it('reports every change of a file, and reports once when it is set, for changes it may have missed.', async () => {
    const { watcher, watch, reported } = await watching();
    watcher.emit('ready');
    expect(reported.changes).toBe(1);
    for (const event of ['change', 'unlink', 'add']) watcher.emit('all', event, FILE);
    expect(reported.changes).toBe(4);
    await watch.close();
  });

  it('reports a system event for a file that it watches, and none for another file.', async () => {
    const { watcher, watch, reported } = await watching();
    watcher.emit('raw', 'change', 'b.json', { watchedPath: ROOT });
    expect(reported.changes).toBe(0);
    watcher.emit('raw', 'change', 'a.json', { watchedPath: ROOT });
    expect(reported.changes).toBe(1);
    await watch.close();
  });

  it('reports nothing once it is closed.', async () => {
    const { watcher, watch, reported } = await watching();
    await watch.close();
    watcher.emit('all', 'change', FILE);
    expect(reported.changes).toBe(0);
    expect(watcher.close).toHaveBeenCalledOnce();
  });

  it('reports an error, and continues.', async () => {
    const { watcher, watch, reported, errors } = await watching();
    watcher.emit('error', new Error('ENOSPC: no watches left'));
    watcher.emit('error', 'odd');
    expect(errors).toEqual(['ENOSPC: no watches left', 'odd']);
    watcher.emit('all', 'change', FILE);
    expect(reported.changes).toBe(1);
    await watch.close();
  });

  it('is set again if the library has dropped its folder, as it does if the folder is unreadable for a moment.', async () => {
    const { watcher, watch, reported } = await watching();
    const folder = dirname(process.execPath);
    await watch.follow([join(folder, 'a.json')]);
    const second = new FakeWatcher();
    made.push(second);
    watcher.emit('all', 'unlinkDir', folder);
    await watch.follow([join(folder, 'a.json')]);
    const before = reported.changes;
    second.emit('all', 'change', join(folder, 'a.json'));
    expect(reported.changes).toBe(before + 1);
    await watch.close();
  });

  it('of the root of the file system is set once, although the library reports the root as removed at each start.', async () => {
    const { watcher, watch } = await watching();
    const times = watched.length;
    watcher.emit('all', 'unlinkDir', ROOT);
    await watch.follow([FILE]);
    expect(watched).toHaveLength(times);
    await watch.close();
  });

  it('of an unreadable folder watches the folder above, reports that, and comes back when the folder is readable.', async () => {
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

  it('that cannot be set reports an error, and is retried with the next list.', async () => {
    const errors: string[] = [];
    const watch = new FileWatch({
      onchange: () => {},
      onerror: ({ message }) => errors.push(message),
    });
    const { watch: works } = chokidar;
    chokidar.watch = () => {
      throw new Error('no watcher here');
    };
    await watch.follow([FILE]);
    expect(errors).toEqual(['no watcher here']);
    chokidar.watch = works;
    const watcher = new FakeWatcher();
    made.push(watcher);
    await watch.follow([FILE]);
    expect(watcher.listenerCount('all')).toBe(1);
    await watch.close();
  });
});
