/** Which calls a silent server may still be working on. */
import { describe, expect, it } from 'vitest';
import { PendingCalls } from '../../../src/sessions/session-activity.js';

const TOO_LATE = true;
const ANSWERED = false;

/** A call without a result; nothing was received since time 5. */
function overdue(): PendingCalls {
  const owed = new PendingCalls();
  expect(owed.end(owed.begin(5), 5, TOO_LATE)).toBe(true);
  return owed;
}

describe('An answer', () => {
  it('is pending until its call ends.', () => {
    const owed = new PendingCalls();
    const call = owed.begin(5);
    expect([owed.calls, owed.isAwaited(5)]).toEqual([1, true]);
    expect(owed.end(call, 5, ANSWERED)).toBe(false);
    expect([owed.calls, owed.isAwaited(5)]).toEqual([0, false]);
  });

  it('is not overdue if something was received since its call was sent, even if the clock was set back.', () => {
    const owed = new PendingCalls();
    expect(owed.end(owed.begin(5), 4, TOO_LATE)).toBe(false);
    owed.begin(4);
    expect(owed.isAwaited(4)).toBe(true);
  });

  it('is no reason to wait if its call was sent while another one is overdue, until something is received.', () => {
    const owed = overdue();
    owed.begin(5);
    expect([owed.calls, owed.isAwaited(5), owed.isAwaited(6)]).toEqual([1, false, true]);
  });

  it('is a reason to wait if its call was sent before another one was overdue.', () => {
    const owed = new PendingCalls();
    const [first, second] = [owed.begin(5), owed.begin(5)];
    expect(owed.end(first, 5, TOO_LATE)).toBe(true);
    owed.begin(5);
    expect(owed.isAwaited(5)).toBe(true);
    expect(owed.end(second, 5, TOO_LATE)).toBe(true);
    expect(owed.isAwaited(5)).toBe(false);
  });

  it('is a reason to wait in a later silence if its call was sent in an earlier one.', () => {
    const owed = overdue();
    const old = owed.begin(5);
    const next = owed.begin(6);
    expect(owed.end(next, 6, TOO_LATE)).toBe(true);
    expect(owed.isAwaited(6)).toBe(true);
    owed.begin(6);
    owed.end(old, 6, ANSWERED);
    expect([owed.calls, owed.isAwaited(6)]).toEqual([1, false]);
  });
});
