/**
 * Another process of the same user: after a line on stdin, connects to a server with the sign-ins in a folder. Its
 * arguments are address, folder, client and number of connections. Prints `loaded`, then the states of the connections.
 */
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

const [url, folder, clientId, count] = process.argv.slice(2);
const vite = await createServer({
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  configFile: false,
  logLevel: 'error',
  appType: 'custom',
  server: { middlewareMode: true, watch: null, hmr: false, ws: false },
  optimizeDeps: { noDiscovery: true },
});
const { createTroupe, createFileTokenStore } = await vite.ssrLoadModule('/src/index.ts');
await Promise.all(
  [
    '/src/protocol/session-client.ts',
    '/src/transports/http/streamable-http.ts',
    '/src/auth/account/make-account.ts',
  ].map((module) => vite.ssrLoadModule(module)),
);
process.stdout.write('loaded\n');
await once(process.stdin, 'data');
const troupe = createTroupe({
  servers: Object.fromEntries(
    Array.from({ length: Number(count) }, (_, index) => [`port-${index}`, { type: 'http', url }]),
  ),
  auth: { store: createFileTokenStore({ folder }), client: { clientId } },
});
await troupe.settled({ signal: AbortSignal.timeout(20_000) });
process.stdout.write(`${JSON.stringify(troupe.status.map(({ state }) => state))}\n`);
await troupe.close();
await vite.close();
process.exit(0);
