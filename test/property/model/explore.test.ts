/** Explores a manager with a process and a remote server: every order of events up to a bound. `tools/explore` goes on. */
import process from 'node:process';
import { describe, expect, it, vi } from 'vitest';
import { withBrokenGuard } from '../../../tools/explore/break-guard.js';
import { main } from '../../../tools/explore/command.js';
import { explore } from '../../../tools/explore/explore.js';
import { WAYS_IN } from '../../../tools/explore/world.js';

const KINDS = ['stdio', 'http'] as const;

const BOUND = { kinds: KINDS, ways: WAYS_IN, states: 12_000, now: () => 0 };

describe('exploring the charts', { timeout: 60_000 }, () => {
  it('finds no broken invariant, and a fair run from every state to a settled one', () => {
    const found = explore(BOUND);
    expect(found.finding).toBeNull();
    expect(found.states).toBe(BOUND.states);
  });

  it.each([
    [
      'canOverlap=true',
      'two sessions, and one of them is a process',
      'stdio: openSuccessor begins its session',
    ],
    [
      'isNothingRetiring=true',
      'M3: a session is opened while another may be alive',
      'http: resolveSuccessor resolves',
    ],
    ['holdsOrWaits=false', 'a slot is held without a start', 'stdio: connection.stop'],
    ['isOutOfAttempts=false', 'a connection may cycle forever and never settle', 'resolveConfig resolves'],
    ['hasCrashed=true', "'stdio: resolveConfig resolves' cannot happen", 'manager.start'],
    ['isNobodyLeft=false', 'no fair run leads to a settled state', 'manager.stop'],
  ])('finds the broken guard %s: %s after %s', (mistake, problem, last) => {
    const { finding } = explore({ ...BOUND, ...withBrokenGuard(mistake) });
    expect(finding?.problem).toBe(problem);
    expect(finding?.path.at(-1)).toBe(last);
  });

  it('rejects a guard that the charts do not have', () => {
    expect(() => withBrokenGuard('isBlue')).toThrow("there is no guard 'isBlue'");
  });

  it.each([
    ['--break', 'isBlue'],
    ['--break', 'canOverlap=maybe'],
    ['--break', 'canOverlap=true=false'],
    ['--seconds', '0'],
    ['--states', '1.5'],
    ['--fleet', 'sse'],
    ['--colour'],
  ])('rejects the arguments %s %s', (...args) => {
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    expect(main(args)).toBe(2);
    expect(written.mock.calls.join()).toContain(args[0]);
    written.mockRestore();
  });
});
