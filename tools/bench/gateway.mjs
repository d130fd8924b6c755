// Measures the cost of a gateway for a call over stdio, compared with the server itself and with the server behind a
// process that only forwards bytes. Milliseconds depend on the machine. Usage: node tools/bench/gateway.mjs [--calls 400]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { published } from './from-dist.mjs';

// Such a variable delays the start of every Node process by about 60 ms.
delete process.env.NODE_EXTRA_CA_CERTS;

const { values } = parseArgs({ options: { calls: { type: 'string', default: '400' } } });
const CALLS = Number(values.calls);
const ROUNDS = 5;
/** Calls until the code of the gateway is compiled. */
const WARM = 2_000;
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const SERVER = [process.execPath, file('./small-server.mjs')];
const MAIN = published('src/cli/main.js');
const WAYS = {
  direct: SERVER,
  hop: [process.execPath, file('./pipe-hop.mjs'), ...SERVER],
  gateway: [process.execPath, MAIN, 'serve', '--bare', '--add', `small=${SERVER.join(' ')}`],
};

/** A minimal client, so that the other side dominates the measurement. */
async function open([command, ...args]) {
  const env = { ...process.env, TROUPE_CACHE: 'off' };
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'], env });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  let id = 0;
  const ask = (method, params) => {
    id += 1;
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  const clientInfo = { name: 'bench', version: '1.0.0' };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  const call = async (text) => {
    const { result } = await ask('tools/call', { name: 'tool_0', arguments: { text } });
    if (result?.content?.[0]?.text !== JSON.stringify({ text }))
      throw new Error('The answer belongs to another request.');
  };
  const close = async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
  };
  return { call, close };
}

async function timed(client, times) {
  for (let n = 0; n < CALLS; n += 1) {
    const begun = performance.now();
    await client.call(`call ${n}`);
    times.push(performance.now() - begun);
  }
}

const clients = {};
const times = {};
for (const [name, words] of Object.entries(WAYS)) {
  clients[name] = await open(words);
  times[name] = [];
  for (let n = 0; n < WARM; n += 1) await clients[name].call('warm');
}
for (let round = 0; round < ROUNDS; round += 1) {
  for (const name of Object.keys(WAYS)) await timed(clients[name], times[name]);
}
for (const client of Object.values(clients)) await client.close();

const at = (name, share) => times[name].toSorted((a, b) => a - b)[Math.floor(times[name].length * share)];
const ratio = (one, other, share) => (at(one, share) / at(other, share)).toFixed(2);
console.log(
  `One call over stdio, milliseconds (${ROUNDS * CALLS} calls each, interleaved, after ${WARM} that nobody measured)`,
);
for (const name of Object.keys(WAYS))
  console.log(`  ${name.padEnd(8)} p50 ${at(name, 0.5).toFixed(3)}  p99 ${at(name, 0.99).toFixed(3)}`);
console.log(
  `  gateway to direct: p50 ${ratio('gateway', 'direct', 0.5)}, p99 ${ratio('gateway', 'direct', 0.99)}`,
);
console.log(
  `  gateway to direct + one hop: p50 ${ratio('gateway', 'hop', 0.5)}, p99 ${ratio('gateway', 'hop', 0.99)}`,
);
