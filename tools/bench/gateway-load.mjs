// Runs many HTTP sessions over many servers behind one gateway, and checks that there are no errors and no leaks.
// Usage: node --expose-gc tools/bench/gateway-load.mjs [--sessions 100] [--servers 10] [--seconds 60] [--asking 2]
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { fromDist } from './from-dist.mjs';

const { createGateway } = await fromDist('src/gateway/gateway.js');
const { serveHttp } = await fromDist('src/gateway/http/serve-http.js');
const { livingProcesses } = await fromDist('src/transports/stdio/process-table.js');

const number = (text) => ({ type: 'string', default: text });
const { values } = parseArgs({
  options: { sessions: number('100'), servers: number('10'), seconds: number('60'), asking: number('2') },
});
const [sessions, servers, seconds, asking] = ['sessions', 'servers', 'seconds', 'asking'].map((name) =>
  Number(values[name]),
);
const serverFile = fileURLToPath(new URL('./small-server.mjs', import.meta.url));

const gateway = createGateway({
  servers: Object.fromEntries(
    Array.from({ length: servers }, (_, i) => [`s${i}`, { command: process.execPath, args: [serverFile] }]),
  ),
  cache: false,
});
const service = await serveHttp(gateway);
await gateway.start();

const SIGNALS = ['exit', 'SIGINT', 'SIGTERM', 'uncaughtException', 'unhandledRejection'];
function census() {
  globalThis.gc?.();
  return {
    sessions: service.sessions,
    processes: livingProcesses().filter(({ parent }) => parent === process.pid).length,
    listeners: SIGNALS.reduce((sum, name) => sum + process.listenerCount(name), 0),
    sockets: process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length,
    heapMiB: Math.round(process.memoryUsage().heapUsed / 1_048_576),
  };
}

/** Time for the resources of clients to be released. */
async function settled(before) {
  for (let waited = 0; waited < 20; waited += 1) {
    const now = census();
    if (now.sessions === 0 && now.processes === before.processes && now.sockets <= before.sockets) return now;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return census();
}

async function loadSessions(load) {
  const words = [fileURLToPath(new URL('./load-sessions.mjs', import.meta.url)), JSON.stringify(load)];
  const clients = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  return JSON.parse(await text(clients.stdout));
}

const before = census();
// One-time growth is not a leak: it has happened after the first round.
const load = { url: service.url, sessions, servers, asking };
await loadSessions({ ...load, seconds: Math.min(5, seconds) });
const warm = await settled(before);
const { calls, errors, ms } = await loadSessions({ ...load, seconds });
const after = await settled(before);
const at = (share) => ms[Math.min(ms.length - 1, Math.floor(ms.length * share))]?.toFixed(1);

console.log(`${sessions} sessions (${asking} with own connections), ${servers} servers, ${seconds} s`);
console.log(`  calls ${calls} (${Math.round(calls / seconds)}/s), errors ${errors.length}`);
console.log(`  latency p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
for (const [name, row] of Object.entries({ before, warm, after }))
  console.log(`  ${name.padEnd(7)}`, JSON.stringify(row));
for (const error of new Set(errors.slice(0, 5))) console.log(`  ! ${error}`);

await service.close({ gracePeriodMs: 0 });
await gateway.close();
const isSound =
  errors.length === 0 &&
  calls > 0 &&
  ['sessions', 'processes', 'listeners', 'sockets'].every((name) => after[name] <= before[name]) &&
  after.heapMiB <= warm.heapMiB * 1.25 + 10;
if (!isSound) {
  console.error('There were errors or leaks.');
  process.exitCode = 1;
}
