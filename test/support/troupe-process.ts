/**
 * Runs the built command in its own process, as a person or a script does. Every wait has a time limit; when it is over,
 * the process is killed and the error contains its output.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import process from 'node:process';
import { SAME_PRESS_MS } from '../../src/cli/exit.js';
import { checkOutput } from './command-output.js';
import { withinLimit } from './within-limit.js';
import { WAIT_LIMIT_MS } from './time-limit.js';

export const MAIN = fileURLToPath(new URL('../../dist/bundle/src/cli/main.js', import.meta.url));
/** Variables of the environment of the tests that would change the behavior of the command. */
const UNWANTED = ['NO_COLOR', 'FORCE_COLOR', 'TROUPE_TIMEOUT_MS', 'CI'];

/** The environment of a person who runs the command. */
export function personalEnvironment(): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !UNWANTED.includes(name)));
}

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Whether stdin stays open after `stdin`, for `type`. Default: it ends. */
  readonly keepsStdin?: boolean;
  /** Whether stdout is not read before `readStdout()`. Default: it is read from the start. */
  readonly leavesStdout?: boolean;
}

export class TroupeProcess {
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<Finished>;
  readonly #watchers = new Set<() => void>();

  /** Whether its output is complete when it ends. */
  #isRead = true;

  private constructor(
    private readonly words: readonly string[],
    options: StartOptions,
  ) {
    if (!existsSync(MAIN)) throw new Error(`${MAIN} is missing. Run \`npm run build\`.`);
    this.#child = startNode(words, options);
    this.#collect('stderr');
    if (options.leavesStdout !== true) this.readStdout();
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) =>
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr }),
      );
    });
  }

  static start(args: readonly string[], options: StartOptions = {}): TroupeProcess {
    return new TroupeProcess([MAIN, ...args], options);
  }

  /** Starts a script that runs the command in its own process. */
  static startScript(script: string, args: readonly string[], options: StartOptions = {}): TroupeProcess {
    return new TroupeProcess([script, ...args], options);
  }

  /** Resolves when stdout or stderr contains matching text. */
  async saw(pattern: RegExp, stream: 'stdout' | 'stderr' = 'stdout'): Promise<void> {
    const seen = new Promise<void>((resolve) => {
      const check = (): void => {
        if (pattern.test(this[stream])) resolve();
      };
      this.#watchers.add(check);
      check();
    });
    await this.#within(Promise.race([seen, this.#ended]), `the process wrote ${pattern}`);
    if (!pattern.test(this[stream]))
      throw new Error(`The process ended before it wrote ${pattern}.\n${this.#output()}`);
  }

  /** Writes a line to stdin. */
  type(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  endStdin(): void {
    this.#child.stdin?.end();
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends a signal again, late enough not to count as a repetition of the previous one. */
  async signalAgain(signal: NodeJS.Signals): Promise<void> {
    await pause(SAME_PRESS_MS + 100);
    this.signal(signal);
  }

  readStdout(): void {
    this.#collect('stdout');
  }

  /** Closes the reading end of stdout. */
  hangUp(): void {
    this.#isRead = false;
    this.#child.stdout?.destroy();
  }

  /** Whether the process ends by itself within this time. */
  async endsWithin(ms: number): Promise<boolean> {
    const stop = new AbortController();
    const isOver = await Promise.race([
      this.#ended.then(() => true),
      pause(ms, false, { signal: stop.signal }).catch(() => false),
    ]);
    stop.abort();
    return isOver;
  }

  /** Rejects if it printed JSON that the published schema does not allow. */
  async finished(): Promise<Finished> {
    const finished = await this.#within(this.#ended, 'the process ended');
    if (this.#isRead && finished.signal === null) checkOutput(this.words, finished.stdout);
    return finished;
  }

  #collect(stream: 'stdout' | 'stderr'): void {
    this.#child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      this[stream] += text;
      for (const check of this.#watchers) check();
    });
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
    return `stdout: ${this.stdout}\nstderr: ${this.stderr}`;
  }
}

function startNode(
  words: readonly string[],
  { cwd, env, stdin, keepsStdin = false }: StartOptions,
): ChildProcess {
  const child = spawn(process.execPath, words, {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...personalEnvironment(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // Writing fails if the program has already ended.
  child.stdin.on('error', () => {});
  if (stdin !== undefined) child.stdin.write(stdin);
  if (!keepsStdin) child.stdin.end();
  return child;
}

/** Runs the command to its end. */
export async function runTroupe(args: readonly string[], options?: StartOptions): Promise<Finished> {
  return TroupeProcess.start(args, options).finished();
}
