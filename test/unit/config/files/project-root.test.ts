import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProjectRoot, projectFolders } from '../../../../src/config/files/file-discovery.js';
import { useLeakCheck } from '../../../support/leak-check.js';

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

  it('is one whose mark is a link in a circle, so that somebody is told of it.', async () => {
    await mkdir(at('circle'));
    await symlink('.mcp.json', at('circle', '.mcp.json'));
    expect(await findProjectRoot(at('circle'), MARKS, home)).toBe(at('circle'));
  });

  it('is never the home folder, nor one above it.', async () => {
    expect(await findProjectRoot(home, MARKS, home)).toBeUndefined();
    expect(await findProjectRoot(at('loose', 'deep'), MARKS, home)).toBeUndefined();
    expect(await findProjectRoot(at('loose'), MARKS, at('loose'))).toBeUndefined();
  });

  it('is no folder that everybody puts files into: somebody else may have put them there.', async () => {
    await mkdir(at('shared', 'mine'), { recursive: true });
    await writeFile(at('shared', '.mcp.json'), '{}');
    await chmod(at('shared'), 0o777);
    expect(await findProjectRoot(at('shared', 'mine'), MARKS, home)).toBe(at('shared'));
    await chmod(at('shared'), 0o1777);
    expect(await findProjectRoot(at('shared', 'mine'), MARKS, home)).toBeUndefined();
    expect(await findProjectRoot(at('shared'), MARKS, home)).toBeUndefined();
    await writeFile(at('shared', 'mine', '.mcp.json'), '{}');
    expect(await findProjectRoot(at('shared', 'mine'), MARKS, home)).toBe(at('shared', 'mine'));
  });

  it('is looked for up to the top of the file system.', async () => {
    expect(await findProjectRoot(at('loose'), ['no-such-mark'], '/nowhere')).toBeUndefined();
    expect(await findProjectRoot(at('repo', 'gone', 'away'), MARKS, '/nowhere')).toBe(at('repo'));
    expect(await findProjectRoot(at('repo', 'packages'), MARKS, undefined)).toBe(at('repo'));
    expect(await findProjectRoot(at('loose'), ['no-such-mark'], undefined)).toBeUndefined();
  });
});

describe('the folders in which a project may begin', () => {
  it.each([
    [
      'up to the present one',
      '/home/ada/repo/src/deep',
      '/home/ada/repo',
      ['/home/ada/repo/src/deep', '/home/ada/repo/src', '/home/ada/repo'],
    ],
    ['its own where that is the project', '/home/ada/repo', '/home/ada/repo', ['/home/ada/repo']],
    [
      'up to below the home folder where there is none',
      '/home/ada/a/b',
      undefined,
      ['/home/ada/a/b', '/home/ada/a'],
    ],
    ['none where that is the home folder', '/home/ada', undefined, []],
    ['only its own where that is elsewhere', '/srv/app/src', undefined, ['/srv/app/src']],
    ['up to a project elsewhere', '/srv/app/src', '/srv/app', ['/srv/app/src', '/srv/app']],
  ])('are %s.', (_, start, root, folders) => {
    expect(projectFolders(start, root, '/home/ada')).toEqual(folders);
  });
});
