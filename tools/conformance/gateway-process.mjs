/** `troupe serve --bare` over HTTP, in front of the fixture. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TROUPE = fileURLToPath(new URL('../../dist/bundle/src/cli/main.js', import.meta.url));
const START_LIMIT_MS = 30_000;
const END_LIMIT_MS = 15_000;
const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/mcp/;

/**
 * Resolves when it listens. `fixture` is the program behind it. `close` resolves with its exit code, null if it had to be
 * killed.
 */
export async function startGateway(fixture = 'server.mjs') {
  const program = fileURLToPath(new URL(`fixture/${fixture}`, import.meta.url));
  const folder = await mkdtemp(join(tmpdir(), 'troupe-conformance-'));
  const config = join(folder, 'mcp.json');
  await writeFile(
    config,
    JSON.stringify({ mcpServers: { fixture: { command: process.execPath, args: [program] } } }),
  );
  const words = ['serve', '--bare', '--http=0', '--no-token', '--config', config];
  const child = spawn(process.execPath, [TROUPE, ...words], {
    env: { ...process.env, TROUPE_CACHE: 'off' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (log += text));
  }
  const ended = once(child, 'close');
  const close = async () => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS);
    const [code] = await ended;
    clearTimeout(timer);
    await rm(folder, { recursive: true, force: true });
    return code;
  };
  try {
    const url = await addressIn(child.stdout, () => log, ended);
    return { url, close, log: () => log };
  } catch (error) {
    await close();
    throw error;
  }
}

async function addressIn(stream, log, ended) {
  const limit = AbortSignal.timeout(START_LIMIT_MS);
  const over = ended.then(() => 'It has ended.');
  const late = once(limit, 'abort').then(() => `It has not begun within ${START_LIMIT_MS} ms.`);
  for (;;) {
    const address = ADDRESS.exec(log())?.[0];
    if (address !== undefined) return address;
    const why = await Promise.race([once(stream, 'data'), over, late]);
    if (typeof why === 'string') throw new Error(`The gateway: ${why}\n${log()}`);
  }
}
