import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProjectRoot } from '../../src/config/project-root.js';
import { useLeakCheck } from '../support/leak-check.js';

const MARKS = ['.mcp.json', '.git'];

describe('the folder of the project', () => {
  useLeakCheck();
  let home: string;
  const at = (...parts: string[]): string => join(home, ...parts);

  beforeAll(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'troupe-root-')));
    await mkdir(at('repo', '.git'), { recursive: true });
    await mkdir(at('repo', 'packages', 'one', 'src'), { recursive: true });
    await mkdir(at('loose', 'deep'), { recursive: true });
    await writeFile(at('repo', 'packages', 'one', '.mcp.json'), '{}');
    await writeFile(at('.mcp.json'), '{}');
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  it('is the nearest one with a mark.', async () => {
    expect(await findProjectRoot(at('repo', 'packages'), MARKS, home)).toBe(at('repo'));
    expect(await findProjectRoot(at('repo', 'packages', 'one', 'src'), MARKS, home)).toBe(
      at('repo', 'packages', 'one'),
    );
  });

  it('is never the home folder, nor one above it.', async () => {
    expect(await findProjectRoot(home, MARKS, home)).toBeUndefined();
    expect(await findProjectRoot(at('loose', 'deep'), MARKS, home)).toBeUndefined();
    expect(await findProjectRoot(at('loose'), MARKS, at('loose'))).toBeUndefined();
  });

  it('is looked for up to the top of the file system.', async () => {
    expect(await findProjectRoot(at('loose'), ['no-such-mark'], '/nowhere')).toBeUndefined();
    expect(await findProjectRoot(at('repo', 'gone', 'away'), MARKS, '/nowhere')).toBe(at('repo'));
  });
});
