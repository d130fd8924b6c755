import { describe, expect, it } from 'vitest';
import { ConfigError, createTroupe, type TroupeOptions } from '../../../src/index.js';
import { useLeakCheck } from '../../support/leak-check.js';

const WRONG: readonly [field: string, options: unknown][] = [
  ['startGateMs', { startGateMs: Infinity }],
  ['maxConcurrentStarts', { maxConcurrentStarts: Number.NaN }],
  ['maxConcurrentStarts', { maxConcurrentStarts: 0 }],
  ['policy.maxAttempts', { policy: { maxAttempts: -1 } }],
  ['policy.nope', { policy: { nope: 1 } }],
  ['policy.ping.idleMs', { policy: { ping: { idleMs: 'soon' } } }],
  ['naming', { naming: 'zzz' }],
  ['cache', { cache: true }],
  ['retryCalls', { retryCalls: 'always' }],
  ['trust', { trust: 'bogus' }],
  ['config', { config: 5 }],
  ['config', { config: '' }],
  ['config', { config: { scope: 'project' } }],
  ['config[1].scope', { config: ['a.json', { path: 'b.json', scope: 'mine' }] }],
  ['discover', { discover: 'yes' }],
  ['discover.projects', { discover: { projects: false } }],
  ['discover.filter', { discover: { filter: 'none' } }],
  ['expansion.headers', { expansion: { headers: 'own' } }],
  ['expansion.missing', { expansion: { missing: true } }],
  ['askInput', { askInput: 'me' }],
  ['servers', { servers: new Map([['a', { command: 'node' }]]) }],
  ['servers', { servers: ['node'] }],
  ['clientInfo', { clientInfo: 'me' }],
  ['clientInfo', { clientInfo: { name: 'me' } }],
  ['capabilities', { capabilities: 5 }],
  ['env', { env: 'A=5' }],
  ['logger', { logger: () => {} }],
  ['logger', { logger: {} }],
  ['clock', { clock: Date }],
  ['clock', { clock: {} }],
  ['mcpServers', { mcpServers: { a: { command: 'node' } } }],
];

describe('createTroupe', () => {
  useLeakCheck();

  it.each(WRONG)('refuses a wrong %s by name', (field, options) => {
    const make = () => createTroupe(options as TroupeOptions);
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(`'${field}'`);
  });

  it.each(['server', 'mcpServers'])('suggests the option that %s probably means', (name) => {
    const make = () => createTroupe({ [name]: {} });
    expect(make).toThrow(new RegExp(`'${name}'.*'servers'`));
  });

  it('refuses anything but an object', () => {
    expect(() => createTroupe(null as unknown as TroupeOptions)).toThrow(ConfigError);
  });

  it('names every wrong option at once', () => {
    const make = () => createTroupe({ maxConcurrentStarts: 0, startGateMs: -1 });
    expect(make).toThrow(/maxConcurrentStarts.*startGateMs/);
  });

  it('accepts every valid option', () => {
    const options: TroupeOptions = {
      config: ['a.json', 'b.json'],
      policy: { backoff: [1, 2], ping: { idleMs: 0 } },
      trust: () => true,
      naming: '{tool}',
      retryCalls: 'never',
      maxConcurrentStarts: 1,
      startGateMs: 0,
      seed: 0.5,
      discover: { cwd: '.', project: true, user: false, filter: () => true, extensions: {} },
      expansion: { headers: 'own-env', missing: 'empty' },
      askInput: () => 'x',
    };
    expect(createTroupe(options).status).toEqual([]);
  });
});
