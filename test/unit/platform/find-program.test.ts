import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProgram, isPath, programPlaces, variable } from '../../../src/platform/find-program.js';
import { platformOf } from '../../../src/platform/platform.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

const windows = platformOf('win32');

/** Looks in a file system of Windows that has these files. */
function onWindows(command: string, env: Record<string, string>, ...files: string[]) {
  const isFile = async (path: string): Promise<boolean> => files.includes(path);
  return findProgram(command, { cwd: 'C:\\work', env, platform: windows, isFile });
}

describe('the program of a command on Windows', () => {
  const env = { Path: 'C:\\tools;"C:\\Program Files\\node"' };

  it('is found with the endings of programs, in any spelling of PATH and in a folder in quotes', async () => {
    expect(await onWindows('npx', env, 'C:\\Program Files\\node\\npx.CMD')).toBe(
      'C:\\Program Files\\node\\npx.CMD',
    );
    expect(await onWindows('node.exe', env, 'C:\\tools\\node.exe')).toBe('C:\\tools\\node.exe');
  });

  it('is looked for in the working folder first, and with the endings in PATHEXT', async () => {
    const both = ['C:\\tools\\lamp.PY', 'C:\\work\\lamp.PY'];
    expect(await onWindows('lamp', { ...env, PATHEXT: '.PY' }, ...both)).toBe('C:\\work\\lamp.PY');
    expect(await onWindows('lamp', env, ...both)).toBeUndefined();
  });

  it('can be a script without an ending', async () => {
    expect(await onWindows('lamp', env, 'C:\\tools\\lamp')).toBe('C:\\tools\\lamp');
  });

  it.each(['.\\bin\\lamp', './bin/lamp', 'C:\\work\\bin\\lamp', 'C:bin\\lamp'])(
    'is not looked for in PATH if the command is a path: %s',
    (command) => {
      const places = programPlaces(command, { cwd: 'C:\\work', env, platform: windows });
      expect(places).toContain('C:\\work\\bin\\lamp.EXE');
      expect(places.some((place) => place.startsWith('C:\\tools'))).toBe(false);
    },
  );
});

describe('the program of a command', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'find-program-'));
    writeFileSync(join(folder, 'lamp'), '');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is found in PATH, where an empty part is the working folder', async () => {
    const lamp = join(folder, 'lamp');
    const [PATH, withEmptyPart] = [['/nowhere', folder].join(delimiter), `/nowhere${delimiter}`];
    expect(await findProgram('lamp', { cwd: '/', env: { PATH } })).toBe(lamp);
    expect(await findProgram('lamp', { cwd: folder, env: { PATH: withEmptyPart } })).toBe(lamp);
    expect(await findProgram('lamp', { cwd: '/', env: { PATH: '/nowhere' } })).toBeUndefined();
    expect(await findProgram('/lamp', { cwd: folder, env: { PATH: folder } })).toBeUndefined();
  });

  it('is a file: a folder of that name is not one', async () => {
    expect(await findProgram(folder, { cwd: '/', env: {} })).toBeUndefined();
  });
});

it('a backslash makes a path on Windows only, and a variable has any case there only.', () => {
  expect([isPath('a\\b', windows), isPath('a\\b', platformOf('linux')), isPath('a/b')]).toEqual([
    true,
    false,
    true,
  ]);
  expect(variable('PATH', { Path: 'x' }, windows)).toBe('x');
  expect(variable('PATH', { Path: 'x' }, platformOf('linux'))).toBeUndefined();
});
