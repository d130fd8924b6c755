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
const server = createScriptedServer(fromArgument(script));
if (server.script.stubborn === true) body.beStubborn();
if (control !== undefined) takeOrders(control);
process.stdout.on('error', () => void body.close());
await server.connect(body);

/** Whoever gave the orders is gone when the socket closes; the client may still be there. */
function takeOrders(path: string): void {
  const socket = connect(path);
  socket.on('error', () => {});
  socket.unref();
  createInterface({ input: socket }).on('line', (line) => obey(server, JSON.parse(line) as ScriptedOrder));
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
