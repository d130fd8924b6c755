/** Which calls a silent server may be busy with. */
import { describe, expect, it } from 'vitest';
import { OwedAnswers } from '../src/owed-answers.js';

const TOO_LATE = true;
const ANSWERED = false;

/** A call that came to nothing, and nothing was heard since time 5. */
function overdue(): OwedAnswers {
  const owed = new OwedAnswers();
  expect(owed.end(owed.begin(5), 5, TOO_LATE)).toBe(true);
  return owed;
}

describe('An answer', () => {
  it('is owed until its call ends.', () => {
    const owed = new OwedAnswers();
    const call = owed.begin(5);
    expect([owed.calls, owed.isOwed(5)]).toEqual([1, true]);
    expect(owed.end(call, 5, ANSWERED)).toBe(false);
    expect([owed.calls, owed.isOwed(5)]).toEqual([0, false]);
  });

  it('is not overdue where anything was heard since its call was sent, though the clock was set back.', () => {
    const owed = new OwedAnswers();
    expect(owed.end(owed.begin(5), 4, TOO_LATE)).toBe(false);
    owed.begin(4);
    expect(owed.isOwed(4)).toBe(true);
  });

  it('is not owed to what was sent while another one is overdue, until something is heard.', () => {
    const owed = overdue();
    owed.begin(5);
    expect([owed.calls, owed.isOwed(5), owed.isOwed(6)]).toEqual([1, false, true]);
  });

  it('is owed to what was sent before another one was overdue.', () => {
    const owed = new OwedAnswers();
    const [first, second] = [owed.begin(5), owed.begin(5)];
    expect(owed.end(first, 5, TOO_LATE)).toBe(true);
    owed.begin(5);
    expect(owed.isOwed(5)).toBe(true);
    expect(owed.end(second, 5, TOO_LATE)).toBe(true);
    expect(owed.isOwed(5)).toBe(false);
  });

  it('is owed in a later silence to what was sent in an earlier one.', () => {
    const owed = overdue();
    const old = owed.begin(5);
    const next = owed.begin(6);
    expect(owed.end(next, 6, TOO_LATE)).toBe(true);
    expect(owed.isOwed(6)).toBe(true);
    owed.begin(6);
    owed.end(old, 6, ANSWERED);
    expect([owed.calls, owed.isOwed(6)]).toEqual([1, false]);
  });
});
