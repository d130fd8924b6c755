/** Lines that a person types at a terminal, shown or not. Whether a yes is one: see `trust-question.test.ts`. */
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { asking, type Questions } from '../../src/cli/ask.js';
import { useLeakCheck } from '../support/leak-check.js';
import { makeTerminal } from './fake-terminal.js';

useLeakCheck();

function start<T>(work: (questions: Questions) => Promise<T>, { canHide = true } = {}) {
  const { terminal, stderr, stdout } = makeTerminal({ columns: 80, rows: 24 });
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    ...(canHide && { setRawMode: (isRaw: boolean) => void modes.push(isRaw) }),
  });
  let interruptions = 0;
  const asked = asking(terminal, stdin, work, () => (interruptions += 1));
  return { asked, stderr, stdout, stdin, modes, interruptions: () => interruptions };
}

describe('a line that is typed', () => {
  it('is given as it is, without its end.', async () => {
    const { asked, stdin, stderr, stdout } = start(({ line }) => line('Name:'));
    stdin.write('  ada \r\n');
    expect(await asked).toBe('  ada ');
    expect([stderr.written, stdout.written]).toEqual(['Name: ', '']);
    stdin.destroy();
  });

  it('is none at the end of the input.', async () => {
    const { asked, stdin } = start(async ({ line, hidden }) => [await line('One:'), await hidden('Two:')]);
    stdin.end();
    expect(await asked).toEqual([undefined, undefined]);
  });
});

describe('a line that is not shown', () => {
  it('is read key by key, with corrections, and repeated nowhere.', async () => {
    const { asked, stdin, stderr, stdout, modes } = start(({ hidden }) => hidden('Key:'));
    for (const key of ['s', 'e', 'x', '\u007F', 'c', 'r', 'et', '\r']) stdin.write(key);
    expect(await asked).toBe('secret');
    expect(`${stderr.written}${stdout.written}`).toBe('Key: \n');
    expect(modes).toEqual([true, false]);
    stdin.destroy();
  });

  it('stands between others, and is no answer to them.', async () => {
    const { asked, stdin } = start(async ({ line, hidden }) => {
      const answers = [await line('One:')];
      queueMicrotask(() => stdin.write('two\r'));
      answers.push(await hidden('Two:'));
      queueMicrotask(() => stdin.write('three\n'));
      return [...answers, await line('Three:')];
    });
    stdin.write('one\n');
    expect(await asked).toEqual(['one', 'two', 'three']);
    stdin.destroy();
  });

  it('ends the process as ever by Ctrl-C, with the terminal as it was.', async () => {
    const { asked, stdin, modes, interruptions } = start(({ hidden }) => hidden('Key:'));
    asked.catch(() => {});
    stdin.write('sec\u0003');
    await expect(asked).rejects.toThrow('interrupted');
    expect([interruptions(), modes]).toEqual([1, [true, false]]);
    stdin.destroy();
  });

  it('is none by Ctrl-D, and where the terminal cannot hide it: then nothing is asked.', async () => {
    const ended = start(({ hidden }) => hidden('Key:'));
    ended.stdin.write('\u0004');
    expect(await ended.asked).toBeUndefined();
    ended.stdin.destroy();
    const plain = start(({ hidden }) => hidden('Key:'), { canHide: false });
    expect(await plain.asked).toBeUndefined();
    expect(plain.stderr.written).toBe('');
    plain.stdin.destroy();
  });
});
