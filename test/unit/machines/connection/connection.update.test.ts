import { describe, expect, it } from 'vitest';
import type { ConnectionContext } from '../../../../machines/connection/connection.events.js';
import {
  beginAttempt,
  beginSession,
  crashLoop,
  discountAttempt,
  enterReady,
  fruitless,
  initialContext,
  isCrashLoop,
  isOutOfAttempts,
  isSignInFruitless,
  mayTryForCall,
  nextCallAttemptAt,
  planNetworkRetry,
  planRetry,
  planSlowRetry,
  recordFailure,
  recordOpened,
  recordReleased,
  recordSignIn,
  resetAttempts,
} from '../../../../machines/connection/connection.update.js';
import { jitterOver } from '../../../../machines/policy/backoff.js';
import type { Failure, FailurePhase, Verdict } from '../../../../machines/policy/failure.js';
import { DEFAULT_POLICY, type ConnectionPolicy } from '../../../../machines/policy/policy.js';
import { sampleFailure } from '../../../support/sample-failures.js';

const NOW = 1_000_000;

function contextWith(
  fields: Partial<ConnectionContext> = {},
  policy: Partial<ConnectionPolicy> = {},
): ConnectionContext {
  const input = {
    name: 'files',
    transport: 'stdio',
    policy: { ...DEFAULT_POLICY, ...policy },
    seed: 7,
    generation: 0,
    online: true,
    wanted: true,
    crash: null,
    isAttempted: false,
  } as const;
  return { ...initialContext(input), attempt: 1, ...fields };
}

function failed(phase: FailurePhase, how: Verdict = 'retry', details: Partial<Failure> = {}): Failure {
  return sampleFailure(how, phase, NOW, details);
}

const asked = (retryAfterMs: number): Partial<Failure> => ({ http: { status: 503, retryAfterMs } });

