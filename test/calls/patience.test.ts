import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { GivenUp, Patience, TimedOut } from '../../src/calls/patience.js';
import { createControlledClock } from '../support/controlled-clock.js';
import { useLeakCheck } from '../support/leak-check.js';

useLeakCheck();

function begin(idleMs: number, totalMs: number, caller?: AbortSignal) {
  const clock = createControlledClock();
  return { clock, patience: new Patience(clock, { idleMs, totalMs }, caller) };
}

describe('patience', () => {
  it('that is paused does not end, and goes on with what is left of the whole', async () => {
    const { clock, patience } = begin(1_000, 1_500);
    await clock.advance(900);
    patience.pause();
    await clock.advance(3_600_000);
    expect(patience.signal.aborted).toBe(false);
    patience.resume();
    await clock.advance(599);
    expect(patience.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(patience.signal.reason).toMatchObject({ limitMs: 1_500, isTotal: true });
  });

  it('is no longer for a clock that was set back before it was paused', async () => {
    const { clock, patience } = begin(0, 1_500);
    const { now } = clock;
    Object.assign(clock, { now: () => now() - 3_600_000 });
    patience.pause();
    patience.resume();
    await clock.advance(1_500);
    expect(patience.signal.reason).toMatchObject({ limitMs: 1_500, isTotal: true });
  });

  it('has its time of hearing nothing anew after a pause', async () => {
    const { clock, patience } = begin(1_000, 0);
    await clock.advance(999);
    patience.pause();
    patience.renew();
    await clock.advance(5_000);
    patience.resume();
    await clock.advance(999);
    expect(patience.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(patience.signal.reason).toBeInstanceOf(TimedOut);
  });

  it('is paused once, however often that is said', async () => {
    const { clock, patience } = begin(0, 1_000);
    patience.pause();
    patience.pause();
    await clock.advance(5_000);
    patience.resume();
    patience.resume();
    await clock.advance(1_000);
    expect(patience.signal.aborted).toBe(true);
    expect(clock.pending).toEqual([]);
  });

  it('that rests hears nothing for as long as it takes, within the whole', async () => {
    const { clock, patience } = begin(100, 10_000);
    patience.rest();
    await clock.advance(9_999);
    expect(patience.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(patience.signal.reason).toMatchObject({ isTotal: true });
  });

  it('is given up by its caller during a pause', () => {
    const controller = new AbortController();
    const { patience } = begin(0, 0, controller.signal);
    patience.pause();
    controller.abort();
    expect(patience.signal.reason).toBeInstanceOf(GivenUp);
  });

  it('of many calls listens once to the signal they share, and leaves it with the last', () => {
    const controller = new AbortController();
    const { signal } = controller;
    const calls = Array.from({ length: 20 }, () => begin(0, 0, signal).patience);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    for (const patience of calls.splice(0, 19)) patience.end();
    controller.abort();
    expect(calls[0]?.signal.reason).toBeInstanceOf(GivenUp);
    for (const patience of calls) patience.end();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('that has ended sets no timer any more', () => {
    const { clock, patience } = begin(1_000, 1_000);
    patience.pause();
    patience.end();
    patience.resume();
    patience.renew();
    expect(clock.pending).toEqual([]);
  });
});
