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
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FileWatch } from '../../../../src/config/files/file-watch.js';
import { useInotify } from '../../../support/inotify.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useInotify();
useLeakCheck();

/**
 * How long a test waits for more events of the same change before it follows the files again, milliseconds. The time is
 * real because the file system does not mark the last event of a change.
 */
const REST_MS = 30;

let folder: string;
let open: Pick<FileWatch, 'close'>[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-watch-')));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(open.map((watch) => watch.close()));
  open = [];
  rmSync(folder, { recursive: true, force: true });
});

const at = (...parts: readonly string[]): string => join(folder, ...parts);

/** Makes a link lead elsewhere in one step. */
function pointTo(target: string, link: string): void {
  symlinkSync(target, `${link}.new`);
  renameSync(`${link}.new`, link);
}

/** Does something and resolves when the watch has told of a change after that. */
type ExpectTold = (action: () => void) => Promise<void>;

/** A watch that is set: what it tells from here on is news. */
async function watching(
  ...paths: readonly string[]
): Promise<{ follow: (paths: readonly string[]) => void; expectTold: ExpectTold }> {
  const waiting = new Set<() => void>();
  const errors: Error[] = [];
  let followed: readonly string[] = [];
  let rest: NodeJS.Timeout | undefined;
  const rested = (): void => {
    void watch.follow(followed);
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  const watch = new FileWatch({
    onchange: () => {
      clearTimeout(rest);
      rest = setTimeout(rested, REST_MS);
    },
    onerror: (error) => errors.push(error),
  });
  open.push({
    close: async () => {
      clearTimeout(rest);
      await watch.close();
    },
  });
  const expectTold: ExpectTold = async (action) => {
    action();
    await new Promise<void>((resolve) => waiting.add(resolve));
    expect(errors).toEqual([]);
  };
  const follow = (others: readonly string[]): void => {
    followed = others;
    void watch.follow(others);
  };
  await expectTold(() => follow(paths));
  return { follow, expectTold };
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

  it('when the link that it is leads to another file, and when that is written.', async () => {
    mkdirSync(at('real'));
    for (const name of ['a', 'b', 'c']) writeFileSync(at('real', `${name}.json`), '1');
    symlinkSync(join('real', 'a.json'), at('a.json'));
    const { expectTold } = await watching(at('a.json'));
    for (const name of ['b', 'c']) {
      await expectTold(() => pointTo(join('real', `${name}.json`), at('a.json')));
      await expectTold(() => writeFileSync(at('real', `${name}.json`), '22'));
      await expectTold(() => writeFileSync(at('real', `${name}.json`), '333'));
    }
  });

  it('when a folder on its way is a link that leads to another folder, however often.', async () => {
    for (const name of ['1', '2', '3']) {
      mkdirSync(at(name, 'sub'), { recursive: true });
      writeFileSync(at(name, 'sub', 'a.json'), '1');
    }
    symlinkSync('1', at('now'));
    const { expectTold } = await watching(at('now', 'sub', 'a.json'));
    await expectTold(() => writeFileSync(at('1', 'sub', 'a.json'), '22'));
    for (const name of ['2', '3', '1']) {
      await expectTold(() => pointTo(name, at('now')));
      await expectTold(() => writeFileSync(at(name, 'sub', 'a.json'), '333'));
      await expectTold(() => writeFileSync(at(name, 'sub', 'a.json'), '4444'));
    }
  });

  it('when its whole folder is swapped behind a link of which it is a link, and the old one removed.', async () => {
    const swap = (name: string): void => {
      mkdirSync(at(name));
      writeFileSync(at(name, 'a.json'), '1');
      pointTo(name, at('..data'));
    };
    swap('..1');
    symlinkSync(join('..data', 'a.json'), at('a.json'));
    const { expectTold } = await watching(at('a.json'));
    await expectTold(() => swap('..2'));
    await expectTold(() => {
      swap('..3');
      rmSync(at('..2'), { recursive: true });
    });
    await expectTold(() => swap('..4'));
    await expectTold(() => writeFileSync(at('..4', 'a.json'), '22'));
    await expectTold(() => writeFileSync(at('..4', 'a.json'), '333'));
  });

  it('when its link led to nothing or in a circle, and leads to it.', async () => {
    symlinkSync('nowhere', at('a.json'));
    const { expectTold } = await watching(at('a.json'));
    await expectTold(() => pointTo('a.json', at('a.json')));
    await expectTold(() => pointTo(join('new', 'b.json'), at('a.json')));
    await expectTold(() => {
      mkdirSync(at('new'));
      writeFileSync(at('new', 'b.json'), '1');
    });
    await expectTold(() => writeFileSync(at('new', 'b.json'), '22'));
    await expectTold(() => writeFileSync(at('new', 'b.json'), '333'));
  });

  it('when it is one of several in folders within one another.', async () => {
    mkdirSync(at('x', 'y'), { recursive: true });
    const paths = [at('a.json'), at('x', 'b.json'), at('x', 'y', 'c.json')];
    for (const path of paths) writeFileSync(path, '1');
    const { expectTold } = await watching(...paths);
    for (const path of paths) await expectTold(() => writeFileSync(path, '22'));
    await expectTold(() => rmSync(at('x'), { recursive: true }));
    await expectTold(() => mkdirSync(at('x', 'y'), { recursive: true }));
    for (const path of paths) await expectTold(() => writeFileSync(path, '333'));
    for (const path of paths) await expectTold(() => writeFileSync(path, '4444'));
  });

  it('when files are polled, since the system tells of none there, as on a drive of another machine.', async () => {
    vi.stubEnv('CHOKIDAR_USEPOLLING', '1');
    writeFileSync(at('a.json'), '{}');
    const { expectTold } = await watching(at('a.json'));
    await expectTold(() => writeFileSync(at('a.json'), '{ }'));
    await expectTold(() => rmSync(at('a.json')));
    await expectTold(() => writeFileSync(at('a.json'), '{}'));
  });

  it('when only the list of files has grown by it.', async () => {
    const { follow, expectTold } = await watching(at('a.json'));
    await expectTold(() => follow([at('a.json'), at('b.json')]));
    await expectTold(() => writeFileSync(at('b.json'), '1'));
    await expectTold(() => writeFileSync(at('a.json'), '1'));
  });
});

describe('a watch', () => {
  it('of no files watches nothing.', async () => {
    const watch = new FileWatch({
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
      onchange: () => expect.unreachable('it was closed'),
      onerror: (error) => expect.unreachable(error.message),
    });
    const setting = watch.follow([at('a.json')]);
    await watch.close();
    await setting;
    await watch.close();
  });
});