describe('planRetry', () => {
  it('retries at once after the first loss, and uses no random number for it.', () => {
    const plan = planRetry(contextWith(), failed('session'));
    expect(plan).toEqual({ attempt: 1, losses: [NOW], delayMs: 0, unasked: true });
  });

  it('backs off if another loss happened within the window, and retries at once again after it.', () => {
    const policy = { backoff: { kind: 'fixed', delaysMs: [700] } } as const;
    const within = contextWith({ losses: [NOW - 60_000] }, policy);
    const after = contextWith({ losses: [NOW - 60_001] }, policy);
    expect(planRetry(within, failed('session')).delayMs).toBe(700);
    expect(planRetry(after, failed('session')).delayMs).toBe(0);
  });

  it('counts a failed attempt permanently, and records no loss for it.', () => {
    const plan = planRetry(
      contextWith({}, { backoff: { kind: 'fixed', delaysMs: [700] } }),
      failed('launch'),
    );
    expect(plan.delayMs).toBe(700);
    expect(plan.losses).toEqual([]);
  });

  it('retries at once whenever a session only expired, but counts the loss.', () => {
    const plan = planRetry(contextWith({ losses: [NOW - 1_000] }), failed('session', 'renew'));
    expect(plan).toEqual({ attempt: 1, losses: [NOW - 1_000, NOW], delayMs: 0, unasked: true });
  });

  it('counts no attempt for a session that only expired, even on the last one.', () => {
    const last = contextWith({ attempt: 5 });
    expect(planRetry(last, failed('session', 'renew')).attempt).toBe(4);
    expect(planRetry(last, failed('session')).attempt).toBe(5);
  });

  it('backs off if sessions keep expiring, and counts no attempt for that.', () => {
    const losses = [NOW - 4, NOW - 3, NOW - 2, NOW - 1];
    const context = contextWith({ attempt: 5, losses }, { backoff: { kind: 'fixed', delaysMs: [700] } });
    expect(planRetry(context, failed('session', 'renew'))).toMatchObject({ attempt: 4, delayMs: 700 });
  });

  it('backs off when a session expired before it was ready.', () => {
    const context = contextWith({}, { backoff: { kind: 'fixed', delaysMs: [700] } });
    expect(planRetry(context, failed('handshake', 'renew')).delayMs).toBe(700);
  });

  it.each([1, 2, 3, 4])('jitters over a span that doubles with attempt %i.', (attempt) => {
    const span = 1_000 * 2 ** (attempt - 1);
    const delays = Array.from({ length: 200 }, (_, seed) => {
      return planRetry(contextWith({ attempt, seed }), failed('launch')).delayMs!;
    });
    expect(Math.max(...delays)).toBeLessThanOrEqual(span);
    expect(Math.max(...delays)).toBeGreaterThan(0.9 * span);
    expect(Math.min(...delays)).toBeLessThan(0.1 * span);
  });

  it('gives the same delay for the same seed, and returns the next seed.', () => {
    const first = planRetry(contextWith(), failed('launch'));
    expect(planRetry(contextWith(), failed('launch'))).toEqual(first);
    expect(first.seed).not.toBe(contextWith().seed);
    const second = planRetry(contextWith({ ...first }), failed('launch'));
    expect(second.delayMs).not.toBe(first.delayMs);
  });

  it('walks through a fixed schedule and repeats its last delay.', () => {
    const policy = { backoff: { kind: 'fixed', delaysMs: [2_000, 5_000, 15_000] } } as const;
    const delays = [1, 2, 3, 4].map((attempt) =>
      planRetry(contextWith({ attempt }, policy), failed('launch')),
    );
    expect(delays.map(({ delayMs }) => delayMs)).toEqual([2_000, 5_000, 15_000, 15_000]);
  });

  it('starts the schedule anew for a loss after a stable time.', () => {
    const policy = { backoff: { kind: 'fixed', delaysMs: [2_000, 5_000] } } as const;
    const context = contextWith({ attempt: 0, losses: [NOW - 1] }, policy);
    expect(planRetry(context, failed('session')).delayMs).toBe(2_000);
  });

  it('waits as long as the server asks, even if it would have tried at once.', () => {
    expect(planRetry(contextWith(), failed('launch', 'retry', asked(45_000))).delayMs).toBe(45_000);
    expect(planRetry(contextWith(), failed('session', 'retry', asked(45_000))).delayMs).toBe(45_000);
  });

  it('waits the backoff if the server asks for less, and five minutes if it asks for more.', () => {
    const policy = { backoff: { kind: 'fixed', delaysMs: [9_000] } } as const;
    expect(planRetry(contextWith({}, policy), failed('launch', 'retry', asked(10))).delayMs).toBe(9_000);
    expect(planRetry(contextWith(), failed('launch', 'retry', asked(86_400_000))).delayMs).toBe(300_000);
  });

  it('remembers only as many losses as its rules need.', () => {
    const losses = [NOW - 90_000, NOW - 50_000, NOW - 40_000, NOW - 30_000, NOW - 20_000, NOW - 10_000];
    expect(planRetry(contextWith({ losses }), failed('session')).losses).toEqual([...losses.slice(2), NOW]);
    const unlimited = { intensity: { restarts: 0, periodMs: 30_000 } };
    expect(planRetry(contextWith({ losses }, unlimited), failed('session')).losses).toEqual([NOW]);
  });
});

describe('isOutOfAttempts', () => {
  it('holds with the last attempt of the round, not before.', () => {
    const isOver = [1, 2, 3, 4, 5, 6].map((attempt) =>
      isOutOfAttempts(contextWith({ attempt }), failed('launch')),
    );
    expect(isOver).toEqual([false, false, false, false, true, true]);
  });

  it('never holds for a usable session that only expired; one that expires before it is usable counts.', () => {
    const last = contextWith({ attempt: 5 });
    expect(isOutOfAttempts(last, failed('session', 'renew'))).toBe(false);
    expect(isOutOfAttempts(last, failed('session'))).toBe(true);
    expect(isOutOfAttempts(last, failed('handshake', 'renew'))).toBe(true);
  });
});

