/**
 * A host of the fleet: `host.mjs ENGINE PORT LEASE_MS FILE`. Tells its parent each state of its connection to the server, and
 * whether it runs the server itself. Leaves at the message `leave`.
 */
import { fileURLToPath } from 'node:url';
import { createTroupe } from 'mcp-troupe';
import { createFleet } from 'mcp-troupe/fleet';
import { connectEngine } from '../hosts/connect-engine.mjs';

const [kind, port, leaseMs, file] = process.argv.slice(2);
const SERVER = fileURLToPath(new URL('../../../test/support/beating-server.mjs', import.meta.url));

const engine = await connectEngine(kind, port);
const fleet = createFleet({ engine, key: '07'.repeat(32), serverLeaseMs: Number(leaseMs) });
const troupe = createTroupe({
  servers: { one: { command: process.execPath, args: [SERVER, file], only: 'fleet' } },
  startGateMs: 0,
  cache: false,
  fleet,
});
const tell = () => {
  const { state, pid } = troupe.connection('one').status;
  if (process.connected) process.send({ state, holds: state === 'ready' && pid !== null });
};
troupe.events$.subscribe(tell);
await troupe.start();
tell();

const leave = async () => {
  await troupe.close();
  await engine.close();
  process.exit(0);
};
process.on('message', (text) => {
  if (text === 'leave') void leave();
});
process.on('disconnect', () => process.exit(1));
