/**
 * A scripted server as a program: `node scripted-server-main.js SCRIPT [CONTROL]`. `SCRIPT` is a server script as JSON, or
 * the path of a file that holds one; `CONTROL` is the path of a socket from which it takes orders, one JSON a line.
 */
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { fromArgument } from './script-argument.js';
import { createScriptedServer, type ScriptedServer } from './scripted-server.js';
import type { ScriptedOrder } from './scripted-program.js';
import { StdioBody } from './stdio-body.js';

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
  if (one.script.stubborn === true) body.beStubborn();
  if (control !== undefined) takeOrders(one, control);
  process.stdout.on('error', () => void body.close());
  await one.connect(body);
}

/** Whoever gave the orders is gone when the socket closes; the client may still be there. */
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
  if (stderr !== undefined) body.complain(stderr);
  if (garbage !== undefined) body.garble(garbage);
  if (fault === 'crash') body.crash(exitCode);
}
