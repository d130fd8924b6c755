/**
 * A program that speaks JSON lines, in its own process; the test uses its pipes directly. Every wait has a time limit:
 * when it is over, the process is killed and the error contains its output.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { withinLimit } from '../../support/within-limit.js';
import { WAIT_LIMIT_MS } from '../../support/time-limit.js';

export const BUSINESS_DATA = fileURLToPath(
  new URL('../../../docs/examples/business-data-server/server.mjs', import.meta.url),
);

export interface Answer {
  readonly id?: string | number | null;
  readonly result?: Record<string, unknown>;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Record<string, unknown>;
  };
}

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export function businessData(...words: readonly string[]): Launch {
  return { command: process.execPath, args: [BUSINESS_DATA, ...words] };
}

/** The first line of a client. */
export function initialize(protocolVersion = '2025-11-25', id: string | number = 'init'): string {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'initialize', params });
}

export function request(id: string | number, method: string, params?: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

export function toolCall(id: string | number, tool: string, args: object): string {
  return request(id, 'tools/call', { name: `relevant-data.${tool}`, arguments: args });
}

export class RawServer {
  readonly stdin: ChildProcessWithoutNullStreams['stdin'];
  readonly stdout: ChildProcessWithoutNullStreams['stdout'];
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<Finished>;
  readonly #watchers = new Set<() => void>();
  #out = '';
  #err = '';

  constructor({ command, args, cwd, env }: Launch) {
    this.#child = spawn(command, [...args], {
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.stdin = this.#child.stdin;
    this.stdout = this.#child.stdout;
    this.stdin.on('error', () => {});
    this.stdout.setEncoding('utf8').on('data', (text: string) => this.#add(() => (this.#out += text)));
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => this.#add(() => (this.#err += text)));
    this.#ended = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('close', (code, signal) => {
        resolve({ code, signal, stdout: this.#out, stderr: this.#err });
        this.#notify();
      });
    });
    this.#ended.catch(() => {});
    onTestFinished(async () => {
      this.#child.kill('SIGKILL');
      await this.#ended.catch(() => {});
    });
  }

  send(...lines: readonly string[]): void {
    this.stdin.write(lines.map((line) => `${line}\n`).join(''));
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  get stderr(): string {
    return this.#err;
  }

  /** The answers so far, in order; the answer to a batch is an array. */
  get answers(): readonly (Answer | readonly Answer[])[] {
    const lines = this.#out.split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Answer);
  }

  answer(id: string | number | null): Promise<Answer> {
    return this.until(
      () => this.answers.flat().find((one) => one.id === id),
      `there was an answer to ${JSON.stringify(id)}`,
    );
  }

  /** Sends a request and returns its answer. */
  async ask(line: string): Promise<Answer> {
    this.send(line);
    return this.answer((JSON.parse(line) as { id: string | number }).id);
  }

  finished(): Promise<Finished> {
    return this.#within(this.#ended, 'the process ended');
  }

  /** Ends the input and waits for the end of the process. */
  async end(text = ''): Promise<Finished> {
    this.stdin.end(text);
    return this.finished();
  }

  async until<T>(look: () => T | undefined, what: string): Promise<T> {
    const seen = new Promise<T>((resolve) => {
      const check = (): void => {
        const found = look();
        if (found === undefined) return;
        this.#watchers.delete(check);
        resolve(found);
      };
      this.#watchers.add(check);
      check();
    });
    const over = this.#ended.then(() => {
      const found = look();
      if (found === undefined) throw new Error(`The process ended before ${what}.\n${this.#output()}`);
      return found;
    });
    return this.#within(Promise.race([seen, over]), what);
  }

  #add(add: () => void): void {
    add();
    this.#notify();
  }

  #notify(): void {
    for (const check of this.#watchers) check();
  }

  #within<T>(wait: Promise<T>, what: string): Promise<T> {
    return withinLimit(wait, {
      limitMs: WAIT_LIMIT_MS,
      child: this.#child,
      what,
      output: () => this.#output(),
    });
  }

  #output(): string {
    return `stdout: ${this.#out}\nstderr: ${this.#err}`;
  }
}
