import { describe, expect, it } from 'vitest';
import {
  hasEnded,
  holdToken,
  isDue,
  neverDue,
  renewLater,
  type HeldToken,
} from '../../../../machines/policy/token-life.js';

const AT = 1_000;

const hold = (expiresInMs: number | null, adopted = false): HeldToken =>
  holdToken({ token: 1, scopes: ['look'], expiresInMs }, adopted, AT);

describe('a token', () => {
  it.each([
    [3_600_000, 3_300_000],
    [60_000, 54_000],
    [1, 1],
  ])('that is valid for %s ms is due after %s ms.', (life, due) => {
    expect(isDue(hold(life), AT + due - 1)).toBe(false);
    expect(isDue(hold(life), AT + due)).toBe(true);
    expect(hasEnded(hold(life), AT + life - 1)).toBe(false);
    expect(hasEnded(hold(life), AT + life)).toBe(true);
  });

  it.each([[null], [0], [-5]])('that is new and valid for %s ms is never due.', (life) => {
    expect(isDue(hold(life), 1e15)).toBe(false);
    expect(hasEnded(hold(life), 1e15)).toBe(false);
  });

  it.each([
    [null, null, null],
    [60_000, AT + 60_000, AT + 54_000],
  ])('is held with its known times (it lives for %s ms).', (life, endsAt, dueAt) => {
    for (const adopted of [true, false]) {
      expect(hold(life, adopted)).toStrictEqual({ token: 1, scopes: ['look'], adopted, endsAt, dueAt });
    }
  });

  it.each([[0], [-5]])('from the store that is valid for %s ms is due at once.', (life) => {
    expect(isDue(hold(life, true), AT)).toBe(true);
    expect(hasEnded(hold(life, true), AT)).toBe(true);
    expect(hold(life, true)).toMatchObject({ endsAt: AT, dueAt: AT });
  });

  it('whose renewal failed is due again after 30 s, but not later than its end.', () => {
    const held = hold(3_600_000);
    expect(renewLater(held, AT)).toStrictEqual({ ...held, dueAt: AT + 30_000 });
    expect(renewLater(hold(10_000), AT).dueAt).toBe(AT + 10_000);
    expect(renewLater(hold(null), AT).dueAt).toBe(AT + 30_000);
  });

  it('that cannot be renewed is used until it is refused.', () => {
    const held = neverDue(hold(60_000));
    expect(isDue(held, 1e15)).toBe(false);
    expect(hasEnded(held, AT + 60_000)).toBe(true);
  });
});
