/** The cost of a call through `troupe serve`, compared with the same call without it. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { median } from '../statistics.mjs';
import { load, open } from '../clients/sdk.mjs';
import { published } from '../from-dist.mjs';
import { stdioServers } from '../servers.mjs';

const WARM_UP = 2_000;
/** Starts its arguments as a command and forwards its input and output. */
const HOP = `
  const [command, ...args] = process.argv.slice(1);
  const child = require('node:child_process').spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  process.stdin.pipe(child.stdin);
  child.stdout.pipe(process.stdout);`;

export const scenario = {
  name: 'gateway',
  title: 'The gateway',
  about:
    'The bare SDK client calls a tool of a stdio server directly, and through `troupe serve` on stdio, one call after ' +
    'another, in rounds that take turns in one process. The hop is a process in between that only forwards bytes.',
  metrics: {
    directUs: { label: 'direct, median', unit: 'µs' },
    servedUs: { label: 'through the gateway, median', unit: 'µs' },
    hopUs: { label: 'behind one pipe hop, median', unit: 'µs' },
    ratio: { label: 'gateway to hop', unit: '×' },
  },
  cases: ({ isQuick }) => [
    {
      name: 'stdio',
      params: { calls: isQuick ? 1_000 : 4_000, rounds: 5 },
      clients: ['troupe'],
      ...{ runs: isQuick ? 1 : 3, seconds: isQuick ? 4 : 7.5 },
    },
  ],
};

export async function measure({ params: { calls, rounds }, mark, dist }) {
  const command = published('src/cli/main.js', dist);
  if (!existsSync(join(dist, 'src/gateway'))) throw new Error('this build has no gateway');
  const [server] = stdioServers(1, mark);
  const config = join(process.env.TMPDIR, 'gateway.mcp.json');
  writeFileSync(
    config,
    JSON.stringify({ mcpServers: { s0: { command: server.command, args: server.args } } }),
  );
  const library = await load('stdio');
  const gateway = { name: 'gateway', kind: 'stdio', command: process.execPath };
  const direct = await open(library, [server]);
  const served = await open(library, [{ ...gateway, args: [command, 'serve', '--config', config] }]);
  const hop = await open(library, [
    { ...server, name: 'hop', command: process.execPath, args: ['-e', HOP, server.command, ...server.args] },
  ]);
  const callDirect = direct.caller('s0', 'tool_0');
  const callHop = hop.caller('hop', 'tool_0');
  const callServed = served.caller('gateway', 'mcp__s0__tool_0');
  await untilAnswered(callServed);
  const kinds = {
    directUs: () => callDirect({ text: 'x' }),
    servedUs: () => callServed({ text: 'x' }),
    hopUs: () => callHop({ text: 'x' }),
  };
  const figures = { directUs: [], servedUs: [], hopUs: [] };
  for (const call of Object.values(kinds)) await timesOf(call, WARM_UP);
  for (let round = 0; round < rounds; round += 1)
    for (const [name, call] of Object.entries(kinds))
      figures[name].push(median(await timesOf(call, calls)) * 1_000);
  await Promise.all([direct.close(), served.close(), hop.close()]);
  const [directUs, servedUs, hopUs] = Object.values(figures).map(median);
  return { directUs, servedUs, hopUs, ratio: servedUs / hopUs };
}

/** The gateway may be ready before its servers are. */
async function untilAnswered(call) {
  for (let tries = 0; tries < 100; tries += 1) {
    const { content, isError } = await call({ text: 'there' }).catch((error) => ({
      isError: true,
      content: error,
    }));
    if (!isError && content[0].text === 'there') return;
    await pause(50);
  }
  throw new Error('the gateway does not answer calls');
}

async function timesOf(call, count) {
  const times = [];
  for (let done = 0; done < count; done += 1) {
    const begun = performance.now();
    await call();
    times.push(performance.now() - begun);
  }
  return times;
}
