import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../machines/policy/policy.js';
import { policyOf, TIMEOUT_VARIABLE } from '../../src/policy.js';

const ENTRY = { command: 'x' };

describe('the numbers a server lives by', () => {
  it('are the defaults where nobody says otherwise', () => {
    expect(policyOf(ENTRY)).toEqual(DEFAULT_POLICY);
  });

  it('are overridden one by one by the host, and by the entry over that', () => {
    const own = { ...ENTRY, policy: { maxAttempts: 9, ping: { idleMs: 1 } } };
    const policy = policyOf(own, {
      maxAttempts: 2,
      stableMs: 7,
      ping: { timeoutMs: 3 },
      stop: { drainMs: 0 },
    });
    expect(policy).toEqual({
      ...DEFAULT_POLICY,
      maxAttempts: 9,
      stableMs: 7,
      ping: { idleMs: 1, timeoutMs: 3 },
      stop: { ...DEFAULT_POLICY.stop, drainMs: 0 },
    });
  });

  it('take a list of delays for a fixed schedule', () => {
    expect(policyOf({ ...ENTRY, policy: { backoff: [1, 2] } }).backoff).toEqual({
      kind: 'fixed',
      delaysMs: [1, 2],
    });
    const kept = { kind: 'exponential', firstMs: 1, factor: 3, maxMs: 0 } as const;
    expect(policyOf(ENTRY, { backoff: kept }).backoff).toEqual(kept);
  });

  it('take the timeout of the entry for launch, handshake and list, and the variable over that', () => {
    const limits = (policy: ReturnType<typeof policyOf>): number[] => [
      policy.launchTimeoutMs,
      policy.handshakeTimeoutMs,
      policy.listTimeoutMs,
    ];
    const entry = { ...ENTRY, timeout: 5_000 };
    expect(limits(policyOf(entry))).toEqual([5_000, 5_000, 5_000]);
    expect(limits(policyOf(entry, {}, { [TIMEOUT_VARIABLE]: '0' }))).toEqual([0, 0, 0]);
    expect(limits(policyOf(entry, {}, { [TIMEOUT_VARIABLE]: 'soon' }))).toEqual([5_000, 5_000, 5_000]);
    const precise = { ...entry, policy: { listTimeoutMs: 1 } };
    expect(limits(policyOf(precise))).toEqual([5_000, 5_000, 1]);
    expect(limits(policyOf(precise, {}, { [TIMEOUT_VARIABLE]: '7' }))).toEqual([7, 7, 7]);
  });

  it('take the idle time of the entry', () => {
    expect(policyOf({ ...ENTRY, idleStopMs: 60_000 }).idleStopMs).toBe(60_000);
  });
});
