import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Aborted, Deadline, TimedOut } from '../../../src/calls/deadline.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

function begin(idleMs: number, totalMs: number, caller?: AbortSignal) {
  const clock = createControlledClock();
  return { clock, deadline: new Deadline(clock, { idleMs, totalMs }, caller) };
}

describe('a deadline', () => {
  it('does not end while paused, and then has the rest of its total time', async () => {
    const { clock, deadline } = begin(1_000, 1_500);
    await clock.advance(900);
    deadline.pause();
    await clock.advance(3_600_000);
    expect(deadline.signal.aborted).toBe(false);
    deadline.resume();
    await clock.advance(599);
    expect(deadline.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(deadline.signal.reason).toMatchObject({ limitMs: 1_500, isTotal: true });
  });

  it('is not longer if the clock was set back before the pause', async () => {
    const { clock, deadline } = begin(0, 1_500);
    const { now } = clock;
    Object.assign(clock, { now: () => now() - 3_600_000 });
    deadline.pause();
    deadline.resume();
    await clock.advance(1_500);
    expect(deadline.signal.reason).toMatchObject({ limitMs: 1_500, isTotal: true });
  });

  it('can be extended, also while it is paused; a request without a limit stays without one', async () => {
    const { clock, deadline } = begin(0, 1_000);
    await clock.advance(400);
    deadline.pause();
    deadline.extend(5_000);
    await clock.advance(60_000);
    deadline.resume();
    deadline.extend(2_000);
    await clock.advance(4_599);
    expect(deadline.aborted).toBe(false);
    await clock.advance(1);
    expect(deadline.reason).toMatchObject({ limitMs: 5_000, isTotal: true });
    const endless = begin(0, 0);
    endless.deadline.extend(1_000);
    expect(endless.clock.pending).toEqual([]);
  });

  it('starts its idle time again after a pause', async () => {
    const { clock, deadline } = begin(1_000, 0);
    await clock.advance(999);
    deadline.pause();
    deadline.renew();
    await clock.advance(5_000);
    deadline.resume();
    await clock.advance(999);
    expect(deadline.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(deadline.signal.reason).toBeInstanceOf(TimedOut);
  });

  it('is paused and resumed once, even if asked twice', async () => {
    const { clock, deadline } = begin(0, 1_000);
    deadline.pause();
    deadline.pause();
    await clock.advance(5_000);
    deadline.resume();
    deadline.resume();
    await clock.advance(1_000);
    expect(deadline.signal.aborted).toBe(true);
    expect(clock.pending).toEqual([]);
  });

  it('has only its total limit, and no idle limit, after rest()', async () => {
    const { clock, deadline } = begin(100, 10_000);
    deadline.rest();
    await clock.advance(9_999);
    expect(deadline.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(deadline.signal.reason).toMatchObject({ isTotal: true });
  });

  it.each([0, 1, 500])(
    'tells its total limit if both are equal, also if it began again after %d ms',
    async (ms) => {
      const { clock, deadline } = begin(3_000, 3_000);
      await clock.advance(ms);
      deadline.renew();
      await clock.advance(3_000 - ms);
      expect(deadline.signal.reason).toMatchObject({ limitMs: 3_000, isTotal: true });
    },
  );

  it('can be aborted by its caller during a pause', () => {
    const controller = new AbortController();
    const { deadline } = begin(0, 0, controller.signal);
    deadline.pause();
    controller.abort();
    expect(deadline.signal.reason).toBeInstanceOf(Aborted);
  });

  it('adds one listener to a signal that many calls share, and removes it with the last', () => {
    const controller = new AbortController();
    const { signal } = controller;
    const calls = Array.from({ length: 20 }, () => begin(0, 0, signal).deadline);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    for (const deadline of calls.splice(0, 19)) deadline.end();
    controller.abort();
    expect(calls[0]?.signal.reason).toBeInstanceOf(Aborted);
    for (const deadline of calls) deadline.end();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('sets no timer once it has ended', () => {
    const { clock, deadline } = begin(1_000, 1_000);
    deadline.pause();
    deadline.end();
    deadline.resume();
    deadline.renew();
    expect(clock.pending).toEqual([]);
  });
});
