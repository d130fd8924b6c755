/** How folders are created. The mock forbids the implementation that would never finish within a time limit. */
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeFolder } from '../../../src/storage/make-folder.js';

vi.mock('node:fs', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs')>();
  const mkdirOne = (path: string, options?: { readonly mode?: number; readonly recursive?: boolean }) => {
    if (options?.recursive === true) throw new Error('may never end');
    return real.mkdirSync(path, options);
  };
  return { ...real, mkdirSync: mkdirOne };
});

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'troupe-folder-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('a folder', () => {
  it('is created with the folders above it, for the user alone.', () => {
    makeFolder(join(root, 'a', 'b', 'c'));
    for (const name of ['a', 'a/b', 'a/b/c']) expect(modeOf(join(root, name))).toBe(0o700);
  });

  it('that exists stays as it is, even behind a link.', () => {
    mkdirSync(join(root, 'open'), { mode: 0o755 });
    symlinkSync(join(root, 'open'), join(root, 'link'));
    makeFolder(join(root, 'link'));
    makeFolder(join(root, 'link', 'in'));
    expect(modeOf(join(root, 'open'))).toBe(0o755);
    expect(modeOf(join(root, 'open', 'in'))).toBe(0o700);
  });

  it('that the system cannot create is named in the error.', () => {
    expect(() => makeFolder('/proc/x/troupe/reviews')).toThrow(/'\/proc\/x'.*ENOENT/);
  });

  it('is not created if a file is in the way, which the error names.', () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    for (const folder of [file, join(file, 'in')]) {
      expect(() => makeFolder(folder)).toThrow(`'${file}'`);
      expect(() => makeFolder(folder)).toThrow('EEXIST');
    }
  });
});
