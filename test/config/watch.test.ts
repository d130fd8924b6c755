/** The watch of real files, however those are written. */
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileWatch } from '../../src/config/watch.js';
import { systemClock, type Clock } from '../../src/ports.js';
import { useInotify } from '../support/inotify.js';
import { useLeakCheck } from '../support/leak-check.js';

useInotify();
useLeakCheck();

/** Ten times as fast as the system's, so that the debounce of so many changes is no long wait. */
const clock: Clock = {
  ...systemClock,
  setTimeout: (fn, ms) => systemClock.setTimeout(fn, ms / 10),
};

let folder: string;
let open: FileWatch[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-watch-')));
});
afterEach(async () => {
  await Promise.all(open.map((watch) => watch.close()));
  open = [];
  rmSync(folder, { recursive: true, force: true });
});

const at = (...parts: readonly string[]): string => join(folder, ...parts);

/** Does something and resolves when the watch has told of a change after that. */
type ExpectTold = (action: () => void) => Promise<void>;

/** A watch that is set: what it tells from here on is news. */
async function watching(...paths: readonly string[]): Promise<{ watch: FileWatch; expectTold: ExpectTold }> {
  const waiting = new Set<() => void>();
  const errors: Error[] = [];
  const watch = new FileWatch({
    clock,
    onchange: () => {
      for (const resolve of waiting) resolve();
      waiting.clear();
    },
    onerror: (error) => errors.push(error),
  });
  open.push(watch);
  const expectTold: ExpectTold = async (action) => {
    action();
    await new Promise<void>((resolve) => waiting.add(resolve));
    expect(errors).toEqual([]);
  };
  await expectTold(() => void watch.follow(paths));
  return { watch, expectTold };
}

describe('a file is told', () => {
  it('when it is written in place, again and again.', async () => {
    writeFileSync(at('a.json'), '1');
    const { expectTold } = await watching(at('a.json'));
    await expectTold(() => writeFileSync(at('a.json'), '22'));
    await expectTold(() => writeFileSync(at('a.json'), '333'));
  });

  it('when another is renamed over it, again and again.', async () => {
    writeFileSync(at('a.json'), '1');
    const { expectTold } = await watching(at('a.json'));
    for (const text of ['22', '333', '4444']) {
      await expectTold(() => {
        writeFileSync(at('a.json.tmp'), text);
        renameSync(at('a.json.tmp'), at('a.json'));
      });
    }
    await expectTold(() => writeFileSync(at('a.json'), '55555'));
  });

  it('when it is deleted, and when it is there again.', async () => {
    writeFileSync(at('a.json'), '1');
    writeFileSync(at('b.json'), '1');
    const { expectTold } = await watching(at('a.json'), at('b.json'));
    for (const text of ['22', '333']) {
      await expectTold(() => rmSync(at('a.json')));
      await expectTold(() => writeFileSync(at('a.json'), text));
    }
    await expectTold(() => writeFileSync(at('a.json'), '4444'));
    await expectTold(() => writeFileSync(at('b.json'), '22'));
  });

  it('when it comes into being, and from then on.', async () => {
    const { expectTold } = await watching(at('a.json'));
    await expectTold(() => writeFileSync(at('a.json'), '1'));
    await expectTold(() => writeFileSync(at('a.json'), '22'));
  });

  it('when it comes with folders that were not there.', async () => {
    const { expectTold } = await watching(at('x', 'y', 'a.json'));
    await expectTold(() => {
      mkdirSync(at('x', 'y'), { recursive: true });
      writeFileSync(at('x', 'y', 'a.json'), '1');
    });
    await expectTold(() => writeFileSync(at('x', 'y', 'a.json'), '22'));
  });

  it('when its folder goes, and when it comes back.', async () => {
    mkdirSync(at('x'));
    writeFileSync(at('x', 'a.json'), '1');
    const { expectTold } = await watching(at('x', 'a.json'));
    await expectTold(() => rmSync(at('x'), { recursive: true }));
    await expectTold(() => {
      mkdirSync(at('x'));
      writeFileSync(at('x', 'a.json'), '22');
    });
    await expectTold(() => writeFileSync(at('x', 'a.json'), '333'));
  });

  it('when it is a link, and what that leads to is written or replaced.', async () => {
    mkdirSync(at('real'));
    writeFileSync(at('real', 'a.json'), '1');
    symlinkSync(at('real', 'a.json'), at('a.json'));
    const { expectTold } = await watching(at('a.json'));
    await expectTold(() => writeFileSync(at('real', 'a.json'), '22'));
    for (const text of ['333', '4444']) {
      await expectTold(() => {
        writeFileSync(at('real', 'new'), text);
        renameSync(at('real', 'new'), at('real', 'a.json'));
      });
    }
  });

  it('when only the list of files has grown by it.', async () => {
    const { watch, expectTold } = await watching(at('a.json'));
    await expectTold(() => void watch.follow([at('a.json'), at('b.json')]));
    await expectTold(() => writeFileSync(at('b.json'), '1'));
    await expectTold(() => writeFileSync(at('a.json'), '1'));
  });
});

describe('a watch', () => {
  it('of no files watches nothing.', async () => {
    const watch = new FileWatch({
      clock,
      onchange: () => expect.unreachable('there is nothing to tell'),
      onerror: (error) => expect.unreachable(error.message),
    });
    await watch.follow([]);
    await watch.close();
  });

  it('keeps no process alive.', async () => {
    writeFileSync(at('a.json'), '1');
    const before = process.getActiveResourcesInfo().filter((kind) => kind.startsWith('FSEvent'));
    await watching(at('a.json'), at('x', 'b.json'));
    const after = process.getActiveResourcesInfo().filter((kind) => kind.startsWith('FSEvent'));
    expect(after).toEqual(before);
  });

  it('that is closed before it was set is never set.', async () => {
    const watch = new FileWatch({
      clock,
      onchange: () => expect.unreachable('it was closed'),
      onerror: (error) => expect.unreachable(error.message),
    });
    const setting = watch.follow([at('a.json')]);
    await watch.close();
    await setting;
    await watch.close();
  });
});