describe('isCrashLoop', () => {
  it('holds with the fifth loss within 30 s, whatever the attempts.', () => {
    const losses = [NOW - 30_000, NOW - 20_000, NOW - 10_000, NOW - 5_000];
    const results = [losses, losses.slice(1), [NOW - 30_001, ...losses.slice(1)]].map((each) =>
      isCrashLoop(contextWith({ attempt: 0, losses: each }), failed('session')),
    );
    expect(results).toEqual([true, false, false]);
  });

  it('counts neither an attempt that failed nor a session that only expired.', () => {
    const context = contextWith({ losses: [NOW - 4, NOW - 3, NOW - 2, NOW - 1] });
    expect(isCrashLoop(context, failed('launch'))).toBe(false);
    expect(isCrashLoop(context, failed('session', 'renew'))).toBe(false);
    expect(isCrashLoop(context, failed('session', 'permanent'))).toBe(true);
  });

  it('never applies if the intensity has no limit.', () => {
    const context = contextWith(
      { losses: [NOW, NOW, NOW] },
      { intensity: { restarts: 0, periodMs: 30_000 } },
    );
    expect(isCrashLoop(context, failed('session'))).toBe(false);
  });

  it('is explained by the last failure.', () => {
    const exit = { code: 3, signal: null };
    const failure = failed('session', 'retry', { message: 'It ended with code 3.', exit });
    expect(crashLoop(contextWith(), failure)).toEqual({
      code: 'crash-loop',
      message: expect.stringMatching(/5 .*30 s.*It ended with code 3\./) as unknown,
      phase: 'session',
      at: NOW,
      exit,
      hint: expect.any(String) as unknown,
    });
  });

  it('is explained in whole seconds, to the nearest.', () => {
    const intensity = { restarts: 1, periodMs: 30_500 };
    const { message } = crashLoop(contextWith({}, { intensity }), failed('session'));
    expect(message).toContain(' 31 s');
  });
});

describe('a sign-in', () => {
  const signIns = { restarts: 2, periodMs: 1_000 };

  it('gives back the attempt that needed it, and never more than there were.', () => {
    expect(discountAttempt(contextWith({ attempt: 2 }))).toEqual({ attempt: 1 });
    expect(discountAttempt(contextWith({ attempt: 0 }))).toEqual({ attempt: 0 });
  });

  it('is remembered with its time, as long as it may count.', () => {
    const context = contextWith({ signIns: [NOW - 1_001, NOW - 1_000] }, { signIns });
    expect(recordSignIn(context, NOW)).toEqual({ at: NOW, signIns: [NOW - 1_000, NOW] });
  });

  it('is fruitless if as many as the policy allows were completed within its period.', () => {
    const results = [[], [NOW - 1], [NOW - 1_000, NOW - 1], [NOW - 1_001, NOW - 1]].map((times) =>
      isSignInFruitless(contextWith({ signIns: times }, { signIns }), failed('handshake', 'authorize')),
    );
    expect(results).toEqual([false, false, true, false]);
  });

  it('is never fruitless if the policy has no limit.', () => {
    const context = contextWith({ signIns: [NOW, NOW, NOW] }, { signIns: { restarts: 0, periodMs: 1_000 } });
    expect(isSignInFruitless(context, failed('handshake', 'authorize'))).toBe(false);
  });

  it('that was fruitless too often is explained with a count.', () => {
    const failure = fruitless(contextWith({}, { signIns }), failed('handshake', 'authorize'));
    expect(failure).toMatchObject({ code: 'auth-required', phase: 'handshake', at: NOW });
    expect(failure.message).toMatch(/'files'.* 2 .* 1 s/);
  });

  it('that was fruitless too often is explained in whole seconds, to the nearest.', () => {
    const context = contextWith({}, { signIns: { restarts: 2, periodMs: 30_500 } });
    expect(fruitless(context, failed('handshake', 'authorize')).message).toContain(' 31 s');
  });
});

