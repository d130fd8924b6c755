import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  describeCallProgress,
  showingCallProgress,
  showingProgress,
} from '../../../../src/cli/output/progress.js';
import type { LifecycleEvent } from '../../../../src/lifecycle/event.js';
import { makeTerminal } from '../../../support/fake-terminal.js';
import { makeStatus } from '../../../support/make-status.js';
import { screenOf } from '../../../support/screen.js';

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
    const result = await showingProgress(terminal, { events$, status: STATUS }, async () => {
      events$.next(SOMETHING);
      return screenOf(stderr.written);
    });
    expect(result).toBe('1 of 3 ready, waiting for slow');
    expect([screenOf(stderr.written), stdout.written, events$.observed]).toEqual(['', '', false]);
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
    const work = showingCallProgress(terminal, async (onProgress) => {
      onProgress({ progress: 1, total: 3, message: 'a long message' });
      seen.push(screenOf(stderr.written));
      throw new Error('lost');
    });
    await expect(work).rejects.toThrow('lost');
    expect([...seen, screenOf(stderr.written)]).toEqual(['progress 1 of 3: a…', '']);
  });

  it('of a call uses the message of the server.', () => {
    expect(describeCallProgress({ progress: 2 })).toBe('progress 2');
    expect(describeCallProgress({ progress: 2, total: 4 })).toBe('progress 2 of 4');
    expect(describeCallProgress({ progress: 2, message: 'reading' })).toBe('progress 2: reading');
  });
});
