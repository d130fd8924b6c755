/** Invalid messages of a server, in any number: they are reported rarely, and cost little. */
import { expect, it } from 'vitest';
import { createSseTransport } from '../../../../src/transports/http/sse.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useHttpFixture } from '../../../support/http-fixture.js';
import { open, request, failureOf } from '../../../support/session-record.js';
import { event, mcp, openStream, refuse, result } from '../../../support/http-server.js';

useLeakCheck();
const connect = useHttpFixture();

const CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

it.each([
  ['a batch of a hundred thousand numbers', data(Array.from({ length: 100_000 }, () => 0)), 'bad-message'],
  ['a batch of a million numbers', data(Array.from({ length: 1_000_000 }, () => 0)), 'message-too-large'],
  ['a hundred thousand numbers', '0'.repeat(100_000).replaceAll('0', 'data: 0\n\n'), 'bad-message'],
])('An event stream with %s is reported once', async (_, stream, reported) => {
  const { clock, transport, recorded } = await connect(
    mcp({ listen: (_seen, res) => void openStream(res).write(stream + event(CHANGED)) }),
  );
  await open(transport);
  await recorded.until(() => recorded.messages.length > 1);
  expect(recorded.messages.slice(1)).toEqual([CHANGED]);
  await clock.advance(1_000);
  expect(recorded.notices.map(({ kind }) => kind)).toEqual([reported]);
});

it.each([
  ['contains something else', [CHANGED, 1]],
  ['is empty', []],
  ['is too long', Array.from({ length: 1_001 }, () => CHANGED)],
])('A batch that %s is skipped as a whole', async (_, batch) => {
  const { clock, transport, recorded } = await connect(
    mcp({ listen: (_seen, res) => void openStream(res).write(data(batch) + event(CHANGED)) }),
  );
  await open(transport);
  await recorded.until(() => recorded.messages.length > 1);
  expect(recorded.messages.slice(1)).toEqual([CHANGED]);
  await clock.advance(1_000);
  expect(recorded.notices).toMatchObject([{ kind: 'bad-message' }]);
});

it('A JSON answer in an invalid batch fails its request', async () => {
  const { transport, recorded } = await connect(
    mcp({
      request: (seen, res) => refuse(200, JSON.stringify([result(seen.rpc.id, {}), 1]), JSON_TYPE)(seen, res),
    }),
  );
  await open(transport);
  const { failure } = await failureOf(transport.send(request(1, 'tools/list')));
  expect(failure.code).toBe('http-not-mcp');
  expect(recorded.messages).toHaveLength(1);
});

const JSON_TYPE = { 'content-type': 'application/json' };

it('Pending reports are made before the end, and no timer stays', async () => {
  const { server, clock, transport, recorded } = await connect(
    (_seen, res) => void openStream(res).write(`event: endpoint\ndata: /post\n\n${data(1)}: alive\n\n`),
    { create: createSseTransport },
  );
  await transport.start();
  await recorded.until(() => clock.pending.length > 0);
  await transport.close();
  expect(recorded.notices).toMatchObject([{ kind: 'bad-message' }]);
  expect(clock.pending).toEqual([]);
  await server.idle();
});
