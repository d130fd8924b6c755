import { describe, expect, it } from 'vitest';
import type { ConnectionContext } from '../../machines/connection.events.js';
import {
  beginAttempt,
  beginShutdown,
  initialContext,
  isExhausted,
  mayTryForCall,
  mustGiveUp,
  newRound,
  planNetworkRetry,
  planRetry,
  planSlowRetry,
  recordClosed,
  recordFailure,
  recordHandshake,
  recordListed,
  recordOpened,
  recordRefreshed,
} from '../../machines/connection.update.js';
import { jitterOver } from '../../machines/policy/backoff.js';
import type { Failure, FailurePhase, Verdict } from '../../machines/policy/failure.js';
import { DEFAULT_POLICY, type ConnectionPolicy } from '../../machines/policy/policy.js';
import { sampleFailure, VERDICTS } from '../support/sample-failures.js';

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
    cached: false,
  } as const;
  return { ...initialContext(input), attempt: 1, ...fields };
}

function failed(phase: FailurePhase, how: Verdict = 'retry', details: Partial<Failure> = {}): Failure {
  return sampleFailure(how, phase, NOW, details);
}

const asked = (retryAfterMs: number): Partial<Failure> => ({ http: { status: 503, retryAfterMs } });

describe('planRetry', () => {
  it('tries at once after the first loss, and draws nothing from the seed for it.', () => {
    const plan = planRetry(contextWith(), failed('session'));
    expect(plan).toEqual({ attempt: 1, losses: [NOW], delayMs: 0, unasked: true });
  });

  it('backs off when another loss happened within the window, and tries at once again after it.', () => {
    const policy = { backoff: { kind: 'fixed', delaysMs: [700] } } as const;
    const within = contextWith({ losses: [NOW - 60_000] }, policy);
    const after = contextWith({ losses: [NOW - 60_001] }, policy);
    expect(planRetry(within, failed('session')).delayMs).toBe(700);
    expect(planRetry(after, failed('session')).delayMs).toBe(0);
  });

  it('never forgives an attempt that failed, and remembers no loss for it.', () => {
    const plan = planRetry(
      contextWith({}, { backoff: { kind: 'fixed', delaysMs: [700] } }),
      failed('launch'),
    );
    expect(plan.delayMs).toBe(700);
    expect(plan.losses).toEqual([]);
  });

  it('tries at once whenever a session only expired, and counts the loss nevertheless.', () => {
    const plan = planRetry(contextWith({ losses: [NOW - 1_000] }), failed('session', 'renew'));
    expect(plan).toEqual({ attempt: 1, losses: [NOW - 1_000, NOW], delayMs: 0, unasked: true });
  });

  it('takes no attempt for a session that only expired, even on the last one.', () => {
    const last = contextWith({ attempt: 5 });
    expect(mustGiveUp(last, failed('session', 'renew'))).toBe(false);
    expect(planRetry(last, failed('session', 'renew')).attempt).toBe(4);
    expect(planRetry(last, failed('session')).attempt).toBe(5);
    expect(mustGiveUp(last, failed('session'))).toBe(true);
    expect(mustGiveUp(last, failed('handshake', 'renew'))).toBe(true);
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

  it('gives the same delay for the same seed, and hands on the next seed.', () => {
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

  it('waits as long as the server asks, even where it would have tried at once.', () => {
    expect(planRetry(contextWith(), failed('launch', 'retry', asked(45_000))).delayMs).toBe(45_000);
    expect(planRetry(contextWith(), failed('session', 'retry', asked(45_000))).delayMs).toBe(45_000);
  });

  it('waits the backoff where the server asks for less, and five minutes where it asks for more.', () => {
    const policy = { backoff: { kind: 'fixed', delaysMs: [9_000] } } as const;
    expect(planRetry(contextWith({}, policy), failed('launch', 'retry', asked(10))).delayMs).toBe(9_000);
    expect(planRetry(contextWith(), failed('launch', 'retry', asked(86_400_000))).delayMs).toBe(300_000);
  });

  it('remembers no more losses than its rules look at.', () => {
    const losses = [NOW - 90_000, NOW - 50_000, NOW - 40_000, NOW - 30_000, NOW - 20_000, NOW - 10_000];
    expect(planRetry(contextWith({ losses }), failed('session')).losses).toEqual([...losses.slice(2), NOW]);
    const unlimited = { intensity: { restarts: 0, periodMs: 30_000 } };
    expect(planRetry(contextWith({ losses }, unlimited), failed('session')).losses).toEqual([NOW]);
  });
});

describe('mustGiveUp', () => {
  it.each(VERDICTS)("gives up at once only for a permanent failure: '%s'.", (how) => {
    expect(mustGiveUp(contextWith(), failed('launch', how))).toBe(how === 'permanent');
  });

  it('gives up with the last attempt of the round, not before.', () => {
    const isOver = [1, 2, 3, 4, 5, 6].map((attempt) =>
      mustGiveUp(contextWith({ attempt }), failed('launch')),
    );
    expect(isOver).toEqual([false, false, false, false, true, true]);
  });

  it('gives up with the fifth loss within 30 s, whatever the attempts.', () => {
    const losses = [NOW - 30_000, NOW - 20_000, NOW - 10_000, NOW - 5_000];
    expect(mustGiveUp(contextWith({ attempt: 0, losses }), failed('session'))).toBe(true);
    expect(mustGiveUp(contextWith({ attempt: 0, losses: losses.slice(1) }), failed('session'))).toBe(false);
    expect(mustGiveUp(contextWith({ losses: [NOW - 30_001, ...losses.slice(1)] }), failed('session'))).toBe(
      false,
    );
  });

  it('counts no attempt that failed as a loss.', () => {
    const losses = [NOW - 4, NOW - 3, NOW - 2, NOW - 1];
    expect(mustGiveUp(contextWith({ losses }), failed('launch'))).toBe(false);
  });

  it('knows no crash loop where the intensity is without a limit.', () => {
    const context = contextWith(
      { losses: [NOW, NOW, NOW] },
      { intensity: { restarts: 0, periodMs: 30_000 } },
    );
    expect(mustGiveUp(context, failed('session'))).toBe(false);
  });
});

describe('recordFailure', () => {
  it('keeps the failure as it is, and how the process ended until one ends in another way.', () => {
    const exit = { code: 3, signal: null };
    const first = recordFailure(contextWith({ pid: 12 }), failed('session', 'retry', { exit }));
    expect(first).toMatchObject({ failure: { code: 'connection-lost' }, lastExit: exit, pid: null, at: NOW });
    expect(recordFailure(contextWith({ lastExit: exit }), failed('launch')).lastExit).toEqual(exit);
  });

  it('tells a crash loop with what happened last.', () => {
    const losses = [NOW - 4, NOW - 3, NOW - 2, NOW - 1];
    const { failure } = recordFailure(
      contextWith({ losses }),
      failed('session', 'retry', { message: 'It ended with code 3.', exit: { code: 3, signal: null } }),
    );
    expect(failure).toEqual({
      code: 'crash-loop',
      message: 'Lost 5 times within 30 s and given up; the last time: It ended with code 3.',
      phase: 'session',
      at: NOW,
      exit: { code: 3, signal: null },
      hint: 'Find out why the server ends, then retry by hand.',
    });
  });
});

describe('the end of a session', () => {
  it('that was asked for leaves nothing behind, and no failure of before.', () => {
    expect(recordClosed(NOW)).toEqual({ at: NOW, pid: null, released: true, retiring: null, failure: null });
  });

  it('is told in whole seconds, to the nearest, where it ended too often.', () => {
    const intensity = { restarts: 1, periodMs: 30_500 };
    const { failure } = recordFailure(contextWith({}, { intensity }), failed('session'));
    expect(failure?.message).toMatch(/^Lost 1 times within 31 s/);
  });
});

describe('a round that is over', () => {
  it.each(VERDICTS)("may go on later for a cause that may pass alone: '%s'.", (how) => {
    const failure = failed('launch', how);
    expect(isExhausted(contextWith({ failure }))).toBe(how === 'retry' || how === 'renew');
  });

  it('has a failure.', () => {
    expect(isExhausted(contextWith({ failure: null }))).toBe(false);
  });

  it('goes on for a call once the failure is old enough, also where the clock was set back.', () => {
    const context = contextWith(
      { failure: failed('launch') },
      { exhausted: { callAfterMs: 5, remoteEveryMs: 0 } },
    );
    const mayTry = [NOW + 4, NOW + 5, NOW - 4, NOW - 5].map((at) => mayTryForCall(context, at));
    expect(mayTry).toEqual([false, true, false, true]);
  });

  it('goes on around the period of the slow clock, and hands on the next seed.', () => {
    const exhausted = { callAfterMs: 0, remoteEveryMs: 10 };
    const context = contextWith({ at: NOW, seed: 3 }, { exhausted });
    const { delayMs, seed } = jitterOver(5, 3);
    expect(planSlowRetry(context)).toEqual({ delayMs: 8 + delayMs, seed, nextAttemptAt: NOW + 8 + delayMs });
  });
});

describe('a round of attempts', () => {
  it('counts each attempt and forgets the times of the one before.', () => {
    const timings = { configuringMs: 1, queuedMs: 2, launchingMs: 3, handshakingMs: 4, listingMs: 5 };
    const update = beginAttempt(contextWith({ attempt: 2, timings, nextAttemptAt: NOW }), {
      kind: 'resolved',
      hash: 'config-2',
      startedAt: NOW - 20,
      at: NOW,
    });
    expect(update).toMatchObject({ at: NOW, attempt: 3, configHash: 'config-2', nextAttemptAt: null });
    expect(update.timings).toEqual({
      configuringMs: 20,
      queuedMs: null,
      launchingMs: null,
      handshakingMs: null,
      listingMs: null,
    });
  });

  it('tells the time in the queue apart from the time of the launch.', () => {
    const opened = { transport: 'stdio', pid: 12, url: null, startedAt: NOW + 30, at: NOW + 80 } as const;
    const { timings } = recordOpened(contextWith({ at: NOW }), opened);
    expect(timings).toMatchObject({ queuedMs: 30, launchingMs: 50 });
    expect(recordOpened(contextWith(), opened).timings).toMatchObject({ queuedMs: 0 });
  });

  it('remembers what the transport turned out to be: a fall back is not tried in vain again.', () => {
    const opened = {
      transport: 'sse',
      pid: null,
      url: 'https://a.example/sse',
      startedAt: NOW,
      at: NOW,
    } as const;
    expect(recordOpened(contextWith({ transport: 'http' }), opened)).toMatchObject({
      transport: 'sse',
      pid: null,
      url: 'https://a.example/sse',
    });
  });

  it('tells how long each part took, and moves its clock with each.', () => {
    const server = {
      info: { name: 'sample', version: '1.0.0' },
      capabilities: {},
      protocolVersion: '2025-11-25',
      instructions: 'Be kind.',
    };
    const timings = { ...contextWith().timings, launchingMs: 3 };
    const shaken = recordHandshake(contextWith({ timings }), { server, startedAt: NOW - 40, at: NOW });
    expect(shaken).toEqual({ server, at: NOW, timings: { ...timings, handshakingMs: 40 } });
    const listed = recordListed(contextWith({ timings }), {
      hash: 'c',
      tools: 2,
      startedAt: NOW - 9,
      at: NOW,
    });
    expect(listed).toMatchObject({ catalogHash: 'c', at: NOW, timings: { ...timings, listingMs: 9 } });
    expect(listed.counts).toEqual({ tools: 2, resources: 0, resourceTemplates: 0, prompts: 0 });
  });

  it('takes a refresh for what it is: no part of the attempt.', () => {
    const refreshed = recordRefreshed(contextWith(), { hash: 'c', tools: 2, startedAt: NOW - 9, at: NOW });
    expect(refreshed).toMatchObject({ catalogHash: 'c', at: NOW, counts: { tools: 2 } });
    expect(refreshed).not.toHaveProperty('timings');
  });

  it('begins anew when a person asks: no attempts, no losses, no delay, and no rest.', () => {
    expect({
      ...contextWith({ attempt: 4, losses: [1], delayMs: 9, nextAttemptAt: NOW, wanted: false }),
      ...newRound(),
    }).toMatchObject({
      attempt: 0,
      losses: [],
      delayMs: 0,
      nextAttemptAt: null,
      wanted: true,
    });
  });
});

describe('beginShutdown', () => {
  it.each([
    { intent: 'restart', was: false, wanted: true },
    { intent: 'restart', was: true, wanted: true },
    { intent: 'reload', was: false, wanted: false },
    { intent: 'reload', was: true, wanted: true },
    { intent: 'idle', was: true, wanted: false },
    { intent: 'stop', was: true, wanted: true },
  ] as const)(
    'leaves a connection wanted: $wanted after $intent where it was: $was.',
    ({ intent, was, wanted }) => {
      expect(beginShutdown(contextWith({ wanted: was }), intent)).toEqual({
        intent,
        wanted,
        nextAttemptAt: null,
      });
    },
  );
});

describe('planNetworkRetry', () => {
  it('spreads the tries of different servers over two seconds, and repeats itself for the same seed.', () => {
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
