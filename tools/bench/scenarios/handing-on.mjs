/** The cost of handing a call on to the replica that has its session, compared with the same call to that replica. */
import { existsSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { published } from '../from-dist.mjs';
import { stdioServers } from '../servers.mjs';
import { median } from '../statistics.mjs';

const WARM_UP = 500;
const KEY = 'ab'.repeat(32);

export const scenario = {
  name: 'handing-on',
  title: 'Sessions over replicas',
  about:
    'A client calls a tool of a stdio server over HTTP, one call after another: at the replica that has its session, and at ' +
    'another, which hands the call on. Client and both replicas are in one process, with an engine in memory.',
  metrics: {
    ownUs: { label: 'at the host of the session, median', unit: 'µs' },
    handedUs: { label: 'at another host, median', unit: 'µs' },
    addedMs: { label: 'added by handing on', unit: 'ms' },
  },
  cases: ({ isQuick }) => [
    {
      name: 'http',
      params: { calls: isQuick ? 300 : 1_000, rounds: 5 },
      clients: ['troupe'],
      ...{ runs: isQuick ? 1 : 3, seconds: isQuick ? 4 : 8 },
    },
  ],
};

export async function measure({ params: { calls, rounds }, mark, dist }) {
  if (!existsSync(join(dist, 'src/fleet/hosts.d.ts'))) throw new Error('this build has no hosts');
  const load = (path) => import(pathToFileURL(published(path, dist)));
  const { createGateway, serveHttp } = await load('src/gateway/index.js');
  const { createFleet, createMemoryEngine } = await load('src/fleet/index.js');
  const engine = createMemoryEngine();
  const replicas = [];
  for (let count = 0; count < 2; count += 1) {
    const [{ command, args }] = stdioServers(1, mark);
    const fleet = createFleet({ engine, key: KEY });
    const gateway = createGateway({ servers: { s0: { command, args } }, cache: false, fleet });
    const service = await serveHttp(gateway, { publicUrl: 'http://mcp.example.com' });
    await gateway.start();
    replicas.push({ gateway, service });
  }
  const agent = new Agent({ keepAlive: true });
  const [own, other] = replicas.map(({ service }) => service.port);
  const session = await begin(agent, own);
  const figures = { ownUs: [], handedUs: [] };
  const ports = { ownUs: own, handedUs: other };
  for (const port of Object.values(ports)) await timesOf(agent, port, session, WARM_UP);
  for (let round = 0; round < rounds; round += 1)
    for (const [name, port] of Object.entries(ports))
      figures[name].push(median(await timesOf(agent, port, session, calls)) * 1_000);
  agent.destroy();
  for (const { gateway, service } of replicas) {
    await service.close({ gracePeriodMs: 0 });
    await gateway.close();
  }
  await engine.close();
  const [ownUs, handedUs] = Object.values(figures).map(median);
  return { ownUs, handedUs, addedMs: (handedUs - ownUs) / 1_000 };
}

function post(agent, port, message, headers = {}) {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        agent,
        host: '127.0.0.1',
        port,
        path: '/mcp',
        method: 'POST',
        headers: {
          host: 'mcp.example.com',
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'content-length': Buffer.byteLength(body),
          ...headers,
        },
      },
      (response) => {
        text(response).then((answer) => resolve({ response, answer }), reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

async function begin(agent, port) {
  const clientInfo = { name: 'bench', version: '1.0.0' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const { response } = await post(agent, port, { id: 0, method: 'initialize', params });
  const session = { 'mcp-session-id': response.headers['mcp-session-id'] };
  await post(agent, port, { method: 'notifications/initialized' }, session);
  return session;
}

async function timesOf(agent, port, session, count) {
  const times = [];
  for (let id = 1; id <= count; id += 1) {
    const params = { name: 'mcp__s0__tool_0', arguments: { text: `call ${id}` } };
    const begun = performance.now();
    const { answer } = await post(agent, port, { id, method: 'tools/call', params }, session);
    times.push(performance.now() - begun);
    if (!answer.includes(`call ${id}`)) throw new Error(`Another answer: ${answer}`);
  }
  return times;
}
