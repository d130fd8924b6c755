/** The plan of a chaos run, which a seed determines. */
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../../support/leak-check.js';
import { ACTIONS, makePlan, namesOf } from '../../../support/tools/chaos.js';

const MINUTE_MS = 60_000;

const plan = (seed: number, connections = 30, durationMs = MINUTE_MS) =>
  makePlan({ seed, names: namesOf(connections), durationMs });

useLeakCheck();

describe('The plan of a chaos run', () => {
  it('is the same for the same seed, and differs for another one.', () => {
    expect(plan(1)).toEqual(plan(1));
    expect(plan(2)).not.toEqual(plan(1));
  });

  it('includes every kind of action within a minute.', () => {
    const done = new Set(plan(3).map(({ does }) => does));
    expect([...done].sort()).toEqual(Object.keys(ACTIONS).sort());
  });

  it('has only known actions, in order, for existing servers.', () => {
    const names = Object.values(namesOf(200)).flat();
    const steps = plan(4, 200);
    expect(steps.every(({ does }) => does in ACTIONS)).toBe(true);
    expect(steps.every(({ to }) => to === undefined || names.includes(to))).toBe(true);
    expect(steps.map(({ at }) => at)).toEqual(steps.map(({ at }) => at).sort((a, b) => a - b));
    expect(steps.at(-1)?.at).toBeLessThan(MINUTE_MS);
  });

  it.each([
    [3, 4],
    [30, 4],
    [200, 8],
    [1_000, 8],
  ])('disturbs %i connections about %i times a second.', (connections, perSecond) => {
    const { length } = plan(5, connections);
    expect(length / 60).toBeGreaterThan(perSecond * 0.8);
    expect(length / 60).toBeLessThan(perSecond * 1.2);
  });

  it.each([3, 12, 30, 200])('covers %i servers, of every kind.', (count) => {
    const names = namesOf(count);
    expect(Object.values(names).flat()).toHaveLength(count);
    expect(Object.values(names).every((kind) => kind.length > 0)).toBe(true);
  });
});
