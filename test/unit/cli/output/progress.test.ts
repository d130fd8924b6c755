import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  describeCallProgress,
  showingCallProgress,
  showingProgress,
} from '../../../../src/cli/output/progress.js';
import type { LifecycleEvent } from '../../../../src/lifecycle/event.js';
import type { Progress } from '../../../../src/protocol/protocol-client.js';
import { createControlledClock } from '../../../support/controlled-clock.js';
import { makeTerminal } from '../../../support/fake-terminal.js';
import { makeStatus } from '../../../support/make-status.js';
import { screenOf } from '../../../support/screen.js';

const FRAME_MS = 100;
const SOMETHING: LifecycleEvent = { type: 'manager.started', connections: 2, at: 0, seq: 1 };
const STATUS = [
  makeStatus(),
  makeStatus({ server: 'slow\u001B[2J' }, { starting: 'launching' }),
  makeStatus({ server: 'lost' }, { failed: { permanent: 'waiting' } }),
  makeStatus({ server: 'off', reason: 'disabled' }, 'stopped'),
];

describe('the progress of a command', () => {
  it('names the servers it waits for, and leaves nothing on the screen.', async () => {
    const { terminal, stderr, stdout } = makeTerminal({ columns: 80, rows: 24 });
    const events$ = new Subject<LifecycleEvent>();
    const clock = createControlledClock();
    const work = async () => {
      events$.next(SOMETHING);
      await clock.advance(FRAME_MS);
      return screenOf(stderr.written);
    };
    const result = await showingProgress(terminal, { events$, status: STATUS }, work, clock);
    expect(result).toBe('1 of 3 ready, waiting for slow');
    expect([screenOf(stderr.written), stdout.written, events$.observed]).toEqual(['', '', false]);
  });

  it('is computed once for each frame, however many events there are, and never after the work.', async () => {
    const { terminal, stderr } = makeTerminal({ columns: 80, rows: 24 });
    const events$ = new Subject<LifecycleEvent>();
    const clock = createControlledClock();
    let computed = 0;
    const troupe = {
      events$,
      get status() {
        computed += 1;
        return STATUS.slice(0, 1 + (computed % 2));
      },
    };
    const work = async () => {
      for (let ms = 0; ms < 5 * FRAME_MS; ms += 1) {
        for (let event = 0; event < 20; event += 1) events$.next(SOMETHING);
        // Other output draws the line again below itself, which computes nothing.
        terminal.note('a server wrote this');
        await clock.advance(1);
      }
      events$.next(SOMETHING);
    };
    await showingProgress(terminal, troupe, work, clock);
    expect(computed).toBe(5);
    expect([clock.pending, events$.observed]).toEqual([[], false]);
    expect(screenOf(stderr.written)).not.toContain('ready');
  });

  it('is not shown if stderr is not a terminal.', async () => {
    const { terminal, stderr } = makeTerminal();
    const events$ = new Subject<LifecycleEvent>();
    await showingProgress(terminal, { events$, status: STATUS }, async () => events$.next(SOMETHING));
    await showingCallProgress(terminal, async (onProgress) => onProgress({ progress: 1 }));
    expect(stderr.written).toBe('');
  });

  it('fits the terminal and disappears when the work fails.', async () => {
    const { terminal, stderr } = makeTerminal({ columns: 20, rows: 24 });
    const seen: string[] = [];
    const clock = createControlledClock();
    const work = async (onProgress: (progress: Progress) => void) => {
      onProgress({ progress: 1, total: 3, message: 'a long message' });
      await clock.advance(FRAME_MS);
      seen.push(screenOf(stderr.written));
      throw new Error('lost');
    };
    await expect(showingCallProgress(terminal, work, clock)).rejects.toThrow('lost');
    expect([...seen, screenOf(stderr.written)]).toEqual(['progress 1 of 3: a…', '']);
  });

  it('of a call uses the message of the server.', () => {
    expect(describeCallProgress({ progress: 2 })).toBe('progress 2');
    expect(describeCallProgress({ progress: 2, total: 4 })).toBe('progress 2 of 4');
    expect(describeCallProgress({ progress: 2, message: 'reading' })).toBe('progress 2: reading');
  });
});
