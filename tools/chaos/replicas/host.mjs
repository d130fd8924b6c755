/**
 * A host of the fleet: a gateway that serves HTTP, and a program that embeds its troupe and calls tools itself. Its argument has the
 * engine, the port, the address for other hosts, and the files of the servers. Answers each call of its parent with the
 * outcome, tells whether it runs the server that may run once, and leaves that to others on request. SIGTERM drains it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createFleet } from 'mcp-troupe/fleet';
import { createGateway, serveHttp } from 'mcp-troupe/gateway';
import { connectEngine } from '../hosts/connect-engine.mjs';
import { outcomeOfError, outcomeOfResult } from './outcome.mjs';

const { kind, enginePort, port, address, publicUrl, leaseMs, callTimeoutMs, drainDelayMs, journal, beats } =
  JSON.parse(process.argv[2]);
/** Another host has the server by then. */
const LEAVE_MS = 500;
const SERVER = fileURLToPath(new URL('server.mjs', import.meta.url));
const entry = (...files) => ({ command: process.execPath, args: [SERVER, ...files], callTimeoutMs });

const engine = await connectEngine(kind, enginePort);
const fleet = createFleet({ engine, key: '07'.repeat(32), address, serverLeaseMs: leaseMs });
const servers = { plain: entry(journal), once: { ...entry(journal, beats), only: 'fleet' } };
const gateway = createGateway({ servers, fleet });
const service = await serveHttp(gateway, { port, publicUrl });

async function call({ id, server, ms }) {
  try {
    const result = await gateway.troupe.connection(server).callTool('slow', { id, ms });
    return outcomeOfResult(result, id);
  } catch (error) {
    return outcomeOfError(error);
  }
}

let isLeaving = false;
async function leaveOnce() {
  if (isLeaving) return;
  isLeaving = true;
  const connection = gateway.troupe.connection('once');
  await connection.stop();
  await pause(LEAVE_MS);
  await connection.start();
  isLeaving = false;
}

gateway.troupe.events$.subscribe(() => {
  const { state, pid } = gateway.troupe.connection('once').status;
  if (process.connected) process.send({ holds: state === 'ready' && pid !== null });
});
process.on('message', async (asked) => {
  if (asked.leaves) await leaveOnce();
  else process.send({ id: asked.id, ...(await call(asked)) });
});
process.on('disconnect', () => process.exit(1));
process.once('SIGTERM', async () => {
  service.drain();
  await pause(drainDelayMs);
  await service.close();
  await gateway.close();
  await engine.close();
  process.exit(0);
});
await gateway.start();
process.send({ isReady: true });
