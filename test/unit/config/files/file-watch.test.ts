/** The watch of real files, for every way in which files are written. */
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
 * How long a test waits for more events of the same change before it follows the files again, in milliseconds. The time is
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

/** Redirects a link atomically. */
function pointTo(target: string, link: string): void {
  symlinkSync(target, `${link}.new`);
  renameSync(`${link}.new`, link);
}

/** Runs the action and resolves when the watch has reported a change after it. */
type ExpectReport = (action: () => void) => Promise<void>;

/** A watch that is set: every later report is a new change. */
async function watching(
  ...paths: readonly string[]
): Promise<{ follow: (paths: readonly string[]) => void; expectReport: ExpectReport }> {
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
  const expectReport: ExpectReport = async (action) => {
    action();
    await new Promise<void>((resolve) => waiting.add(resolve));
    expect(errors).toEqual([]);
  };
  const follow = (others: readonly string[]): void => {
    followed = others;
    void watch.follow(others);
  };
  await expectReport(() => follow(paths));
  return { follow, expectReport };
}

describe('a change of a file is reported', () => {
  it('when it is written in place, repeatedly.', async () => {
    writeFileSync(at('a.json'), '1');
    const { expectReport } = await watching(at('a.json'));
    await expectReport(() => writeFileSync(at('a.json'), '22'));
    await expectReport(() => writeFileSync(at('a.json'), '333'));
  });

  it('when another file is renamed over it, repeatedly.', async () => {
    writeFileSync(at('a.json'), '1');
    const { expectReport } = await watching(at('a.json'));
    for (const text of ['22', '333', '4444']) {
      await expectReport(() => {
        writeFileSync(at('a.json.tmp'), text);
        renameSync(at('a.json.tmp'), at('a.json'));
      });
    }
    await expectReport(() => writeFileSync(at('a.json'), '55555'));
  });

  it('when it is deleted, and when it is created again.', async () => {
    writeFileSync(at('a.json'), '1');
    writeFileSync(at('b.json'), '1');
    const { expectReport } = await watching(at('a.json'), at('b.json'));
    for (const text of ['22', '333']) {
      await expectReport(() => rmSync(at('a.json')));
      await expectReport(() => writeFileSync(at('a.json'), text));
    }
    await expectReport(() => writeFileSync(at('a.json'), '4444'));
    await expectReport(() => writeFileSync(at('b.json'), '22'));
  });

  it('when it is created, and from then on.', async () => {
    const { expectReport } = await watching(at('a.json'));
    await expectReport(() => writeFileSync(at('a.json'), '1'));
    await expectReport(() => writeFileSync(at('a.json'), '22'));
  });

  it('when it is created with its folders.', async () => {
    const { expectReport } = await watching(at('x', 'y', 'a.json'));
    await expectReport(() => {
      mkdirSync(at('x', 'y'), { recursive: true });
      writeFileSync(at('x', 'y', 'a.json'), '1');
    });
    await expectReport(() => writeFileSync(at('x', 'y', 'a.json'), '22'));
  });

  it('when its folder is deleted, and when it is created again.', async () => {
    mkdirSync(at('x'));
    writeFileSync(at('x', 'a.json'), '1');
    const { expectReport } = await watching(at('x', 'a.json'));
    await expectReport(() => rmSync(at('x'), { recursive: true }));
    await expectReport(() => {
      mkdirSync(at('x'));
      writeFileSync(at('x', 'a.json'), '22');
    });
    await expectReport(() => writeFileSync(at('x', 'a.json'), '333'));
  });

  it('when it is a link, and the target is written or replaced.', async () => {
    mkdirSync(at('real'));
    writeFileSync(at('real', 'a.json'), '1');
    symlinkSync(at('real', 'a.json'), at('a.json'));
    const { expectReport } = await watching(at('a.json'));
    await expectReport(() => writeFileSync(at('real', 'a.json'), '22'));
    for (const text of ['333', '4444']) {
      await expectReport(() => {
        writeFileSync(at('real', 'new'), text);
        renameSync(at('real', 'new'), at('real', 'a.json'));
      });
    }
  });

  it('when the link is redirected to another file, and when that file is written.', async () => {
    mkdirSync(at('real'));
    for (const name of ['a', 'b', 'c']) writeFileSync(at('real', `${name}.json`), '1');
    symlinkSync(join('real', 'a.json'), at('a.json'));
    const { expectReport } = await watching(at('a.json'));
    for (const name of ['b', 'c']) {
      await expectReport(() => pointTo(join('real', `${name}.json`), at('a.json')));
      await expectReport(() => writeFileSync(at('real', `${name}.json`), '22'));
      await expectReport(() => writeFileSync(at('real', `${name}.json`), '333'));
    }
  });

  it('when a folder in its path is a link that is redirected, repeatedly.', async () => {
    for (const name of ['1', '2', '3']) {
      mkdirSync(at(name, 'sub'), { recursive: true });
      writeFileSync(at(name, 'sub', 'a.json'), '1');
    }
    symlinkSync('1', at('now'));
    const { expectReport } = await watching(at('now', 'sub', 'a.json'));
    await expectReport(() => writeFileSync(at('1', 'sub', 'a.json'), '22'));
    for (const name of ['2', '3', '1']) {
      await expectReport(() => pointTo(name, at('now')));
      await expectReport(() => writeFileSync(at(name, 'sub', 'a.json'), '333'));
      await expectReport(() => writeFileSync(at(name, 'sub', 'a.json'), '4444'));
    }
  });

  it('when its folder is swapped behind a chain of links, and the old folder is removed.', async () => {
    const swap = (name: string): void => {
      mkdirSync(at(name));
      writeFileSync(at(name, 'a.json'), '1');
      pointTo(name, at('..data'));
    };
    swap('..1');
    symlinkSync(join('..data', 'a.json'), at('a.json'));
    const { expectReport } = await watching(at('a.json'));
    await expectReport(() => swap('..2'));
    await expectReport(() => {
      swap('..3');
      rmSync(at('..2'), { recursive: true });
    });
    await expectReport(() => swap('..4'));
    await expectReport(() => writeFileSync(at('..4', 'a.json'), '22'));
    await expectReport(() => writeFileSync(at('..4', 'a.json'), '333'));
  });

  it('when its link was dangling or circular, and then leads to a file.', async () => {
    symlinkSync('nowhere', at('a.json'));
    const { expectReport } = await watching(at('a.json'));
    await expectReport(() => pointTo('a.json', at('a.json')));
    await expectReport(() => pointTo(join('new', 'b.json'), at('a.json')));
    await expectReport(() => {
      mkdirSync(at('new'));
      writeFileSync(at('new', 'b.json'), '1');
    });
    await expectReport(() => writeFileSync(at('new', 'b.json'), '22'));
    await expectReport(() => writeFileSync(at('new', 'b.json'), '333'));
  });

  it('when it is one of several in nested folders.', async () => {
    mkdirSync(at('x', 'y'), { recursive: true });
    const paths = [at('a.json'), at('x', 'b.json'), at('x', 'y', 'c.json')];
    for (const path of paths) writeFileSync(path, '1');
    const { expectReport } = await watching(...paths);
    for (const path of paths) await expectReport(() => writeFileSync(path, '22'));
    await expectReport(() => rmSync(at('x'), { recursive: true }));
    await expectReport(() => mkdirSync(at('x', 'y'), { recursive: true }));
    for (const path of paths) await expectReport(() => writeFileSync(path, '333'));
    for (const path of paths) await expectReport(() => writeFileSync(path, '4444'));
  });

  it('when files are polled, as on network drives, where the system reports no changes.', async () => {
    vi.stubEnv('CHOKIDAR_USEPOLLING', '1');
    writeFileSync(at('a.json'), '{}');
    const { expectReport } = await watching(at('a.json'));
    await expectReport(() => writeFileSync(at('a.json'), '{ }'));
    await expectReport(() => rmSync(at('a.json')));
    await expectReport(() => writeFileSync(at('a.json'), '{}'));
  });

  it('when the list of files grows by it.', async () => {
    const { follow, expectReport } = await watching(at('a.json'));
    await expectReport(() => follow([at('a.json'), at('b.json')]));
    await expectReport(() => writeFileSync(at('b.json'), '1'));
    await expectReport(() => writeFileSync(at('a.json'), '1'));
  });
});

describe('a watch', () => {
  it('of no files watches nothing.', async () => {
    const watch = new FileWatch({
      onchange: () => expect.unreachable('no file is watched'),
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
