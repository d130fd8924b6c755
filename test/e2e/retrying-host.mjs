/**
 * A host whose servers are all at one address, which this process reaches at another: a server of the own machine would share no
 * budget with other hosts. It runs until it is killed.
 */
import { createTroupe } from 'mcp-troupe';
import { createFleet } from 'mcp-troupe/fleet';
import { createRedisEngine } from 'mcp-troupe/fleet-redis';

const { label, origin, connections, retryBudget, engine } = JSON.parse(process.argv[2]);
const policy = { maxAttempts: 1_000, backoff: [1] };
const names = Array.from({ length: connections }, (_, i) => `${label}${i}`);
const fleet =
  engine === undefined
    ? {}
    : { fleet: createFleet({ engine: createRedisEngine({ address: engine }), key: 'ab'.repeat(32) }) };
const troupe = createTroupe({
  servers: Object.fromEntries(
    names.map((name) => [name, { url: 'http://server.example/mcp', headers: { 'x-name': name }, policy }]),
  ),
  network: { fetch: (url, init) => fetch(new URL(new URL(url).pathname, origin), init) },
  cache: false,
  retryBudget,
  ...fleet,
});
await troupe.start();
