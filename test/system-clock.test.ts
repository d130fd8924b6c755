import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../src/ports.js';

describe('the clock of the system', () => {
  it('calls what is due without delay after whoever asked for it is done.', async () => {
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      systemClock.setTimeout(() => {
        order.push('after a millisecond');
        resolve();
      }, 1);
      systemClock.setTimeout(() => order.push('without delay'), 0);
      order.push('later');
    });
    expect(order[0]).toBe('later');
    expect(order).toContain('without delay');
  });

  it.each([0, 1])('calls nothing whose timeout of %i ms was cleared.', async (ms) => {
    let calls = 0;
    const handle = systemClock.setTimeout(() => (calls += 1), ms);
    systemClock.clearTimeout(handle);
    await pause(20);
    expect(calls).toBe(0);
  });

  it('clears what is past, and nothing at all, without an error.', async () => {
    const handle = await new Promise((resolve) => {
      const set: unknown = systemClock.setTimeout(() => resolve(set), 0);
    });
    for (const each of [handle, undefined]) expect(() => systemClock.clearTimeout(each)).not.toThrow();
  });

  it('waits for longer than a timer of Node can.', async () => {
    let calls = 0;
    const handle = systemClock.setTimeout(() => (calls += 1), 2 ** 40);
    await pause(5);
    systemClock.clearTimeout(handle);
    expect(calls).toBe(0);
  });
});
