import { describe, expect, it } from 'vitest';
import { openLiveArea, RedrawSchedule } from '../../../../src/cli/output/live-area.js';
import { makeTerminal } from '../../../support/fake-terminal.js';
import { screenOf } from '../../../support/screen.js';
import { createControlledClock } from '../../../support/controlled-clock.js';

/** Both streams of a terminal end up on the same screen. */
async function openArea(lines: () => readonly string[]) {
  const fake = makeTerminal({ columns: 40, rows: 10 });
  const { terminal, stdout, stderr } = fake;
  stderr._write = stdout._write.bind(stdout);
  const area = await openLiveArea(terminal, stdout, () => lines().join('\n'));
  return { ...fake, area, screen: () => screenOf(stdout.written) };
}

describe('the live part of a terminal', () => {
  it('shows the current lines and none of the former ones.', async () => {
    let lines = ['first', 'second', 'third'];
    const { area, screen } = await openArea(() => lines);
    area.refresh();
    expect(screen()).toBe('first\nsecond\nthird');
    lines = ['first', 'other'];
    area.refresh();
    expect(screen()).toBe('first\nother');
    area.close('keep');
    expect(screen()).toBe('first\nother');
  });

  it('writes nothing if nothing changed.', async () => {
    const { area, stdout } = await openArea(() => ['same']);
    area.refresh();
    const before = stdout.written;
    area.refresh();
    expect(stdout.written).toBe(before);
    area.close('keep');
  });

  it('stays below everything that is written in the meantime, on either stream.', async () => {
    let count = 1;
    let rendered = 0;
    const { area, terminal, screen } = await openArea(() => {
      rendered += 1;
      return ['table', `row ${count}`];
    });
    area.refresh();
    terminal.note('a note');
    count = 2;
    terminal.print('a line');
    area.refresh();
    terminal.note('another');
    expect(screen()).toBe('a note\na line\nanother\ntable\nrow 2');
    // Only a refresh computes the content.
    expect(rendered).toBe(2);
    area.close('keep');
  });

  it('removes what the terminal echoed, such as ^C.', async () => {
    let text = 'running';
    const { area, stdout, screen } = await openArea(() => [text]);
    area.refresh();
    stdout.write('^C');
    text = 'stopped';
    area.refresh();
    expect(screen()).toBe('stopped');
    area.close('keep');
  });

  it('is redrawn on a cleared screen if the terminal wrapped its lines.', async () => {
    const { area, stdout, screen } = await openArea(() => ['x'.repeat(Math.min(30, stdout.columns ?? 0))]);
    area.refresh();
    stdout.resize({ columns: 20, rows: 10 });
    expect(screen()).toBe('x'.repeat(20));
    expect(stdout.written).toContain('\u001B[2J');
    area.close('keep');
  });

  it('leaves the rest of the screen alone if its lines still fit.', async () => {
    const { area, stdout, terminal, screen } = await openArea(() => ['short']);
    terminal.print('before');
    area.refresh();
    stdout.resize({ columns: 20, rows: 10 });
    expect(screen()).toBe('before\nshort');
    area.close('keep');
  });

  it('can be erased without a trace, and leaves no listener.', async () => {
    const { area, stdout, terminal, screen } = await openArea(() => ['progress']);
    area.refresh();
    area.close('erase');
    terminal.print('result');
    expect(screen()).toBe('result');
    expect(stdout.listenerCount('resize')).toBe(0);
  });
});

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
