import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeWholeFile } from '../../../../src/cli/output/write-whole-file.js';
import { useLeakCheck } from '../../../support/leak-check.js';

describe('a file that is written atomically', () => {
  useLeakCheck();
  let folder: string;
  const at = (name: string): string => join(folder, name);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-write-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('has its text, is readable only by its owner, and nothing else is left.', async () => {
    await writeWholeFile(at('new.json'), 'text', { overwrite: false });
    expect(readFileSync(at('new.json'), 'utf8')).toBe('text');
    expect(readdirSync(folder)).toEqual(['new.json']);
    if (process.platform !== 'win32') expect(statSync(at('new.json')).mode & 0o077).toBe(0);
  });

  it('replaces an existing file only with overwrite.', async () => {
    writeFileSync(at('old.json'), 'old');
    await expect(writeWholeFile(at('old.json'), 'new', { overwrite: false })).rejects.toMatchObject({
      code: 'EEXIST',
    });
    expect(readFileSync(at('old.json'), 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['old.json']);
    await writeWholeFile(at('old.json'), 'new', { overwrite: true });
    expect(readFileSync(at('old.json'), 'utf8')).toBe('new');
    expect(readdirSync(folder)).toEqual(['old.json']);
  });

  it('is the target of a link if there is one.', async () => {
    writeFileSync(at('real.json'), 'old');
    symlinkSync('real.json', at('link.json'));
    await writeWholeFile(at('link.json'), 'new', { overwrite: true });
    expect(readFileSync(at('real.json'), 'utf8')).toBe('new');
  });

  it('is not written through a link that somebody put beside its path.', async () => {
    writeFileSync(at('other.json'), 'other');
    for (const name of ['new.json.new', `new.json.${process.pid}.tmp`]) symlinkSync('other.json', at(name));
    await writeWholeFile(at('new.json'), 'text', { overwrite: true });
    expect(readFileSync(at('other.json'), 'utf8')).toBe('other');
  });

  it('replaces only files, never a pipe, a socket, a folder or a link to one.', async () => {
    execFileSync('mkfifo', [at('pipe')], { timeout: 10_000 });
    symlinkSync('pipe', at('link'));
    mkdirSync(at('folder'));
    const server = createServer();
    server.listen(at('socket'));
    await once(server, 'listening', { signal: AbortSignal.timeout(10_000) });
    try {
      for (const name of ['pipe', 'link', 'folder', 'socket']) {
        for (const overwrite of [true, false]) {
          await expect(writeWholeFile(at(name), 'x', { overwrite })).rejects.toThrow(
            /^it exists and is not a file$/,
          );
        }
      }
      expect(readdirSync(folder).toSorted()).toEqual(['folder', 'link', 'pipe', 'socket']);
      expect(statSync(at('pipe')).isFIFO()).toBe(true);
      expect(statSync(at('socket')).isSocket()).toBe(true);
    } finally {
      server.close();
      await once(server, 'close', { signal: AbortSignal.timeout(10_000) });
    }
  });

  it('that cannot be written leaves nothing behind.', async () => {
    await expect(writeWholeFile(at('none/x.json'), 'x', { overwrite: true })).rejects.toMatchObject({
      code: 'ENOENT',
    });
    await expect(writeWholeFile(folder, 'x', { overwrite: true })).rejects.toThrow();
    expect(readdirSync(folder)).toEqual([]);
  });
});
