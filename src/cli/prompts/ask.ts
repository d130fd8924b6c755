/**
 * Questions to a person at a terminal, asked on stderr and answered with a line on stdin.
 *
 * Q1. Anything that is not clearly a yes is a no: an empty line, another word, the end of the input.
 * Q2. A line answers the question that is open when it arrives; a line typed ahead answers nothing.
 * Q3. A signal, or a key that sends one, works as it does without a question, even while an answer is hidden. The
 *     terminal is restored by then.
 */
import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import { listenForSignals, type SignalledProcess } from '../exit.js';
import type { Terminal } from '../output/terminal.js';

export interface Questions {
  readonly confirm: (question: string) => Promise<boolean>;
  /** The line that was typed; undefined at the end of the input. */
  readonly line: (question: string) => Promise<string | undefined>;
  /** Like `line`, but the answer is not shown. Undefined also if the terminal cannot hide it. */
  readonly hidden: (question: string) => Promise<string | undefined>;
}

export interface AskOptions {
  /** Ends the questions: a pending one rejects with its reason, and no more are asked. */
  readonly signal?: AbortSignal;
  readonly host?: SignalledProcess;
}

/** Whether a person can be asked. */
export function canAsk({ stderr }: Terminal, stdin: NodeJS.ReadableStream): boolean {
  return stderr.isTTY === true && 'isTTY' in stdin && stdin.isTTY === true;
}

/** Reads from stdin while the work asks, and not afterwards. */
export async function asking<T>(
  terminal: Terminal,
  stdin: NodeJS.ReadableStream,
  work: (questions: Questions) => Promise<T>,
  { signal, host = process }: AskOptions = {},
): Promise<T> {
  const lines = createInterface({ input: stdin, terminal: false });
  let isOver = false;
  lines.once('close', () => {
    isOver = true;
  });
  const giveUp = (): void => lines.close();
  signal?.addEventListener('abort', giveUp, { once: true });
  const ask = async (question: string, answer: () => Promise<string | undefined>) => {
    signal?.throwIfAborted();
    terminal.stderr.write(`${question} `);
    const given = isOver ? undefined : await answer();
    if (given === undefined) terminal.note('');
    signal?.throwIfAborted();
    return given;
  };
  const line = (question: string) => ask(question, () => nextLine(lines));
  const hidden = async (question: string) => {
    if (!canHide(stdin)) return undefined;
    const answer = await ask(question, () => nextHidden(stdin, host));
    if (answer !== undefined) terminal.note('');
    return answer;
  };
  const confirm = async (question: string) => /^\s*y(es)?\s*$/i.test((await line(`${question} [y/N]`)) ?? '');
  try {
    return await work({ confirm, line, hidden });
  } finally {
    signal?.removeEventListener('abort', giveUp);
    lines.close();
  }
}

/** Undefined at the end of the input. */
function nextLine(lines: Interface): Promise<string | undefined> {
  return new Promise((resolve) => {
    const settle = (line?: string): void => {
      lines.off('line', settle);
      lines.off('close', settle);
      resolve(line);
    };
    lines.on('line', settle);
    lines.on('close', settle);
  });
}

const CTRL_BACKSLASH = '\u001C';

interface HidingInput extends NodeJS.ReadableStream {
  setRawMode(isRaw: boolean): unknown;
}

function canHide(stdin: NodeJS.ReadableStream): stdin is HidingInput {
  return 'setRawMode' in stdin;
}

/** The terminal echoes nothing while the keys are read one by one. A signal leaves the question open. */
function nextHidden(stdin: HidingInput, host: SignalledProcess): Promise<string | undefined> {
  const nowhere = new Writable({ write: (_, __, done) => done() });
  const keys = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  return new Promise((resolve) => {
    const leave = (): void => {
      stopListening();
      stdin.off('keypress', onKey);
      keys.off('line', settle);
      keys.off('close', settle);
      keys.close();
      stdin.resume();
    };
    const settle = (line?: string): void => {
      leave();
      resolve(line);
    };
    const raise = (signal: NodeJS.Signals): void => {
      leave();
      host.kill(host.pid, signal);
    };
    const onKey = (key: unknown): void => {
      if (key === CTRL_BACKSLASH) raise('SIGQUIT');
    };
    const stopListening = listenForSignals(host, raise);
    stdin.on('keypress', onKey);
    keys.on('SIGINT', () => raise('SIGINT'));
    keys.on('SIGTSTP', () => {
      stdin.setRawMode(false);
      host.kill(host.pid, 'SIGTSTP');
      stdin.setRawMode(true);
    });
    keys.on('line', settle);
    keys.on('close', settle);
  });
}
