import { describe, expect, it } from 'vitest';
import type { ServerSpec } from '../../../src/config/entry/server-spec.js';
import { Lifetime } from '../../../src/lifecycle/lifetime.js';
import { createMemoryReviewStore } from '../../../src/review/review-store.js';
import { Reviews } from '../../../src/review/reviews.js';
import { toReviewedServer } from '../../../src/servers/server-entry.js';
import { NO_MASK } from '../../../src/secrets/secrets.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { tool } from '../../support/scripted-server.js';

const SPEC: ServerSpec = {
  name: 'fs',
  source: '.mcp.json',
  scope: 'given',
  shadows: [],
  baseDir: '/srv/a',
  config: { command: 'npx', args: ['-y', 'server-fs'], env: { ROOT: '${HOME}' } },
  hash: 'e',
};

const hashOf = (changes: Partial<ServerSpec>): string => toReviewedServer({ ...SPEC, ...changes })!.hash;
const withConfig = (config: object): string => hashOf({ config: { ...SPEC.config, ...config } });

describe('the identity of a server for its review', () => {
  it('has a hash of 64 digits and the name of the entry.', () => {
    const { server, hash } = toReviewedServer(SPEC)!;
    expect(server).toBe('fs');
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('differs for another name, program, arguments or variables.', () => {
    const hashes = [
      hashOf({}),
      hashOf({ name: 'files' }),
      withConfig({ command: 'node' }),
      withConfig({ args: ['-y', 'server-fs@2'] }),
      withConfig({ env: { ROOT: '/' } }),
      hashOf({ scope: 'project' }),
      hashOf({ scope: 'project', baseDir: '/srv/b' }),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it('is the same with other settings, from another file, and for a host that runs elsewhere.', () => {
    const settings = { enabled: true, tools: { deny: ['x'] }, callTimeoutMs: 1, policy: { maxAttempts: 1 } };
    expect(withConfig(settings)).toBe(hashOf({}));
    expect(hashOf({ source: 'options', baseDir: '/home/me' })).toBe(hashOf({}));
  });

  it('is undefined if the entry cannot be used.', () => {
    const refused = { name: 'fs', source: 'x', scope: 'given' as const, shadows: [] };
    const failure = { code: 'config-invalid' as const, message: 'no command' };
    expect(toReviewedServer({ ...refused, failure })).toBeUndefined();
    expect(toReviewedServer(undefined)).toBeUndefined();
  });
});

describe('another entry under the same name', () => {
  it('starts again: its first tools count as accepted, and former acceptances do not count.', async () => {
    let hash = 'a'.repeat(64);
    const reviews = new Reviews({
      mode: 'hold-changes',
      store: createMemoryReviewStore(),
      clock: createControlledClock(),
      publish: () => {},
      mask: () => NO_MASK,
      echoMask: () => NO_MASK,
      target: (server) => ({ server, hash }),
      filter: () => ({}),
      generation: () => 1,
      lifetime: new Lifetime(),
      changed: () => {},
    });
    const list = async (...tools: ReturnType<typeof tool>[]): Promise<string[]> => {
      reviews.listed('fs', tools);
      await reviews.judged('fs');
      return [...reviews.heldBack('fs')];
    };
    expect(await list(tool('read'))).toEqual([]);
    hash = 'b'.repeat(64);
    expect(await list(tool('read', { description: 'another' }))).toEqual([]);
    expect(await list(tool('read'))).toEqual(['read']);
    hash = 'a'.repeat(64);
    expect(await list(tool('read'))).toEqual([]);
    await reviews.close();
  });
});
