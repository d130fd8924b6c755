import { describe, expect, it } from 'vitest';
import { Terminal, watchReaders, colorsFor, type ColorChoice } from '../../../../src/cli/output/terminal.js';
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

const PLAIN_PIPE: ColorChoice = { isTerminal: false, isAllowed: true, env: {} };
const TERMINAL: ColorChoice = { isTerminal: true, isAllowed: true, env: { TERM: 'xterm-256color' } };

describe('colors', () => {
  it.each<readonly [string, ColorChoice, boolean]>([
    ['on a terminal', TERMINAL, true],
    ['in a pipe', PLAIN_PIPE, false],
    ['on a dumb terminal', { ...TERMINAL, env: { TERM: 'dumb' } }, false],
    ['with --no-color', { ...TERMINAL, isAllowed: false }, false],
    ['with --no-color and FORCE_COLOR', { ...TERMINAL, isAllowed: false, env: { FORCE_COLOR: '1' } }, false],
    ['with NO_COLOR', { ...TERMINAL, env: { NO_COLOR: '1' } }, false],
    ['with an empty NO_COLOR', { ...TERMINAL, env: { NO_COLOR: '' } }, true],
    ['with NO_COLOR and FORCE_COLOR', { ...TERMINAL, env: { NO_COLOR: '1', FORCE_COLOR: '1' } }, false],
    ['with FORCE_COLOR in a pipe', { ...PLAIN_PIPE, env: { FORCE_COLOR: '1' } }, true],
    ['with FORCE_COLOR=0 on a terminal', { ...TERMINAL, env: { FORCE_COLOR: '0' } }, false],
  ])('%s: %o gives %s.', (_, choice, isColored) => {
    expect(colorsFor(choice).red('x') !== 'x').toBe(isColored);
  });
});
