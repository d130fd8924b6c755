import { describe, expect, it } from 'vitest';
import { RedrawSchedule } from '../../../../src/cli/output/redraw-schedule.js';
import { createControlledClock } from '../../../support/controlled-clock.js';

function makeSchedule() {
  const clock = createControlledClock(0);
  const drawn: number[] = [];
  const schedule = new RedrawSchedule(clock, () => drawn.push(clock.now()), 1_000);
  return { clock, drawn, schedule };
}

describe('the table', () => {
  it('is drawn at once and then every second, because it shows times.', async () => {
    const { clock, drawn } = makeSchedule();
    await clock.advance(3_000);
    expect(drawn).toEqual([0, 1_000, 2_000, 3_000]);
  });

  it('is drawn at most ten times a second, however many changes there are.', async () => {
    const { clock, drawn, schedule } = makeSchedule();
    for (let ms = 0; ms < 500; ms += 5) {
      schedule.changed();
      await clock.advance(5);
    }
    expect(drawn).toEqual([0, 100, 200, 300, 400, 500]);
  });

  it('shows the first change after a quiet period at once, and the last change of a busy one.', async () => {
    const { clock, drawn, schedule } = makeSchedule();
    await clock.advance(450);
    schedule.changed();
    await clock.advance(10);
    schedule.changed();
    await clock.advance(400);
    expect(drawn).toEqual([0, 450, 550]);
  });

  it('is drawn as often as before if the clock was set back.', async () => {
    const { clock, drawn, schedule } = makeSchedule();
    const { now } = clock;
    Object.assign(clock, { now: () => now() - 3_600_000 });
    schedule.changed();
    await clock.advance(1_100);
    expect(drawn).toHaveLength(3);
  });

  it('is not drawn without a change if it does not depend on the time.', async () => {
    const clock = createControlledClock(0);
    let drawn = 0;
    const schedule = new RedrawSchedule(clock, () => (drawn += 1));
    expect([drawn, clock.pending]).toEqual([1, []]);
    schedule.changed();
    await clock.advance(100);
    expect([drawn, clock.pending]).toEqual([2, []]);
  });

  it('leaves no timer behind.', async () => {
    const { clock, drawn, schedule } = makeSchedule();
    schedule.changed();
    schedule.close();
    await clock.advance(5_000);
    expect([drawn, clock.pending]).toEqual([[0], []]);
  });
});
