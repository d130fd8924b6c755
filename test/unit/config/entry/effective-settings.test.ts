import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, REMOTE_POLICY } from '../../../../machines/policy/policy.js';
import {
  effectiveSettings,
  TIMEOUT_VARIABLE,
  type HostSettings,
  mayDownload,
} from '../../../../src/config/entry/effective-settings.js';
import type { ServerSettings, StdioServerConfig } from '../../../../src/config/entry/server-config.js';

const policyOf = (entry: ServerSettings & { readonly url?: string }, host?: HostSettings) =>
  effectiveSettings(entry, host).policy;

describe('the effective settings of a server', () => {
  it('are the defaults if nothing else is set', () => {
    expect(effectiveSettings({})).toEqual({
      enabled: true,
      tools: {},
      start: 'eager',
      callTimeoutMs: 60_000,
      maxConcurrentCalls: 0,
      protocol: 'auto',
      limits: {},
      retryCalls: 'safe',
      policy: DEFAULT_POLICY,
    });
    expect(effectiveSettings({}).tools).toBe(effectiveSettings({}).tools);
  });

  it('are those of the host, overridden by the entry', () => {
    const host = { retryCalls: 'never' } as const;
    expect(effectiveSettings({}, host).retryCalls).toBe('never');
    const own = { retryCalls: 'safe', callTimeoutMs: 5, enabled: false, isolation: 'shared' } as const;
    expect(effectiveSettings(own, host)).toMatchObject(own);
  });

  it('contain no field that starts or reaches the server', () => {
    const entry: StdioServerConfig = { type: 'stdio', command: 'x', inheritEnv: true };
    expect(effectiveSettings(entry)).toEqual(effectiveSettings({}));
  });
});

describe('the effective policy of a server', () => {
  it('is overridden number by number by the host, and then by the entry', () => {
    const own = { policy: { maxAttempts: 9, ping: { idleMs: 1 } } };
    const host = { maxAttempts: 2, stableMs: 7, ping: { timeoutMs: 3 }, stop: { drainMs: 0 } };
    expect(policyOf(own, { policy: host })).toEqual({
      ...DEFAULT_POLICY,
      maxAttempts: 9,
      stableMs: 7,
      ping: { idleMs: 1, timeoutMs: 3 },
      stop: { ...DEFAULT_POLICY.stop, drainMs: 0 },
    });
  });

  it('gives a remote server more attempts, unless the number of attempts is set', () => {
    const remote = { url: 'https://far.example/mcp' };
    expect(policyOf(remote)).toEqual({ ...DEFAULT_POLICY, ...REMOTE_POLICY });
    expect(policyOf({ ...remote, policy: { maxAttempts: 3 } })).not.toHaveProperty('maxAttemptsOnceReady');
    expect(policyOf(remote, { policy: { maxAttempts: 3 } })).not.toHaveProperty('maxAttemptsOnceReady');
    const both = { maxAttempts: 3, maxAttemptsOnceReady: 7 };
    expect(policyOf({ ...remote, policy: both })).toMatchObject(both);
    expect(policyOf({ ...remote, policy: { exhausted: { callAfterMs: 1 } } }).exhausted).toEqual({
      ...REMOTE_POLICY.exhausted,
      callAfterMs: 1,
    });
  });

  it('treats a list of delays as a fixed schedule', () => {
    expect(policyOf({ policy: { backoff: [1, 2] } }).backoff).toEqual({ kind: 'fixed', delaysMs: [1, 2] });
    const kept = { kind: 'exponential', firstMs: 1, factor: 3, maxMs: 0 } as const;
    expect(policyOf({}, { policy: { backoff: kept } }).backoff).toEqual(kept);
  });

  it('uses the timeout of the entry for launch, handshake and list, overridden by the variable', () => {
    const limits = (entry: ServerSettings, variable?: string): number[] => {
      const policy = policyOf(entry, { env: { [TIMEOUT_VARIABLE]: variable } });
      return [policy.launchTimeoutMs, policy.handshakeTimeoutMs, policy.listTimeoutMs];
    };
    const entry = { startTimeoutMs: 5_000 };
    expect(limits(entry)).toEqual([5_000, 5_000, 5_000]);
    expect(limits(entry, '0')).toEqual([0, 0, 0]);
    expect(limits(entry, 'soon')).toEqual([5_000, 5_000, 5_000]);
    const precise = { ...entry, policy: { listTimeoutMs: 1 } };
    expect(limits(precise)).toEqual([5_000, 5_000, 1]);
    expect(limits(precise, '7')).toEqual([7, 7, 7]);
  });

  it('uses the idle time of the entry', () => {
    expect(policyOf({ idleStopMs: 60_000 }).idleStopMs).toBe(60_000);
  });
});

describe('a command', () => {
  it.each([
    ['npx', ['-y', 'files']],
    ['C:\\node\\npx.cmd', ['files']],
    ['/usr/bin/uvx', ['mcp-files']],
    ['npm', ['exec', '--', 'files']],
    ['pnpm', ['--silent', 'dlx', 'files']],
    ['bun', ['x', 'files']],
    ['uv', ['tool', 'run', 'files']],
    ['pipx', ['run', 'files']],
    ['docker', ['run', '-i', '--rm', 'files']],
    ['deno', ['run', '-A', 'npm:files']],
    ['cmd', ['/c', 'npx', '-y', 'files']],
  ])('may download its program: %s %j', (command, args) => {
    expect(mayDownload({ command, args })).toBe(true);
  });

  it.each([
    ['node', ['npx.js']],
    ['npm', ['start']],
    ['uv', ['pip', 'list']],
    ['docker', ['exec', 'files', 'serve']],
    ['deno', ['run', 'main.ts']],
    ['constructor', []],
  ])('starts an installed program: %s %j', (command, args) => {
    expect(mayDownload({ command, args })).toBe(false);
  });
});

describe('the limit of the handshake', () => {
  const limit = (...given: Parameters<typeof effectiveSettings>) =>
    effectiveSettings(...given).policy.handshakeTimeoutMs;
  const npx = { command: 'npx', args: ['files'] };

  it('is longer for a download, unless a limit is given', () => {
    const usual = limit({});
    expect(limit(npx)).toBeGreaterThan(usual);
    expect(limit({ ...npx, startTimeoutMs: 5 })).toBe(5);
    expect(limit(npx, { policy: { handshakeTimeoutMs: 7 } })).toBe(7);
    expect(limit({ ...npx, policy: { handshakeTimeoutMs: 9 } })).toBe(9);
    expect(limit(npx, { env: { TROUPE_TIMEOUT_MS: '11' } })).toBe(11);
  });
});
