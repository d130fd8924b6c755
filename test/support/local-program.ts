/** Starts real MCP servers and the faulty servers of the kit as separate processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export interface LocalProgram {
  /** The line that reported it ready. */
  readonly line: string;
  stop(): Promise<void>;
}

export interface ProgramStart {
  /** Path below the project's root. */
  readonly file: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A matching line on stdout or stderr means that it is ready. */
  readonly ready: RegExp;
}

const ROOT = new URL('../../', import.meta.url);

/** Runs a script with Node. Rejects if the script ends before it is ready. */
export async function startProgram({
  file,
  args = [],
  env = {},
  ready,
}: ProgramStart): Promise<LocalProgram> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(file, ROOT)), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'close');
  const line = await Promise.race([
    firstLine(child.stdout, ready),
    firstLine(child.stderr, ready),
    exited.then(() => Promise.reject(new Error(`${file} ended before it was ready.`))),
  ]);
  return {
    line,
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Keeps reading after that line, so that a full pipe does not block the program. */
function firstLine(stream: Readable, pattern: RegExp): Promise<string> {
  return new Promise((resolve) => {
    createInterface(stream).on('line', (line) => {
      if (pattern.test(line)) resolve(line);
    });
  });
}
