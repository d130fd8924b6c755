/**
 * A scripted server as a program: `node scripted-server-main.js SCRIPT [CONTROL]`. `SCRIPT` is a server script as JSON, or
 * the path of a file that holds one; `CONTROL` is the path of a socket from which it takes orders, one JSON text a line, and
 * over which it reports what it has received and done. It begins once it has followed the first order.
 */
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { fromArgument } from './check-script.js';
import { createScriptedServer, type ScriptedServer, type ScriptedBody } from './scripted-server.js';
import type { ProgramNote } from './scripted-program.js';
import type { Received, ScriptedOrder } from './server-script.js';
import type { Transport } from '../mcp/transport.js';
import type { JSONRPCMessage } from '../mcp/messages.js';

const A_LONG_TIME_MS = 3_600_000;

/** Carries a scripted server on the stdin and stdout of this process. The process ends when its stdin ends. */
class StdioBody implements ScriptedBody {
  onclose?: () => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  onerror?: (error: Error) => void;
  /** Tells the test what has arrived. */
  onreceived?: (note: ProgramNote) => void;
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
      const message = JSON.parse(line) as JSONRPCMessage;
      if ('method' in message) this.onreceived?.({ received: noteOf(message) });
      this.onmessage?.(message);
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
  if (control !== undefined) await takeOrders(one, control);
  if (one.script.stubborn === true) body.ignoreSignals();
  process.stdout.on('error', () => void body.close());
  await one.connect(body);
}

/** Resolves after the first order. When the socket closes, the process goes on: the client may still be there. */
function takeOrders(one: ScriptedServer, path: string): Promise<void> {
  const socket = connect(path);
  const tell = (note: ProgramNote): void => void socket.write(`${JSON.stringify(note)}\n`);
  body.onreceived = tell;
  socket.on('error', () => {});
  return new Promise((resolve) => {
    socket.on('close', () => resolve());
    const lines = createInterface({ input: socket });
    // It passes on the errors of its input.
    lines.on('error', () => {});
    lines.on('line', (line) => {
      obey(one, JSON.parse(line) as ScriptedOrder);
      tell({ done: true });
      socket.unref();
      resolve();
    });
  });
}

/** Its own misbehavior needs no session. */
function obey(one: ScriptedServer, { stderr, garbage, fault, exitCode = 1, ...order }: ScriptedOrder): void {
  one.obey(order);
  if (stderr !== undefined) body.writeStderr(stderr);
  if (garbage !== undefined) body.writeGarbage(garbage);
  if (fault === 'crash') body.crash(exitCode);
}

function noteOf(message: Extract<JSONRPCMessage, { method: string }>): Omit<Received, 'session'> {
  const { method, params = {} } = message;
  return { method, params, id: 'id' in message ? message.id : undefined };
}