describe('the end of a session', () => {
  it('clears the session to retire and sets its time.', () => {
    expect(recordReleased(NOW)).toEqual({ at: NOW, retiring: null });
  });

  it('by a failure records that failure, and its time.', () => {
    const failure = failed('session');
    expect(recordFailure(failure)).toEqual({ failure, at: NOW });
  });
});

describe('a round that is over', () => {
  it('continues for a call once the failure is old enough, even if the clock was set back.', () => {
    const context = contextWith(
      { failure: failed('launch') },
      { exhausted: { callAfterMs: 5, remoteEveryMs: 0 } },
    );
    const mayTry = [NOW + 4, NOW + 5, NOW - 4, NOW - 5].map((at) => mayTryForCall(context, at));
    expect(mayTry).toEqual([false, true, false, true]);
    expect(nextCallAttemptAt(context)).toBe(NOW + 5);
    expect(mayTryForCall(contextWith({ failure: null }), NOW)).toBe(false);
  });

  it('continues around the period of the slow timer, and returns the next seed.', () => {
    const exhausted = { callAfterMs: 0, remoteEveryMs: 10 };
    const context = contextWith({ at: NOW, seed: 3 }, { exhausted });
    const { delayMs, seed } = jitterOver(5, 3);
    expect(planSlowRetry(context)).toEqual({ delayMs: 8 + delayMs, seed });
  });
});

describe('a round of attempts', () => {
  const resolved = { kind: 'resolved', startedAt: NOW - 20, at: NOW } as const;

  it('counts each attempt, up to the limit, and the connection is needed from then on.', () => {
    const begin = (attempt: number) => beginAttempt(contextWith({ attempt, wanted: false }), resolved);
    expect(begin(2)).toEqual({ attempt: 3, wanted: true, next: null, at: NOW });
    expect(begin(5)).toMatchObject({ attempt: 5 });
  });

  it('uses the current entry.', () => {
    const next = { transport: 'http', policy: { ...DEFAULT_POLICY, maxAttempts: 9 } } as const;
    expect(beginAttempt(contextWith({ next }), resolved)).toMatchObject({ ...next, next: null });
  });

  it('gives each session a new generation.', () => {
    const context = contextWith({ generation: 3, issued: 5 });
    expect(beginSession(context)).toEqual({ generation: 6, issued: 6 });
  });

  it('remembers the transport: a fallback is not tried in vain again.', () => {
    const opened = { transport: 'sse', pid: null, url: 'https://a.example/sse' } as const;
    expect(recordOpened({ ...opened, startedAt: NOW, at: NOW })).toEqual({
      transport: 'sse',
      url: 'https://a.example/sse',
      at: NOW,
    });
  });

  it('remembers where the server was ready, and clears the last failure.', () => {
    const url = 'https://a.example/mcp';
    const context = contextWith({ url, failure: failed('launch'), delayMs: 9, unasked: true });
    expect(enterReady(context)).toMatchObject({
      provenUrl: url,
      failure: null,
      delayMs: 0,
      unasked: false,
    });
    expect(enterReady(contextWith({ provenUrl: url })).provenUrl).toBe(url);
  });

  it('starts over: no attempts, no losses, no sign-ins and no delay.', () => {
    expect(resetAttempts()).toEqual({ attempt: 0, losses: [], signIns: [], delayMs: 0, unasked: false });
  });
});

describe('planNetworkRetry', () => {
  it('spreads the attempts of different servers over two seconds, and is the same for the same seed.', () => {
    const delays = Array.from(
      { length: 100 },
      (_, seed) => planNetworkRetry(contextWith({ seed }), NOW).delayMs!,
    );
    expect(new Set(delays).size).toBeGreaterThan(90);
    expect(Math.max(...delays)).toBeLessThanOrEqual(2_000);
    expect(Math.max(...delays)).toBeGreaterThan(1_800);
    expect(planNetworkRetry(contextWith(), NOW)).toEqual(planNetworkRetry(contextWith(), NOW));
  });
});
