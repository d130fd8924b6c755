import { describe, expect, it } from 'vitest';
import { joinServeChain } from '../../../src/cli/serve-chain.js';
import { ConfigError } from '../../../src/errors.js';
import { childEnvironment } from '../../../src/transports/stdio/child-environment.js';

const FOUND = { config: [], add: [] };
const added = (command: string) => [{ name: 'a', config: { command } }];
/** The environment that a gateway passes to the servers that it starts. */
const behind = (flags: Parameters<typeof joinServeChain>[0], cwd: string, host = {}) => {
  const env: Record<string, string | undefined> = { ...host };
  joinServeChain(flags, env, cwd);
  return childEnvironment(env);
};

describe('a gateway behind a gateway', () => {
  it.each([
    ['the same discovered files', FOUND, '/srv/app', FOUND, '/srv/app'],
    [
      'the same file',
      { config: ['a.json'], add: [] },
      '/srv/app',
      { config: ['../srv/app/a.json'], add: [] },
      '/x',
    ],
    [
      'the same --add flags',
      { config: [], add: added('x') },
      '/srv/app',
      { config: [], add: added('x') },
      '/y',
    ],
  ])('is refused for %s.', (_, first, there, second, here) => {
    const env = behind(first, there);
    expect(() => joinServeChain(second, { ...env }, here)).toThrow(ConfigError);
    expect(() => joinServeChain(second, behind({ config: ['b.json'], add: [] }, here, env), here)).toThrow(
      ConfigError,
    );
  });

  it.each([
    ['another folder', FOUND, '/srv/app', FOUND, '/srv/app/sub'],
    [
      'another file',
      { config: ['a.json'], add: [] },
      '/srv/app',
      { config: ['b.json'], add: [] },
      '/srv/app',
    ],
    [
      'a file instead of the discovered files',
      FOUND,
      '/srv/app',
      { config: ['a.json'], add: [] },
      '/srv/app',
    ],
    [
      'another server',
      { config: [], add: added('x') },
      '/srv/app',
      { config: [], add: added('y') },
      '/srv/app',
    ],
  ])('is started like any other server for %s.', (_, first, there, second, here) => {
    expect(() => behind(second, here, behind(first, there))).not.toThrow();
  });

  it('is not refused once the first gateway has ended.', () => {
    const env = { PATH: '/bin' };
    joinServeChain(FOUND, env, '/srv/app')();
    expect(env).toEqual({ PATH: '/bin' });
    const inner: Record<string, string | undefined> = behind(FOUND, '/srv/app');
    const before = { ...inner };
    joinServeChain(FOUND, inner, '/elsewhere')();
    expect(inner).toEqual(before);
  });
});
