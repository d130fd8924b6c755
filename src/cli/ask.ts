/**
 * Questions to a person at a terminal, asked on stderr and answered with a line on stdin.
 *
 * Q1. Whatever is not clearly a yes is a no: an empty line, another word, the end of the input.
 * Q2. A line counts for the question that stands there when it comes; what is typed ahead answers nothing.
 * Q3. Ctrl-C ends the process as it would without a question, also while an answer is not shown.
 */
import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Terminal } from './terminal.js';

export interface Questions {
  readonly confirm: (question: string) => Promise<boolean>;
  /** The line that was typed; undefined at the end of the input. */
  readonly line: (question: string) => Promise<string | undefined>;
  /** As `line`, but nothing of the answer is shown. Undefined, too, where the terminal cannot hide it. */
  readonly hidden: (question: string) => Promise<string | undefined>;
}

/** Whether a person is there to be asked. */
export function canAsk({ stderr }: Terminal, stdin: NodeJS.ReadableStream): boolean {
  return stderr.isTTY === true && 'isTTY' in stdin && stdin.isTTY === true;
}

/** Reads from stdin for as long as the work asks, and leaves it alone afterwards. */
export async function asking<T>(
  terminal: Terminal,
  stdin: NodeJS.ReadableStream,
  work: (questions: Questions) => Promise<T>,
  interrupt: () => void = interruptThis,
): Promise<T> {
  const lines = createInterface({ input: stdin, terminal: false });
  let isOver = false;
  lines.once('close', () => {
    isOver = true;
  });
  const ask = async (question: string, answer: () => Promise<string | undefined>) => {
    terminal.stderr.write(`${question} `);
    const given = isOver ? undefined : await answer();
    if (given === undefined) terminal.note('');
    return given;
  };
  const line = (question: string) => ask(question, () => nextLine(lines));
  const hidden = async (question: string) => {
    if (!('setRawMode' in stdin)) return undefined;
    const answer = await ask(question, () => nextHidden(stdin, interrupt));
    if (answer !== undefined) terminal.note('');
    return answer;
  };
  const confirm = async (question: string) => /^\s*y(es)?\s*$/i.test((await line(`${question} [y/N]`)) ?? '');
  try {
    return await work({ confirm, line, hidden });
  } finally {
    lines.close();
  }
}

/** Undefined where none comes any more. */
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

/** The terminal shows nothing of itself while the keys are read one by one; Ctrl-C is one of them then, and rejects. */
async function nextHidden(stdin: NodeJS.ReadableStream, interrupt: () => void): Promise<string | undefined> {
  const nowhere = new Writable({ write: (_, __, done) => done() });
  const keys = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  let isInterrupted = false;
  keys.once('SIGINT', () => {
    isInterrupted = true;
    keys.close();
    interrupt();
  });
  const line = await nextLine(keys);
  if (isInterrupted) throw new Error('interrupted');
  keys.close();
  stdin.resume();
  return line;
}

function interruptThis(): void {
  process.kill(process.pid, 'SIGINT');
}
