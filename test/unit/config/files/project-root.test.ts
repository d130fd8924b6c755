import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platformOf } from '../../../../src/platform/platform.js';
import { findProjects, isWorldWritable, projectFolders } from '../../../../src/config/files/project-root.js';
import { useLeakCheck } from '../../../support/leak-check.js';

const MARKERS = ['.mcp.json', '.git'];

async function findProjectRoot(...where: Parameters<typeof findProjects>): Promise<string | undefined> {
  return (await findProjects(...where))[0];
}

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

  it('is the nearest one with a marker.', async () => {
    expect(await findProjectRoot(at('repo', 'packages'), MARKERS, home)).toBe(at('repo'));
    expect(await findProjectRoot(at('repo', 'packages', 'one', 'src'), MARKERS, home)).toBe(
      at('repo', 'packages', 'one'),
    );
  });

  it('is one whose marker is a circular link, so that the broken link is reported.', async () => {
    await mkdir(at('circle'));
    await symlink('.mcp.json', at('circle', '.mcp.json'));
    expect(await findProjectRoot(at('circle'), MARKERS, home)).toBe(at('circle'));
  });

  it('is never the home folder or one above it.', async () => {
    expect(await findProjectRoot(home, MARKERS, home)).toBeUndefined();
    expect(await findProjectRoot(at('loose', 'deep'), MARKERS, home)).toBeUndefined();
    expect(await findProjectRoot(at('loose'), MARKERS, at('loose'))).toBeUndefined();
  });

  it('is not a folder that everyone can write to, because others may have put the marker there.', async () => {
    await mkdir(at('shared', 'mine'), { recursive: true });
    await writeFile(at('shared', '.mcp.json'), '{}');
    await chmod(at('shared'), 0o777);
    expect(await findProjectRoot(at('shared', 'mine'), MARKERS, home)).toBe(at('shared'));
    await chmod(at('shared'), 0o1777);
    expect(await findProjectRoot(at('shared', 'mine'), MARKERS, home)).toBeUndefined();
    expect(await findProjectRoot(at('shared'), MARKERS, home)).toBeUndefined();
    await writeFile(at('shared', 'mine', '.mcp.json'), '{}');
    expect(await findProjectRoot(at('shared', 'mine'), MARKERS, home)).toBe(at('shared', 'mine'));
  });

  it('is never the home folder, also if the way there is another spelling of it.', async () => {
    // A link stands for a file system that ignores case: `c:\\users\\ada` is `C:\\Users\\ada`.
    const alias = `${home}-alias`;
    await symlink(home, alias);
    try {
      expect(await findProjects(join(alias, 'loose'), MARKERS, home)).toEqual([]);
      expect(await findProjects(join(alias, 'repo'), MARKERS, home)).toEqual([join(alias, 'repo')]);
      expect(await projectFolders(join(alias, 'loose', 'deep'), undefined, home)).toEqual([
        join(alias, 'loose', 'deep'),
        join(alias, 'loose'),
      ]);
    } finally {
      await rm(alias);
    }
  });

  it('is never the root of a drive on Windows, where anybody may create files.', async () => {
    const windows = platformOf('win32');
    expect(await isWorldWritable('C:\\', windows)).toBe(true);
    expect(await isWorldWritable('C:\\work', windows)).toBe(false);
  });

  it('is searched for up to the root of the file system.', async () => {
    expect(await findProjectRoot(at('loose'), ['no-such-marker'], '/nowhere')).toBeUndefined();
    expect(await findProjectRoot(at('repo', 'gone', 'away'), MARKERS, '/nowhere')).toBe(at('repo'));
    expect(await findProjectRoot(at('repo', 'packages'), MARKERS, undefined)).toBe(at('repo'));
    expect(await findProjectRoot(at('loose'), ['no-such-marker'], undefined)).toBeUndefined();
  });
});

describe('the folders in which a project may start', () => {
  it.each([
    [
      'those up to the project',
      '/home/ada/repo/src/deep',
      '/home/ada/repo',
      ['/home/ada/repo/src/deep', '/home/ada/repo/src', '/home/ada/repo'],
    ],
    ['only the current one if that is the project', '/home/ada/repo', '/home/ada/repo', ['/home/ada/repo']],
    [
      'those below the home folder if there is no project',
      '/home/ada/a/b',
      undefined,
      ['/home/ada/a/b', '/home/ada/a'],
    ],
    ['none in the home folder', '/home/ada', undefined, []],
    ['only the current one outside the home folder', '/srv/app/src', undefined, ['/srv/app/src']],
    [
      'those up to a project outside the home folder',
      '/srv/app/src',
      '/srv/app',
      ['/srv/app/src', '/srv/app'],
    ],
  ])('are %s.', async (_, start, root, folders) => {
    const here = (folder: string): string => resolve(folder);
    expect(await projectFolders(here(start), root && here(root), here('/home/ada'))).toEqual(
      folders.map(here),
    );
  });
});
