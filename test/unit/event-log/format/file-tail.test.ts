/** A file that grows is read as it is written, whatever its writer does with it. */
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileTail } from '../../../../src/event-log/format/file-tail.js';
import { followFile } from '../../../../src/event-log/format/follow-file.js';
import type { Clock } from '../../../../src/ports.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();
useCrashWatch();

let folder: string;
let path: string;
let tail: FileTail;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-tail-'));
  path = join(folder, 'log');
  tail = new FileTail(path);
});
afterEach(async () => {
  await tail.close();
  rmSync(folder, { recursive: true });
});

/** Everything that is there now: the files with their texts, in order. */
async function readAll(): Promise<string[]> {
  const files: string[] = [];
  for (let read = await tail.read(); read !== undefined; read = await tail.read()) {
    if (read.type === 'begin') files.push('');
    else files.push(`${files.pop() ?? '…'}${Buffer.from(read.bytes).toString()}`);
  }
  return files;
}

/** As a recorder does it. */
function rotate(): void {
  for (const number of [2, 1]) {
    try {
      renameSync(`${path}.${number}`, `${path}.${number + 1}`);
    } catch {
      // There are not that many.
    }
  }
  renameSync(path, `${path}.1`);
}

describe('a file that grows', () => {
  it('is waited for, and read as it is written.', async () => {
    expect(await readAll()).toEqual([]);
    writeFileSync(path, 'a');
    expect(await readAll()).toEqual(['a']);
    appendFileSync(path, 'b');
    expect(await readAll()).toEqual(['…b']);
    expect(await readAll()).toEqual([]);
  });

  it('is read over any number of rotations, each file to its end.', async () => {
    writeFileSync(path, 'a');
    await readAll();
    appendFileSync(path, 'b');
    for (const text of ['second', 'third', 'fourth']) {
      rotate();
      writeFileSync(path, text);
    }
    expect(await readAll()).toEqual(['…b', 'second', 'third', 'fourth']);
  });

  it('is found again after it was deleted, replaced or truncated.', async () => {
    writeFileSync(path, 'first');
    await readAll();
    rmSync(path);
    expect(await readAll()).toEqual([]);
    writeFileSync(path, 'second');
    expect(await readAll()).toEqual(['second']);
    writeFileSync(join(folder, 'other'), 'third');
    renameSync(join(folder, 'other'), path);
    expect(await readAll()).toEqual(['third']);
    truncateSync(path);
    appendFileSync(path, 'x');
    expect(await readAll()).toEqual(['x']);
  });

  it('must be a file.', async () => {
    mkdirSync(path);
    await expect(tail.read()).rejects.toThrow('not a file');
  });
});

/** Its timers fire at once. */
const eager: Clock = {
  now: () => Date.now(),
  setTimeout: (fn) => setImmediate(fn),
  clearTimeout: (handle) => clearImmediate(handle as NodeJS.Immediate),
};

describe('following', () => {
  it('ends with its signal while it waits, and when its loop is left.', async () => {
    writeFileSync(path, 'a');
    const ending = new AbortController();
    let waits = 0;
    for await (const read of followFile(path, { clock: eager, signal: ending.signal })) {
      if (read !== undefined) continue;
      waits += 1;
      if (waits === 3) ending.abort();
    }
    expect(waits).toBe(3);
    for await (const read of followFile(path, { clock: eager, signal: new AbortController().signal }))
      if (read === undefined) break;
  });
});
