/** Whatever the server does with its replies, each request has exactly one outcome, and nothing is left. */
import { expect, it } from 'vitest';
import { systemClock } from '../../../../src/ports.js';
import type { TransportError } from '../../../../src/failures/transport-error.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useHttpFixture } from '../../../support/http-fixture.js';
import { open, request } from '../../../support/session-record.js';
import {
  answer,
  event,
  mcp,
  openStream,
  refuse,
  result,
  type Handler,
} from '../../../support/http-server.js';

useLeakCheck();
const connect = useHttpFixture();

/** What can happen to a request, and the outcome it must have. */
const FATES: readonly (readonly [outcome: 'answered' | 'rejected' | 'lost', handle: Handler])[] = [
  ['answered', (seen, res) => answer(res, seen, {})],
  ['answered', (seen, res) => void openStream(res).end(event(result(seen.rpc.id, {})))],
  ['answered', (seen, res) => void openStream(res).end(event(result(seen.rpc.id, {})).repeat(2))],
  ['answered', (seen, res) => void openStream(res).end(`retry: 1\nid: ${seen.rpc.id}\ndata:\n\n`)],
  [
    'answered',
    (seen, res) => {
      openStream(res).write(event(result(seen.rpc.id, {}), 'x'), () => res.destroy());
    },
  ],
  ['rejected', (_seen, res) => void res.destroy()],
  ['rejected', refuse(500)],
  ['rejected', refuse(200, '<html>', { 'content-type': 'text/html' })],
  [
    'rejected',
    refuse(200, '{"jsonrpc":"2.0","id":"other","result":{}}', { 'content-type': 'application/json' }),
  ],
  [
    'rejected',
    (_seen, res) => {
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': '99' });
      res.write('{', () => res.destroy());
    },
  ],
  ['lost', (_seen, res) => void openStream(res).end()],
  ['lost', (_seen, res) => void openStream(res).write('data: {"half', () => res.destroy())],
  ['lost', (_seen, res) => void openStream(res).end('data: not json\n\n')],
];

it('Three hundred requests at once, handled in thirteen ways, have the expected outcomes', async () => {
  const { server, transport, recorded } = await connect(
    mcp({
      sessionId: 's-1',
      request: (seen, res) => FATES[Number(seen.rpc.id) % FATES.length]?.[1](seen, res),
      listen: (seen, res) => {
        const id = seen.headers['last-event-id'];
        if (id === undefined) refuse(405)(seen, res);
        else openStream(res).end(event(result(Number(id), {})));
      },
    }),
    { clock: systemClock },
  );
  await open(transport);
  const ids = Array.from({ length: 300 }, (_, n) => n + 1);
  const rejected = new Map<number, TransportError>();
  await Promise.all(
    ids.map((id) =>
      transport
        .send(request(id, 'x'))
        .catch((error: unknown) => void rejected.set(id, error as TransportError)),
    ),
  );
  await recorded.until(
    () => recorded.messages.length - 1 + recorded.lost.length + rejected.size >= ids.length,
  );
  await transport.close();
  await server.idle();

  const outcomes = new Map<number, string[]>(ids.map((id) => [id, []]));
  for (const message of recorded.messages) {
    if ('id' in message) outcomes.get(Number(message.id))?.push('answered');
  }
  for (const { id } of recorded.lost) outcomes.get(Number(id))?.push('lost');
  for (const id of rejected.keys()) outcomes.get(id)?.push('rejected');
  expect([...outcomes]).toEqual(ids.map((id) => [id, [FATES[id % FATES.length]?.[0]]]));
  expect(transport.ended).toBeUndefined();
});
