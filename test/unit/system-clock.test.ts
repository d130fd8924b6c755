import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/ports.js';
import { WAIT_LIMIT_MS } from '../support/time-limit.js';

/** More than the delay from which on a timer counts as held up. */
const OVERDUE_MS = 50;

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
    const answered = join(mkdtempSync(join(tmpdir(), 'troupe-clock-')), 'answered');
    onTestFinished(() => rmSync(dirname(answered), { recursive: true }));
    const echo = `process.stdin.once('data', (data) => {
      require('node:fs').writeSync(1, data);
      require('node:fs').writeFileSync(${JSON.stringify(answered)}, '');
    })`;
    const child = spawn(process.execPath, ['-e', echo]);
    const exited = once(child, 'exit');
    child.stdout.on('data', () => order.push('child'));
    child.stdin.write('answer');
    const last = Promise.all(
      [1, 2, 3].map((ms) =>
        after(ms).then(() => {
          order.push(`after ${ms}`);
        }),
      ),
    );
    const cleared = systemClock.setTimeout(() => order.push('cleared'), 2);
    child.stdout.once('data', () => systemClock.clearTimeout(cleared));
    // Nothing else runs until the answer waits in the pipe and the timers are long overdue.
    const began = performance.now();
    while (!existsSync(answered) || performance.now() - began < OVERDUE_MS)
      if (performance.now() - began > WAIT_LIMIT_MS) throw new Error('The child has not answered.');
    await last;
    child.stdin.end();
    await exited;
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
