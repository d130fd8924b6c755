/** A scripted server as a child process: its entry for a troupe, and a way to give it orders while it runs. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fieldName, type Path } from '../config/entry/problem.js';
import { inPackage } from '../package.js';
import { THIS_PLATFORM } from '../platform/platform.js';
import { checkOrder, checkScript, toArgument } from './check-script.js';
import type { Received, ScriptedOrder, ServerScript } from './server-script.js';

/** A server entry for `createTroupe` that starts the program. */
export interface ProgramEntry {
  /** Path of Node. */
  readonly command: string;
  /** The script file and its arguments. */
  readonly args: readonly string[];
}

/** Options of `scriptedProgram` and `controlProgram`. */
export interface ScriptedProgramOptions {
  /** Path of the Node that runs it. Default: the Node of this process. */
  readonly node?: string;
  /** Path of the built `scripted-server-main.js`. Default: the one in this package. */
  readonly main?: string;
}

/**
 * An entry for `createTroupe` that starts a child process which follows the script.
 *
 * @param script What it offers and how it answers, as plain JSON. Default: a well-behaved server with one tool,
 *   `echo`.
 * @param options Paths of Node and of the program. Default: the Node of this process, and the program of this
 *   package.
 *
 * @throws `TypeError` if the script makes no sense, or holds a function, which cannot be sent to another
 * process.
 * @throws `RangeError` if the script is too long for a command line (128 KiB).
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { scriptedProgram } from 'mcp-troupe/testing';
 *
 * const files = scriptedProgram({ start: { fault: 'crash', exitCode: 3 } });
 * await using troupe = createTroupe({ servers: { files } });
 * ```
 */
export function scriptedProgram(
  script: ServerScript = {},
  options: ScriptedProgramOptions = {},
): ProgramEntry {
  checkScript(script);
  return { command: options.node ?? process.execPath, args: [mainOf(options), toArgument(asJson(script))] };
}

/**
 * A scripted server in a process of its own that takes orders from the test.
 *
 * @example
 * ```ts
 * import { controlProgram } from 'mcp-troupe/testing';
 *
 * const program = await controlProgram();
 * await program.whenRunning(); // once a troupe has started `program.config`
 * await program.send({ stderr: 'out of memory' });
 * await program.close();
 * ```
 */
export interface ControlledProgram {
  /** Entry for `createTroupe` that starts the program. */
  readonly config: ProgramEntry;
  /** What the processes of the program have received, in order of arrival; `session` is the number of the process. */
  readonly received: readonly Received[];
  /** Whether a process of the program listens for orders. */
  readonly isRunning: boolean;
  /** Resolves once a process of the program listens for orders, at once if one does. */
  whenRunning(): Promise<void>;
  /**
   * Sends an order to the process that was started last. Resolves once it has followed it, or has ended. Without a process, a
   * script waits for the next one.
   *
   * @param order What the process does now. An empty order does nothing.
   *
   * @throws `Error` if no process is running, unless the order is a script alone.
   * @throws `TypeError` for an order that makes no sense.
   */
  send(order: ScriptedOrder): Promise<void>;
  /** Closes the channel. The troupe that started the process ends it. */
  close(): Promise<void>;
}

/**
 * Like `scriptedProgram`, with a local socket over which every process of the program takes orders.
 *
 * @param script What it offers and how it answers, as plain JSON. Default: a well-behaved server with one tool,
 *   `echo`.
 * @param options Paths of Node and of the program. Default: the Node of this process, and the program of this
 *   package.
 *
 * @throws What `scriptedProgram` throws.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { controlProgram } from 'mcp-troupe/testing';
 *
 * const program = await controlProgram();
 * await using troupe = createTroupe({ servers: { files: program.config } });
 * await troupe.start();
 * await program.send({ fault: 'crash' });
 * ```
 */
export async function controlProgram(
  script: ServerScript = {},
  options: ScriptedProgramOptions = {},
): Promise<ControlledProgram> {
  const { command, args } = scriptedProgram(script, options);
  const path = socketPath();
  const channel = new ControlChannel();
  const server = createServer((socket) => channel.add(socket));
  server.listen(path);
  await once(server, 'listening');
  return {
    config: { command, args: [...args, path] },
    received: channel.received,
    get isRunning() {
      return channel.isRunning;
    },
    whenRunning: () => channel.whenRunning(),
    send: (order) => channel.send(order),
    close: () => closeAll(server, channel),
  };
}

/** What a process says over the channel: it has received a message, or followed an order. */
export type ProgramNote = { readonly received: Omit<Received, 'session'> } | { readonly done: true };

interface Process {
  readonly socket: Socket;
  /** What waits for the orders that it has not followed yet, in order. */
  readonly waiting: (() => void)[];
}

class ControlChannel {
  readonly received: Received[] = [];
  readonly #processes = new Set<Process>();
  readonly #waiting = new Set<() => void>();
  /** The script that was ordered last; each process begins with it. */
  #script: ServerScript | undefined;
  #count = 0;

  add(socket: Socket): void {
    const session = (this.#count += 1);
    const process: Process = { socket, waiting: [] };
    this.#processes.add(process);
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#processes.delete(process);
      for (const resolve of process.waiting) resolve();
    });
    const lines = createInterface({ input: socket });
    // It passes on the errors of its input.
    lines.on('error', () => {});
    lines.on('line', (line) => {
      const note = JSON.parse(line) as ProgramNote;
      if ('done' in note) process.waiting.shift()?.();
      else this.received.push({ ...note.received, session });
    });
    void order(process, asJson(this.#script === undefined ? {} : { script: this.#script }));
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  get isRunning(): boolean {
    return this.#processes.size > 0;
  }

  whenRunning(): Promise<void> {
    if (this.isRunning) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  async send(next: ScriptedOrder): Promise<void> {
    checkOrder(next);
    const { listening, script, ...others } = next;
    if (listening !== undefined)
      throw new TypeError("The order is invalid: 'listening': only an HTTP server listens.");
    const text = asJson(next);
    this.#script = script ?? this.#script;
    const latest = [...this.#processes].at(-1);
    if (latest !== undefined) return order(latest, text);
    if (script === undefined || Object.keys(others).length > 0)
      throw new Error('No process of this program is running.');
  }

  end(): void {
    for (const { socket } of this.#processes) socket.destroy();
  }
}

/** Resolves once the process has followed the order, or has ended. */
function order({ socket, waiting }: Process, text: string): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    socket.write(`${text}\n`);
  });
}

async function closeAll(server: Server, channel: ControlChannel): Promise<void> {
  const isClosed = once(server, 'close');
  server.close();
  channel.end();
  await isClosed;
}

function socketPath(): string {
  const name = `troupe-script-${randomUUID().slice(0, 8)}`;
  return THIS_PLATFORM.paths.sep === '\\' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), name);
}

function mainOf({ main }: ScriptedProgramOptions): string {
  return main ?? inPackage('dist/bundle/src/testing/scripted-server-main.js');
}

function asJson(value: object): string {
  const place = functionIn(value, []);
  if (place === undefined) return JSON.stringify(value);
  throw new TypeError(
    `A script for a child process cannot hold a function, but '${fieldName(place)}' is one: use an answer instead.`,
  );
}

/** The path to the first function in a script. */
function functionIn(value: unknown, path: Path): Path | undefined {
  if (typeof value === 'function') return path;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = functionIn(inner, [...path, Array.isArray(value) ? Number(key) : key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
