/** Moves through time that come faster than they are executed. */
import { describe, expect, it } from 'vitest';
import { goBy, stepBy, type MoveParts } from '../../../../visualizer/src/state/moves.js';
import { PageState, positionOf } from '../../../../visualizer/src/state/page.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

/** An entry each second; the log answers later. */
function slowPage(length: number): MoveParts {
  const state = new PageState();
  state.change({ book: { length } as never, cursor: 50 });
  const answers = {
    lines: ({ positions }: { positions: readonly number[] }) => positions.map((at) => ({ at: at * 1_000 })),
    positionAt: ({ time }: { time: number }) => Math.floor(time / 1_000),
  };
  const ask = async (question: keyof typeof answers, given: never): Promise<unknown> =>
    answers[question](given);
  return { state, log: { ask } as never };
}

describe('moves through time', () => {
  it('by one entry are all executed, however fast they come.', () => {
    const { state } = slowPage(100);
    for (let press = 0; press < 10; press += 1) stepBy(state, -1);
    expect(positionOf(state.page)).toBe(40);
    for (let press = 0; press < 4; press += 1) stepBy(state, 1);
    expect(positionOf(state.page)).toBe(44);
  });

  it('by a time are all executed although the log answers later, and each by at least one entry.', async () => {
    const { state, log } = slowPage(100);
    await Promise.all([
      goBy({ state, log }, 5_000),
      goBy({ state, log }, 5_000),
      goBy({ state, log }, 5_000),
    ]);
    await expect.poll(() => positionOf(state.page)).toBe(65);
    await Promise.all([goBy({ state, log }, -1), goBy({ state, log }, -1), goBy({ state, log }, -1)]);
    await expect.poll(() => positionOf(state.page)).toBe(62);
    await Promise.all([goBy({ state, log }, 2_000), goBy({ state, log }, -2_000)]);
    await expect.poll(() => positionOf(state.page)).toBe(62);
  });

  it('forward from the end stay at the end, however much arrives while the log is asked.', async () => {
    const { state, log } = slowPage(100);
    state.change({ cursor: null });
    const moved = goBy({ state, log }, 5_000);
    state.change({ book: { length: 120 } as never });
    await moved;
    expect(state.page.cursor).toBeNull();
    await goBy({ state, log }, -5_000);
    expect(positionOf(state.page)).toBe(114);
  });
});
