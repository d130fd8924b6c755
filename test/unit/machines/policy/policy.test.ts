import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../../../machines/policy/policy.js';

describe('the default policy of a connection', () => {
  it('has these numbers.', () => {
    expect(DEFAULT_POLICY).toStrictEqual({
      launchTimeoutMs: 30_000,
      handshakeTimeoutMs: 30_000,
      listTimeoutMs: 30_000,
      releaseTimeoutMs: 5_000,
      maxAttempts: 5,
      backoff: { kind: 'exponential', firstMs: 1_000, factor: 2, maxMs: 30_000 },
      intensity: { restarts: 5, periodMs: 30_000 },
      signIns: { restarts: 3, periodMs: 60_000 },
      maxUnreachable: 2,
      maxSubscriptionTries: 8,
      stableMs: 60_000,
      immediateRetryWindowMs: 60_000,
      exhausted: { callAfterMs: 30_000, remoteEveryMs: 60_000 },
      ping: { idleMs: 30_000, timeoutMs: 5_000 },
      listChanged: { debounceMs: 300, maxWaitMs: 2_000 },
      stop: { drainMs: 1_000, deleteMs: 2_000, stdinEndMs: 1_000, termMs: 1_000 },
      idleStopMs: 0,
    });
  });
});
