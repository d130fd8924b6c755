import { describe, expect, it } from 'vitest';
import { platformOf } from '../../../../src/platform/platform.js';
import { missingCommand, spawnFailure } from '../../../../src/transports/stdio/spawn-server.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const windows = platformOf('win32');

describe('a command on Windows', () => {
  const env = { Path: 'C:\\tools' };

  it('that is missing is reported as on other systems, with what to do', async () => {
    const spec = { command: 'lamp', env };
    const error = await missingCommand(spec, windows, async () => false);
    expect(error?.code).toBe('ENOENT');
    expect(await spawnFailure(error, spec, windows)).toMatchObject({
      code: 'command-not-found',
      message: expect.stringContaining("'lamp'"),
      hint: expect.stringContaining('PATH'),
    });
  });

  it('that is found is not reported', async () => {
    const isFile = async (path: string): Promise<boolean> => path === 'C:\\tools\\lamp.CMD';
    expect(await missingCommand({ command: 'lamp', env }, windows, isFile)).toBeUndefined();
  });

  it('with arguments that are too long is told so, under the code that Windows has for it', async () => {
    const error = Object.assign(new Error(), { code: 'ENAMETOOLONG' });
    expect(await spawnFailure(error, { command: 'lamp', env }, windows)).toMatchObject({
      code: 'spawn-failed',
      hint: expect.stringContaining('longer'),
    });
  });

  it('with a backslash is read as a path', async () => {
    const spec = { command: '.\\bin\\lamp', env, cwd: '/' };
    const error = Object.assign(new Error(), { code: 'ENOENT' });
    expect((await spawnFailure(error, { ...spec, cwd: process.cwd() }, windows)).hint).toMatch(
      /backslash.*bin\\lamp/,
    );
  });
});

describe('a command that is missing on macOS', () => {
  const hintWith = async (PATH: string): Promise<string | undefined> => {
    const error = Object.assign(new Error(), { code: 'ENOENT' });
    const spec = { command: 'npx', env: { PATH } };
    return (await spawnFailure(error, spec, platformOf('darwin'))).hint;
  };

  it('may be missing because the host was started from the desktop', async () => {
    expect(await hintWith('/usr/bin:/bin:/usr/sbin:/sbin')).toMatch(/desktop.*PATH/);
    expect(await hintWith('/opt/homebrew/bin:/usr/bin')).not.toMatch(/desktop/);
  });
});
