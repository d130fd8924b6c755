/** A scripted server as a child process: its entry for a troupe, and a way to tell it what to do while it runs. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fieldName, type Path } from '../config/problem.js';
import { inPackage } from '../package.js';
import { checkOrder, checkScript } from './check-script.js';
import { toArgument } from './script-argument.js';
import type { Misbehavior, ServerScript } from './server-script.js';

/** The entry of a troupe that starts it. */
export interface ProgramEntry {
  readonly command: string;
  readonly args: readonly string[];
}

/** What a program does at once when it is told to, in this order. */
export interface ScriptedOrder extends Omit<Misbehavior, 'afterMs' | 'fault'> {
  /** The process ends. Default: none. For silence, see `script`. */
  readonly fault?: 'crash';
  /** From here on this is its script. */
  readonly script?: ServerScript;
  /** Other tools, told by `notifications/tools/list_changed`. */
  readonly tools?: NonNullable<ServerScript['tools']>;
  /** Any message, right or wrong. */
  readonly send?: unknown;
}

export interface ScriptedProgramOptions {
  /** The Node that runs it. Default: this one. */
  readonly node?: string;
  /** The built `scripted-server-main.js`. Default: the package's own. */
  readonly main?: string;
}

/**
 * The entry of a child process that follows the script: `createTroupe({ servers: { files: scriptedProgram({ … }) } })`.
 * Throws a `TypeError` where the script makes no sense, or holds a function, which no other process could run, and a
 * `RangeError` where it is too long for a command line (128 KiB).
 */
export function scriptedProgram(
  script: ServerScript = {},
  options: ScriptedProgramOptions = {},
): ProgramEntry {
  checkScript(script);
  return { command: options.node ?? process.execPath, args: [mainOf(options), toArgument(asJson(script))] };
}

/** A program that takes orders. */
export interface ControlledProgram {
  readonly config: ProgramEntry;
  /** Whether a process of it listens now. */
  readonly isRunning: boolean;
  /** Resolves when a process of it listens; the present one counts. */
  whenRunning(): Promise<void>;
  /** Tells the process that was started last. Throws where none listens, and a `TypeError` for an order that makes no sense. */
  tell(order: ScriptedOrder): void;
  /** Ends the channel; the process is the troupe's to end. */
  close(): Promise<void>;
}

/** As `scriptedProgram`, with a local socket over which every process of it takes orders. */
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
    get isRunning() {
      return channel.isRunning;
    },
    whenRunning: () => channel.whenRunning(),
    tell: (order) => channel.tell(order),
    close: () => closeAll(server, channel),
  };
}

class ControlChannel {
  readonly #sockets = new Set<Socket>();
  readonly #waiting = new Set<() => void>();

  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
    socket.resume();
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  get isRunning(): boolean {
    return this.#sockets.size > 0;
  }

  whenRunning(): Promise<void> {
    if (this.isRunning) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  tell(order: ScriptedOrder): void {
    checkOrder(order);
    const latest = [...this.#sockets].at(-1);
    if (latest === undefined) throw new Error('No process of this program is running.');
    latest.write(`${asJson(order)}\n`);
  }

  end(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

async function closeAll(server: Server, channel: ControlChannel): Promise<void> {
  const isClosed = once(server, 'close');
  server.close();
  channel.end();
  await isClosed;
}

function socketPath(): string {
  const name = `troupe-script-${randomUUID().slice(0, 8)}`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), name);
}

function mainOf({ main }: ScriptedProgramOptions): string {
  return main ?? inPackage('dist/bundle/src/testing/scripted-server-main.js');
}

function asJson(value: object): string {
  const place = functionIn(value, []);
  if (place === undefined) return JSON.stringify(value);
  throw new TypeError(
    `A script for a child process cannot hold a function, but '${fieldName(place)}' is one: say it as an answer.`,
  );
}

/** Where the first function is. */
function functionIn(value: unknown, path: Path): Path | undefined {
  if (typeof value === 'function') return path;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = functionIn(inner, [...path, Array.isArray(value) ? Number(key) : key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
