/** The servers of a scenario: many bench servers, on each kind of transport. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { inNewEra, inProcessServer, makeAnswers } from './bench-server.mjs';

const FILE = fileURLToPath(new URL('./bench-server.mjs', import.meta.url));

/** `s0`, `s1` and so on; `flagsOf(index)` returns the flags of each. */
export function stdioServers(count, mark, flagsOf = () => []) {
  return Array.from({ length: count }, (_, index) => ({
    name: `s${index}`,
    kind: 'stdio',
    command: process.execPath,
    args: [FILE, `--run=${mark}`, ...flagsOf(index)],
  }));
}

/** Behind a shell that keeps running, as with `npx` and start scripts. */
export function underShell({ command, args, ...server }) {
  const line = [command, ...args].map((word) => `'${word}'`).join(' ');
  return { ...server, command: '/bin/sh', args: ['-c', `${line}; exit $?`] };
}

/** They share their list of tools, so that a thousand of them need little memory. */
export function memoryServers(count, toolCount) {
  const answer = makeAnswers(toolCount);
  return Array.from({ length: count }, (_, index) => ({
    name: `s${index}`,
    kind: 'memory',
    server: inProcessServer(answer),
  }));
}

/** The same for the new era of the protocol. */
export function newEraServers(count) {
  const answer = inNewEra(makeAnswers());
  return Array.from({ length: count }, (_, index) => ({
    name: `s${index}`,
    kind: 'memory',
    era: 'new',
    server: inProcessServer(answer),
  }));
}

/** One server in its own process, so that its work does not count for the client. */
export async function httpServer(mark) {
  const args = [FILE, '--http', `--run=${mark}`];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const [port] = await once(child.stdout, 'data');
  const url = `http://127.0.0.1:${Number(port)}/mcp`;
  const end = async () => {
    const gone = once(child, 'exit');
    child.stdin.end();
    await gone;
  };
  return { server: { name: 's0', kind: 'http', url }, end };
}
