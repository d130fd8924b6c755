/** A run that leaves the tools of its servers in the cache: `node earlier-run.mjs DIST SERVERS`. */
import { pathToFileURL } from 'node:url';
import { published } from './from-dist.mjs';

const [dist, servers] = process.argv.slice(2);
const { createTroupe } = await import(pathToFileURL(published('src/index.js', dist)));
const entries = JSON.parse(servers).map(({ name, command, args }) => [name, { command, args }]);
const troupe = createTroupe({ servers: Object.fromEntries(entries), startGateMs: 120_000 });
await troupe.start();
await troupe.close();
