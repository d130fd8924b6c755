import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { SpillFolder } from '../../../src/results/spill-folder.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

let temporary: string;
beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'troupe-spill-'));
  moveTemporary(temporary);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(temporary, { recursive: true });
});

/** POSIX has one variable for the folder, Windows the other. */
function moveTemporary(folder: string): void {
  for (const name of ['TMPDIR', 'TEMP']) vi.stubEnv(name, folder);
}

const made: SpillFolder[] = [];
function makeFolder(mostBytes?: number): SpillFolder {
  const folder = new SpillFolder(mostBytes);
  made.push(folder);
  return folder;
}
afterEach(async () => {
  await Promise.all(made.splice(0).map((folder) => folder.close()));
  expect(readdirSync(temporary)).toEqual([]);
});

describe('the folder of whole results', () => {
  it('contains each text in a separate file that only the user can read.', async () => {
    const folder = makeFolder();
    const files = await Promise.all([folder.write('one é'), folder.write('two')]);
    expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(['one é', 'two']);
    expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
    expect(statSync(dirname(files[0])).mode & 0o777).toBe(0o700);
    expect(dirname(files[0])).toBe(dirname(files[1]));
    expect(dirname(dirname(files[0]))).toBe(temporary);
  });

  it('gives its files unpredictable names.', async () => {
    const folder = makeFolder();
    const names = [await folder.write(''), await folder.write('')].map((file) => file.slice(-36));
    expect(names[0]).toMatch(/^[\da-f]{32}\.txt$/);
    expect(names[0]).not.toBe(names[1]);
  });

  it('is deleted by the next one if its process was killed, and kept if that is running.', async () => {
    const kept = await makeFolder().write('of this process');
    const [pid, rest] = basename(dirname(kept)).split('@');
    const left = (name: string): string => {
      mkdirSync(join(temporary, name));
      writeFileSync(join(temporary, name, 'old.txt'), 'private');
      return join(temporary, name);
    };
    const { pid: ended } = spawnSync(process.execPath, ['-e', '']);
    const killed = left(`troupe-results-${ended}@${rest}`);
    const elsewhere = left(`troupe-results-${ended}@another-machine-x1y2z3`);
    const foreign = left('troupe-results-notes');
    await makeFolder().write('of this process, too');
    expect([killed, elsewhere, foreign].map((folder) => existsSync(folder))).toEqual([false, true, true]);
    expect(pid).toBe(`troupe-results-${process.pid}`);
    expect(readFileSync(kept, 'utf8')).toBe('of this process');
    for (const folder of [elsewhere, foreign]) rmSync(folder, { recursive: true });
  });

  it('is not created before the first text.', () => {
    makeFolder();
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('is deleted on close, and later writes reject.', async () => {
    const folder = makeFolder();
    const file = await folder.write('one');
    const meanwhile = folder.write('two');
    await Promise.all([folder.close(), expect(meanwhile).rejects.toThrow()]);
    expect(existsSync(dirname(file))).toBe(false);
    await expect(folder.write('three')).rejects.toThrow();
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('is deleted if the process exits without closing it.', async () => {
    const known = process.rawListeners('exit');
    const folder = makeFolder();
    await folder.write('one');
    const added = process.rawListeners('exit').filter((listener) => !known.includes(listener));
    expect(added).toHaveLength(1);
    for (const listener of added) Reflect.apply(listener, process, [0]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('deletes its oldest texts if there are too many, but never the newest.', async () => {
    const folder = makeFolder(10);
    const files = [];
    for (const text of ['aaaa', 'bbbb', 'cccc', 'd'.repeat(20), 'e']) files.push(await folder.write(text));
    expect(files.map((file) => existsSync(file))).toEqual([false, false, false, false, true]);
    const last = [await folder.write('ffff'), await folder.write('gggg')];
    expect([...files.slice(-1), ...last].map((file) => existsSync(file))).toEqual([true, true, true]);
  });

  it('is created again if it was deleted.', async () => {
    const folder = makeFolder();
    const first = await folder.write('one');
    rmSync(dirname(first), { recursive: true });
    const second = await folder.write('two');
    expect(readFileSync(second, 'utf8')).toBe('two');
    expect(dirname(second)).not.toBe(dirname(first));
  });

  it('rejects if nothing can be written, and still accepts the next text.', async () => {
    const folder = makeFolder();
    const missing = join(temporary, 'missing');
    moveTemporary(missing);
    await expect(folder.write('one')).rejects.toMatchObject({ code: 'ENOENT' });
    moveTemporary(temporary);
    expect(readFileSync(await folder.write('two'), 'utf8')).toBe('two');
  });
});
