/**
 * Questions to a person at a terminal, asked on stderr and answered with a line on stdin.
 *
 * Q1. Whatever is not clearly a yes is a no: an empty line, another word, the end of the input.
 * Q2. A line counts for the question that stands there when it comes; what is typed ahead answers nothing.
 */
import { createInterface, type Interface } from 'node:readline';
import type { Terminal } from './terminal.js';

export type Confirm = (question: string) => Promise<boolean>;

/** Whether a person is there to be asked. */
export function canAsk({ stderr }: Terminal, stdin: NodeJS.ReadableStream): boolean {
  return stderr.isTTY === true && 'isTTY' in stdin && stdin.isTTY === true;
}

/** Reads from stdin for as long as the work asks, and leaves it alone afterwards. */
export async function asking<T>(
  terminal: Terminal,
  stdin: NodeJS.ReadableStream,
  work: (confirm: Confirm) => Promise<T>,
): Promise<T> {
  const lines = createInterface({ input: stdin, terminal: false });
  let isOver = false;
  lines.once('close', () => {
    isOver = true;
  });
  const confirm: Confirm = async (question) => {
    terminal.stderr.write(`${question} [y/N] `);
    const answer = isOver ? undefined : await nextLine(lines);
    if (answer === undefined) terminal.note('');
    return /^\s*y(es)?\s*$/i.test(answer ?? '');
  };
  try {
    return await work(confirm);
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
