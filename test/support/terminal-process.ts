/** Runs a program in a real terminal (a pty), as a person sits at it: keys go in, and the screen can be read. */
import { setTimeout as pause } from 'node:timers/promises';
import { spawn, type IPty } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { MAIN, personalEnvironment } from './troupe-process.js';
import { WAIT_LIMIT_MS } from './time-limit.js';

const LOOK_MS = 20;

export interface TerminalOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

export class TerminalProcess {
  readonly #pty: IPty;
  readonly #screen: InstanceType<typeof xterm.Terminal>;
  #written = '';
  #code: number | undefined;

  constructor(program: string, words: readonly string[], options: TerminalOptions = {}) {
    const { cwd = process.cwd(), env = {}, columns: cols = 80, rows = 24 } = options;
    this.#screen = new xterm.Terminal({ cols, rows, allowProposedApi: true, scrollback: 1_000 });
    this.#pty = spawn(program, [...words], {
      cols,
      rows,
      cwd,
      env: { ...personalEnvironment(), TERM: 'xterm-256color', ...env },
    });
    this.#pty.onData((data) => {
      this.#written += data;
      this.#screen.write(data);
    });
    this.#pty.onExit(({ exitCode }) => {
      this.#code = exitCode;
    });
  }

  /** Runs the built command. */
  static troupe(args: readonly string[], options?: TerminalOptions): TerminalProcess {
    return new TerminalProcess(process.execPath, [MAIN, ...args], options);
  }

  get pid(): number {
    return this.#pty.pid;
  }

  /** Everything that was written, with escape sequences. */
  get written(): string {
    return this.#written;
  }

  /** Whether the alternative screen is shown. */
  get isAlternative(): boolean {
    return this.#screen.buffer.active.type === 'alternate';
  }

  /** What a person sees, and on the normal screen also what has scrolled away. */
  get text(): string {
    const { active } = this.#screen.buffer;
    return Array.from(
      { length: active.length },
      (_, row) => active.getLine(row)?.translateToString(true) ?? '',
    )
      .join('\n')
      .trimEnd();
  }

  type(keys: string): void {
    this.#pty.write(keys);
  }

  resize(columns: number, rows: number): void {
    this.#screen.resize(columns, rows);
    this.#pty.resize(columns, rows);
  }

  signal(signal: NodeJS.Signals): void {
    this.#pty.kill(signal);
  }

  /** Resolves with the text when it matches. */
  async shows(pattern: RegExp): Promise<string> {
    return this.until(() => pattern.test(this.text), `the screen showed ${pattern}`);
  }

  /** Resolves with the text when it is so. Kills the program if that takes too long. */
  async until(isSo: () => boolean, what: string): Promise<string> {
    for (const end = Date.now() + WAIT_LIMIT_MS; Date.now() < end; await pause(LOOK_MS))
      if (isSo()) return this.text;
    this.#pty.kill('SIGKILL');
    throw new Error(`${WAIT_LIMIT_MS} ms passed before ${what}:\n${this.text}`);
  }

  /** The exit code. */
  async finished(): Promise<number> {
    await this.until(() => this.#code !== undefined, 'the program ended');
    return this.#code ?? -1;
  }

  /** Kills what still runs. */
  async close(): Promise<void> {
    if (this.#code === undefined) this.#pty.kill('SIGKILL');
    await this.finished();
    this.#screen.dispose();
  }
}
