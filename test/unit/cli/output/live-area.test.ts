import { describe, expect, it } from 'vitest';
import { openLiveArea } from '../../../../src/cli/output/live-area.js';
import { makeTerminal } from '../../../support/fake-terminal.js';
import { screenOf } from '../../../support/screen.js';

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
