/**
 * A scripted server as a program: `node scripted-server-main.js SCRIPT [CONTROL]`. `SCRIPT` is a server script as JSON, or
 * the path of a file that holds one; `CONTROL` is the path of a socket from which it takes orders, one JSON text a line.
 */
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { fromArgument } from './check-script.js';
import { createScriptedServer, type ScriptedServer, type ScriptedBody } from './scripted-server.js';
import type { ScriptedOrder } from './scripted-program.js';
import type { Transport } from '../mcp/transport.js';
import type { JSONRPCMessage } from '../mcp/messages.js';

const A_LONG_TIME_MS = 3_600_000;

/** Carries a scripted server on the stdin and stdout of this process. The process ends when its stdin ends. */
class StdioBody implements ScriptedBody {
  onclose?: () => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  onerror?: (error: Error) => void;
  #hold: NodeJS.Timeout | undefined;

  /** Only SIGKILL, or an order to crash, ends the process. */
  ignoreSignals(): void {
    process.on('SIGTERM', () => {});
    this.#hold = setInterval(() => {}, A_LONG_TIME_MS);
  }

  async start(): Promise<void> {
    const lines = createInterface({ input: process.stdin });
    lines.on('line', (line) => this.#read(line));
    lines.on('close', () => void this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    process.stdout.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    process.stdin.destroy();
    this.onclose?.();
  }

  crash(exitCode: number): void {
    clearInterval(this.#hold);
    process.exitCode = exitCode;
    void this.close();
  }

  writeGarbage(garbage: string): void {
    process.stdout.write(`${garbage}\n`);
  }

  writeStderr(line: string): void {
    process.stderr.write(`${line}\n`);
  }

  #read(line: string): void {
    try {
      this.onmessage?.(JSON.parse(line) as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }
}

const [script = '{}', control] = process.argv.slice(2);
const body = new StdioBody();
const server = serverOf(script);
if (server !== undefined) await serve(server);

function serverOf(argument: string): ScriptedServer | undefined {
  try {
    return createScriptedServer(fromArgument(argument));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
    return undefined;
  }
}

async function serve(one: ScriptedServer): Promise<void> {
  if (one.script.stubborn === true) body.ignoreSignals();
  if (control !== undefined) takeOrders(one, control);
  process.stdout.on('error', () => void body.close());
  await one.connect(body);
}

/** When the socket closes, the process goes on: the client may still be there. */
function takeOrders(one: ScriptedServer, path: string): void {
  const socket = connect(path);
  socket.on('error', () => {});
  socket.unref();
  createInterface({ input: socket }).on('line', (line) => obey(one, JSON.parse(line) as ScriptedOrder));
}

function obey(one: ScriptedServer, order: ScriptedOrder): void {
  if (order.script !== undefined) one.script = order.script;
  if (order.tools !== undefined) one.changeTools(order.tools);
  if (order.send !== undefined) one.send(order.send);
  misbehave(order);
}

function misbehave({ stderr, garbage, fault, exitCode = 1 }: ScriptedOrder): void {
  if (stderr !== undefined) body.writeStderr(stderr);
  if (garbage !== undefined) body.writeGarbage(garbage);
  if (fault === 'crash') body.crash(exitCode);
}
