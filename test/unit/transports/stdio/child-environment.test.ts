import { describe, expect, it } from 'vitest';
import { platformOf } from '../../../../src/platform/platform.js';
import { childEnvironment } from '../../../../src/transports/stdio/child-environment.js';

const host = {
  PATH: '/usr/bin',
  HOME: '/home/ada',
  LANG: 'en_GB.UTF-8',
  LC_TIME: 'de_DE.UTF-8',
  TMPDIR: '/var/tmp',
  TZ: 'Europe/Berlin',
  https_proxy: 'http://proxy:3128',
  NO_PROXY: 'localhost',
  NODE_EXTRA_CA_CERTS: '/etc/ca.pem',
  XDG_RUNTIME_DIR: '/run/user/1000',
  AWS_SECRET_ACCESS_KEY: 'secret',
  OPENAI_API_KEY: 'secret',
  NODE_OPTIONS: '--inspect',
  UNSET: undefined,
};

describe('the environment of a server', () => {
  it('contains common variables that programs need, and no secrets of the host', () => {
    const {
      AWS_SECRET_ACCESS_KEY: _,
      OPENAI_API_KEY: __,
      NODE_OPTIONS: ___,
      UNSET: ____,
      ...harmless
    } = host;
    expect(childEnvironment(host, {}, false, platformOf('linux'))).toEqual(harmless);
  });

  it("contains the entry's own variables, which override those of the host", () => {
    const env = childEnvironment(host, { HOME: '/srv', API_KEY: 'k' }, false, platformOf('linux'));
    expect(env).toMatchObject({ HOME: '/srv', API_KEY: 'k', PATH: '/usr/bin' });
  });

  it('contains additional host variables that the entry names', () => {
    const env = childEnvironment(host, {}, ['OPENAI_API_KEY', 'MISSING'], platformOf('linux'));
    expect(env).toMatchObject({ OPENAI_API_KEY: 'secret', PATH: '/usr/bin' });
    expect(env).not.toHaveProperty('AWS_SECRET_ACCESS_KEY');
    expect(env).not.toHaveProperty('MISSING');
  });

  it('contains all variables of the host only if the entry says so', () => {
    expect(childEnvironment(host, {}, true, platformOf('linux'))).toMatchObject({
      NODE_OPTIONS: '--inspect',
    });
  });

  it('never contains an exported shell function', () => {
    const shell = { TERM: '() { :; }', 'BASH_FUNC_x%%': '() { :; }' };
    expect(childEnvironment(shell, {}, true, platformOf('linux'))).toEqual({});
  });

  it('is case-sensitive outside Windows', () => {
    expect(childEnvironment({ path: '/x', home: '/y' }, {}, false, platformOf('linux'))).toEqual({});
  });

  it('is not case-sensitive on Windows, and never has one name twice', () => {
    const windows = {
      Path: 'C:\\bin',
      SystemRoot: 'C:\\Windows',
      'ProgramFiles(x86)': 'C:\\x86',
      Secret: 'x',
    };
    expect(childEnvironment(windows, { PATH: 'D:\\bin' }, ['SECRET'], platformOf('win32'))).toEqual({
      PATH: 'D:\\bin',
      SystemRoot: 'C:\\Windows',
      'ProgramFiles(x86)': 'C:\\x86',
      Secret: 'x',
    });
  });
});
