/**
 * `npm start`: seven servers in one console. Six become ready, one over HTTP; the seventh does not exist.
 *
 * The HTTP server runs in a thread of this process, so that nothing of it is left however the process ends. Words
 * after `npm start --` go to `troupe up`.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

const everything = new URL(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
const config = fileURLToPath(new URL('demo.mcp.json', import.meta.url));

// The paths in the configuration start from the working directory.
process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
process.env.DEMO_PORT = await findFreePort();
const server = new Worker(everything, {
  argv: ['streamableHttp'],
  env: { ...process.env, PORT: process.env.DEMO_PORT },
  stdout: true,
  stderr: true,
});
server.stdout.resume();
await once(server.stderr, 'data');
server.stderr.resume();

// npm passes a signal on to its shell, which dies of it and leaves this process behind.
const parent = process.ppid;
const watch = setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
}, 500);

process.argv.splice(2, 0, 'up', '--config', config);
await import('../../dist/bundle/src/cli/main.js');
clearInterval(watch);
await server.terminate();

async function findFreePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return String(port);
}
