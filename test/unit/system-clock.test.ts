import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/ports.js';

/** Resolves when a timer that was set now has fired, after everything that was due before it. */
const after = (ms: number): Promise<void> =>
  new Promise((resolve) => systemClock.setTimeout(() => resolve(), ms));

describe('the system clock', () => {
  it('calls callbacks with a delay of 0 after the current code has finished, in order.', async () => {
    const order: string[] = [];
    systemClock.setTimeout(() => order.push('first'), 0);
    systemClock.setTimeout(() => order.push('second'), 0);
    order.push('asked');
    await after(0);
    expect(order).toEqual(['asked', 'first', 'second']);
  });

  it.each([0, 1])('does not call a callback whose timeout of %i ms was cleared.', async (ms) => {
    let calls = 0;
    const handle = systemClock.setTimeout(() => (calls += 1), ms);
    systemClock.clearTimeout(handle);
    await after(ms);
    expect(calls).toBe(0);
  });

  it('clears past timeouts and undefined without an error.', async () => {
    const handle = await new Promise((resolve) => {
      const set: unknown = systemClock.setTimeout(() => resolve(set), 0);
    });
    for (const each of [handle, undefined]) expect(() => systemClock.clearTimeout(each)).not.toThrow();
  });

  it('lets what came in time be read before a timer that was held up, and keeps the order of timers.', async () => {
    const order: string[] = [];
    const child = spawn(process.execPath, ['-e', 'process.stdin.pipe(process.stdout)']);
    child.stdin.write('warm');
    await once(child.stdout, 'data');
    child.stdout.on('data', () => order.push('child'));
    child.stdin.write('answer');
    for (const ms of [3, 1, 2]) systemClock.setTimeout(() => order.push(`after ${ms}`), 20 + ms);
    const cleared = systemClock.setTimeout(() => order.push('cleared'), 22);
    child.stdout.once('data', () => systemClock.clearTimeout(cleared));
    // The answer comes while nothing runs, and the timers are due.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    await after(30);
    child.kill();
    await once(child, 'exit');
    expect(order).toEqual(['child', 'after 1', 'after 2', 'after 3']);
  });

  it('waits longer than a timer of Node can.', async () => {
    let calls = 0;
    // Node would call it after a millisecond.
    const handle = systemClock.setTimeout(() => (calls += 1), 2 ** 40);
    await after(2);
    systemClock.clearTimeout(handle);
    expect(calls).toBe(0);
  });
});
