import { describe, expect, it } from 'vitest';
import { userFolder } from '../../../src/storage/folders.js';
import { isolatedUser, userVariables } from '../../support/user-variables.js';

describe('the tests', () => {
  it.each(['config', 'data', 'cache', 'log'] as const)('have a folder of their own: %s', async (kind) => {
    expect(await userFolder(kind)).toMatch(/troupe-tests-\d+/);
  });

  it.each([
    ['linux', ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'XDG_STATE_HOME']],
    ['win32', ['APPDATA', 'LOCALAPPDATA']],
    ['darwin', ['HOME']],
  ] as const)('move what decides about the folders of a user on %s.', (platform, names) => {
    const variables = isolatedUser('/tests', platform);
    for (const name of names) expect(variables[name]).toMatch(/^\/tests\//);
  });

  it('move the home folder only if they say so, or if the system knows nothing else.', () => {
    expect(userVariables({ config: '/c' }, 'linux')).not.toHaveProperty('HOME');
    expect(userVariables({ config: '/c' }, 'darwin')).toHaveProperty('HOME', '/c');
    expect(userVariables({ home: '/h', config: '/c' }, 'darwin')).toHaveProperty('HOME', '/h');
  });
});
