/** A server without sessions over HTTP whose streams break: a stream that breaks costs its own request at most. */
import type { ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { createTroupe } from '../../../src/index.js';
import { createGate } from '../../support/gate.js';
import { recordEvents } from '../../support/event-record.js';
import { startServer, type Seen } from '../../support/http-server.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const TOOLS = ['broken', 'held', 'quick'].map((name) => ({ name, inputSchema: { type: 'object' } }));
const RESULTS: Readonly<Record<string, object>> = {
  'server/discover': {
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: { listChanged: true } },
    ttlMs: 0,
    cacheScope: 'private',
  },
  'tools/list': { tools: TOOLS, ttlMs: 60_000, cacheScope: 'private' },
};

function answer(res: ServerResponse, { rpc }: Seen, result: object): void {
  const message = { jsonrpc: '2.0', id: rpc.id, result: { resultType: 'complete', ...result } };
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));
}

function stream(res: ServerResponse, message: object): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
}

it('A stream that breaks loses one call at most, and no connection.', async () => {
  const held = createGate();
  const listening: ServerResponse[] = [];
  const server = await startServer((seen, res) => {
    const { method = '', params = {} } = seen.rpc;
    const result = RESULTS[method];
    if (result !== undefined) return answer(res, seen, result);
    if (method === 'subscriptions/listen') {
      listening.push(res);
      return stream(res, { method: ACKNOWLEDGED, params: { notifications: { toolsListChanged: true } } });
    }
    if (params['name'] === 'broken') {
      stream(res, { method: 'notifications/message', params: { level: 'info', data: 'begun' } });
      return void setImmediate(() => res.destroy());
    }
    const finish = (): void => answer(res, seen, { content: [{ type: 'text', text: 'done' }] });
    if (params['name'] === 'held') void held.promise.then(finish);
    else finish();
  });
  const entry = { type: 'http', url: server.url } as const;
  const troupe = createTroupe({ servers: { a: entry }, cache: false });
  onTestFinished(async () => {
    await troupe.close();
    await server.close();
  });
  const events = recordEvents(troupe.events$);
  const isListen = ({ rpc }: Seen): boolean => rpc.method === 'subscriptions/listen';
  const isHeld = ({ rpc }: Seen): boolean => rpc.params?.['name'] === 'held';
  await troupe.start();
  const connection = troupe.connection('a')!;
  const { generation } = connection.status;
  await server.arrived(isListen);

  const waiting = connection.callTool('held');
  await server.arrived(isHeld);
  await expect(connection.callTool('broken')).rejects.toMatchObject({ name: 'OutcomeUnknownError' });
  listening[0]!.destroy();
  await server.arrived(isListen, 2);
  held.open();

  const done = { content: [{ type: 'text', text: 'done' }] };
  expect(await waiting).toMatchObject(done);
  expect(await connection.callTool('quick')).toMatchObject(done);
  expect(connection.status).toMatchObject({ state: 'ready', generation });
  expect(events.of('connection.lost')).toEqual([]);
  expect(server.seen.filter(({ rpc }) => rpc.params?.['name'] === 'broken')).toHaveLength(1);
});
