/** A server with questions decides how many answers it gets: their cost has to be limited, and they must block nothing. */
import { expect, it } from 'vitest';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { createSseTransport } from '../../../../src/transports/http/sse.js';
import type { TransportError } from '../../../../src/failures/transport-error.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useHttpFixture } from '../../../support/http-fixture.js';
import { open, request } from '../../../support/session-record.js';
import { mcp, openStream, refuse, type Seen } from '../../../support/http-server.js';

useLeakCheck();
const connect = useHttpFixture();

const AT_ONCE = 64;
/** Limits for a reply and for the rest of one. */
const REPLY_MS = 10_000;
const REST_MS = 2_500;

const answerTo = (id: number | string): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: {} });
const isAnswer = ({ method, rpc }: Seen): boolean =>
  method === 'POST' && rpc.id !== undefined && rpc.method === undefined;

it.each([
  ['never replies', REPLY_MS, () => {}],
  [
    'never ends its reply',
    REST_MS,
    (_seen: Seen, res: Parameters<typeof openStream>[0]) => void res.writeHead(202).write('x'),
  ],
])(
  'A server that %s to answers takes a limited number of sockets, and other messages pass',
  async (_, limitMs, accept) => {
    const { server, clock, transport, recorded } = await connect(
      mcp({ accept: (seen, res) => (isAnswer(seen) ? accept(seen, res) : refuse(202)(seen, res)) }),
    );
    await open(transport);
    const outcomes = Array.from({ length: 1_000 }, (_unused, id) =>
      transport.send(answerTo(id)).catch(() => {}),
    );
    await server.arrived(isAnswer, AT_ONCE);
    await transport.send(request(1, 'tools/call'));
    expect(recorded.messages.at(-1)).toMatchObject({ id: 1 });
    expect(server.seen.filter(isAnswer)).toHaveLength(AT_ONCE);
    expect(server.sockets.size).toBeLessThan(AT_ONCE + 5);
    await clock.advance(limitMs);
    await server.arrived(isAnswer, 2 * AT_ONCE);
    await transport.close();
    await Promise.all(outcomes);
    await server.idle();
    expect(server.seen.filter(isAnswer)).toHaveLength(2 * AT_ONCE);
    expect(clock.pending).toEqual([]);
  },
);

it('All answers arrive if the server replies, however many there are', async () => {
  const { server, transport } = await connect(mcp());
  await open(transport);
  await Promise.all(Array.from({ length: 500 }, (_, id) => transport.send(answerTo(id))));
  const ids = server.seen.filter(isAnswer).map(({ rpc }) => Number(rpc.id));
  expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 500 }, (_, id) => id));
});

it('Waiting answers take a limited amount of memory; the rest is refused as not sent', async () => {
  const { transport } = await connect(
    mcp({ accept: (seen, res) => (isAnswer(seen) ? undefined : void res.writeHead(202).end()) }),
  );
  await open(transport);
  const refused: TransportError[] = [];
  const long = 'x'.repeat(1_024 * 1_024);
  const sent = Array.from({ length: 200 }, (_, id) =>
    transport
      .send(answerTo(`${long}${id}`))
      .catch((error: unknown) => void refused.push(error as TransportError)),
  );
  await new Promise(setImmediate);
  expect(refused.length).toBeGreaterThan(100);
  expect(refused[0]).toMatchObject({ written: false, failure: { code: 'connection-lost' } });
  await transport.kill();
  await Promise.all(sent);
});

it('The older transport limits answers in the same way', async () => {
  const { server, transport } = await connect(
    (seen, res) => {
      if (seen.method === 'GET') openStream(res).write('event: endpoint\ndata: /post\n\n');
    },
    { create: createSseTransport },
  );
  await transport.start();
  const outcomes = Array.from({ length: 300 }, (_, id) => transport.send(answerTo(id)).catch(() => {}));
  await server.arrived(isAnswer, AT_ONCE);
  await transport.kill();
  await Promise.all(outcomes);
  await server.idle();
  expect(server.seen.filter(isAnswer)).toHaveLength(AT_ONCE);
});
