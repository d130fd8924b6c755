/** Lines that a user types at a terminal, with or without echo. Whether a line is a yes: see `trust-question.test.ts`. */
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { asking, type Questions } from '../../../../src/cli/prompts/ask.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { FakeProcess } from '../../../support/fake-process.js';
import { makeTerminal } from '../../../support/fake-terminal.js';
import { WAIT_LIMIT_MS } from '../../../support/time-limit.js';

useLeakCheck();

function start<T>(
  work: (questions: Questions) => Promise<T>,
  { canHide = true, signal = new AbortController().signal } = {},
) {
  const { terminal, stderr, stdout } = makeTerminal({ columns: 80, rows: 24 });
  const modes: boolean[] = [];
  const host = new FakeProcess();
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    ...(canHide && { setRawMode: (isRaw: boolean) => void modes.push(isRaw) }),
  });
  const asked = asking(terminal, stdin, work, { host, signal });
  return { asked, stderr, stdout, stdin, modes, host };
}

const LIMIT = { timeout: WAIT_LIMIT_MS };

/** Whether it is still pending after all input has been read. */
async function isPending(asked: Promise<unknown>): Promise<boolean> {
  return (await Promise.race([asked.then(() => 'answered'), setImmediate('pending')])) === 'pending';
}

describe('a line that is typed', () => {
  it('is returned unchanged, without its line ending.', async () => {
    const { asked, stdin, stderr, stdout } = start(({ line }) => line('Name:'));
    stdin.write('  ada \r\n');
    expect(await asked).toBe('  ada ');
    expect([stderr.written, stdout.written]).toEqual(['Name: ', '']);
    stdin.destroy();
  });

  it('is undefined at the end of the input.', async () => {
    const { asked, stdin } = start(async ({ line, hidden }) => [await line('One:'), await hidden('Two:')]);
    stdin.end();
    expect(await asked).toEqual([undefined, undefined]);
  });
});

describe('a question that is aborted', () => {
  it('has no answer, and no other one follows.', async () => {
    const giving = new AbortController();
    const work = async ({ confirm }: Questions): Promise<boolean[]> => [
      await confirm('One?'),
      await confirm('Two?'),
    ];
    const { asked, stdin, stderr } = start(work, { signal: giving.signal });
    giving.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    expect(stderr.written).toBe('One? [y/N] \n');
    stdin.destroy();
  });

  it('is not asked if it was aborted before.', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    const { asked, stdin, stderr } = start(({ line }) => line('Name:'), { signal });
    await expect(asked).rejects.toThrow('enough');
    expect(stderr.written).toBe('');
    stdin.destroy();
  });
});

describe('a line that is typed without echo', () => {
  it('is read key by key, with corrections, and repeated nowhere.', async () => {
    const { asked, stdin, stderr, stdout, modes } = start(({ hidden }) => hidden('Key:'));
    for (const key of ['s', 'e', 'x', '\u007F', 'c', 'r', 'et', '\r']) stdin.write(key);
    expect(await asked).toBe('secret');
    expect(`${stderr.written}${stdout.written}`).toBe('Key: \n');
    expect(modes).toEqual([true, false]);
    stdin.destroy();
  });

  it('can stand between others, and does not answer them.', async () => {
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

  it.each([
    ['Ctrl-C', 'sec\u0003ret\r', 'SIGINT'],
    ['Ctrl-\\', 'sec\u001Cret\r', 'SIGQUIT'],
  ])('ends the process as usual on %s, with the terminal restored.', async (_, keys, signal) => {
    const { asked, stderr, stdin, modes, host } = start(({ hidden }) => hidden('Key:'));
    stdin.write(keys);
    await vi.waitFor(() => expect(host.actions).toEqual([`${signal} to 7, heard by 0`]), LIMIT);
    expect([modes, stderr.written]).toEqual([[true, false], 'Key: ']);
    expect(await isPending(asked)).toBe(true);
    stdin.destroy();
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'])(
    'restores the terminal before %s ends the process.',
    async (signal) => {
      const { asked, stdin, modes, host } = start(({ hidden }) => hidden('Key:'));
      const signals: unknown[] = [];
      host.kill = (_, sent) => void signals.push([sent, [...modes], host.eventNames()]);
      stdin.write('sec');
      host.emit(signal);
      expect(signals).toEqual([[signal, [true, false], []]]);
      stdin.write('ret\r');
      expect(await isPending(asked)).toBe(true);
      stdin.destroy();
    },
  );

  it('is suspended by Ctrl-Z with the terminal restored, and continues without echo.', async () => {
    const { asked, stdin, modes, host } = start(({ hidden }) => hidden('Key:'));
    const signals: unknown[] = [];
    host.kill = (_, sent) => void signals.push([sent, [...modes]]);
    stdin.write('sec\u001Aret\r');
    expect(await asked).toBe('secret');
    expect(signals).toEqual([['SIGTSTP', [true, false]]]);
    expect([modes, host.eventNames()]).toEqual([[true, false, true, false], []]);
    stdin.destroy();
  });

  it('is undefined after Ctrl-D; it is not even asked for if the terminal cannot hide it.', async () => {
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
