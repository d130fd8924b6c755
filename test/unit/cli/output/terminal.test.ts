import { describe, expect, it } from 'vitest';
import { Terminal, watchReaders } from '../../../../src/cli/output/terminal.js';
import { FakeStream } from '../../../support/fake-stream.js';
import { makeTerminal } from '../../../support/fake-terminal.js';

describe('the output', () => {
  it('has results on stdout and notes on stderr.', () => {
    const { terminal, stdout, stderr } = makeTerminal();
    terminal.print('result');
    terminal.note('note');
    expect([stdout.written, stderr.written]).toEqual(['result\n', 'note\n']);
  });

  it('drops results that have no reader any more, and keeps the notes.', () => {
    const { terminal, stdout, stderr, hangUp } = makeTerminal();
    hangUp();
    terminal.print('result');
    terminal.note('note');
    expect([stdout.written, stderr.written]).toEqual(['', 'note\n']);
  });

  it('survives readers that hang up, and reports it.', () => {
    const stdout = new FakeStream();
    const stderr = new FakeStream();
    const gone = watchReaders({ stdout, stderr });
    stderr.emit('error', new Error('EPIPE'));
    expect(gone.aborted).toBe(false);
    stdout.emit('error', new Error('EPIPE'));
    stdout.emit('error', new Error('EPIPE'));
    expect(gone.aborted).toBe(true);
  });

  it('is redrawn only on a terminal that supports it.', () => {
    const { signal } = new AbortController();
    const stream = new FakeStream({ columns: 80, rows: 24 });
    const pipe = new FakeStream();
    const streams = { stdout: stream, stderr: pipe };
    const smart = new Terminal({ ...streams, env: { TERM: 'xterm' } }, signal, true);
    const dumb = new Terminal({ ...streams, env: { TERM: 'dumb' } }, signal, true);
    expect([smart.isLive(stream), smart.isLive(pipe), dumb.isLive(stream)]).toEqual([true, false, false]);
  });

  it('is colored for each stream separately.', () => {
    const streams = { stdout: new FakeStream({ columns: 80, rows: 24 }), stderr: new FakeStream() };
    const terminal = new Terminal({ ...streams, env: {} }, new AbortController().signal, true);
    expect([terminal.colors.isColorSupported, terminal.noteColors.isColorSupported]).toEqual([true, false]);
  });
});
