/** HTTP servers with any replies: each request has one outcome, and closing leaves no socket behind. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { SessionTransport } from '../../../src/transports/session-transport.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import { createSseTransport } from '../../../src/transports/http/sse.js';
import { createStreamableHttpTransport } from '../../../src/transports/http/streamable-http.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { INITIALIZE, notification, record, request } from '../../support/session-record.js';
import { message, text } from '../../support/arbitraries.js';
import { fuzz } from '../../support/fuzz.js';
import { startHostileServer, type HostileServer, type Reply } from './hostile-server.js';
import { WAIT_LIMIT_MS } from '../../support/time-limit.js';

useLeakCheck();
useCrashWatch();

let server: HostileServer;
beforeAll(async () => {
  server = await startHostileServer();
});
afterAll(() => server.close());

const latin1 = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
});

const header = fc.tuple(
  fc.constantFrom(
    'content-type',
    'content-length',
    'transfer-encoding',
    'content-encoding',
    'mcp-session-id',
    'location',
    'www-authenticate',
    'retry-after',
    'connection',
    'set-cookie',
  ),
  fc.oneof(
    fc.constantFrom(
      'text/event-stream',
      'application/json',
      'chunked',
      'gzip',
      '0',
      '3',
      '-1',
      'close',
      'upgrade',
    ),
    fc.constantFrom(
      '9'.repeat(400),
      '/mcp',
      '/elsewhere',
      'http://[',
      'http://127.0.0.1:1/',
      '//',
      'x'.repeat(20_000),
    ),
    latin1,
  ),
);

const status = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(200, 200, 202, 204, 301, 303, 307, 400, 401, 403, 404, 405, 409, 429, 503),
  },
  { weight: 1, arbitrary: fc.constantFrom(100, 101, 103, 0, 99, 600, 999, 1_000) },
);

const eventStream = fc
  .array(
    fc.oneof(
      message.map((value) => `data: ${JSON.stringify(value)}\n\n`),
      fc.constantFrom(
        'id: 1\ndata:\n\n',
        'retry: 0\n\n',
        `retry: ${'9'.repeat(30)}\n\n`,
        'id: a\u0001\n\n',
        ': x\n',
        'data: ',
        '\r',
      ),
      text.map((value) => `id: ${value}\ndata: ${value}\n\n`),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

/** A body; `ID` stands for the id of the request. */
const body = fc.oneof(
  { weight: 2, arbitrary: message.map((value) => JSON.stringify(value)) },
  { weight: 2, arbitrary: fc.constantFrom('{"jsonrpc":"2.0","id":ID,"result":{}}', '[]', '{', '', 'null') },
  { weight: 1, arbitrary: fc.array(message, { maxLength: 5 }).map((values) => JSON.stringify(values)) },
  {
    weight: 4,
    arbitrary: eventStream.map((events) => `${events}data: {"jsonrpc":"2.0","id":ID,"result":{}}\n\n`),
  },
  { weight: 2, arbitrary: eventStream },
  { weight: 1, arbitrary: latin1 },
);

const idOf = (sent: string): string => /"id":("[^"]*"|\d+)/.exec(sent)?.[1] ?? 'null';

interface Http {
  readonly status: number;
  readonly type: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  readonly framing: 'length' | 'chunked' | 'close';
  readonly cutAt: number | undefined;
}

function toReply({ status: code, type, headers, body: content, framing, cutAt }: Http): Reply {
  return (sent) => {
    const bytes = Buffer.from(content.replaceAll('ID', idOf(sent)));
    const frame = {
      length: `content-length: ${bytes.length}`,
      chunked: 'transfer-encoding: chunked',
      close: 'x: y',
    };
    const head = [
      `HTTP/1.1 ${code} Whatever`,
      `content-type: ${type}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      frame[framing],
    ].join('\r\n');
    const whole = Buffer.concat([
      Buffer.from(`${head}\r\n\r\n`, 'latin1'),
      ...(framing === 'chunked' ? chunked(bytes) : [bytes]),
    ]);
    return whole.subarray(0, cutAt ?? whole.length);
  };
}

function chunked(bytes: Buffer): Buffer[] {
  const middle = bytes.length >> 1;
  const pieces = [bytes.subarray(0, middle), bytes.subarray(middle)].filter(({ length }) => length > 0);
  return [
    ...pieces.flatMap((piece) => [
      Buffer.from(`${piece.length.toString(16)}\r\n`),
      piece,
      Buffer.from('\r\n'),
    ]),
    Buffer.from('0\r\n\r\n'),
  ];
}

const hostileReply: fc.Arbitrary<Reply> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record<Http>({
        status,
        type: fc.oneof(
          { weight: 4, arbitrary: fc.constantFrom('text/event-stream', 'application/json') },
          { weight: 1, arbitrary: fc.constantFrom('text/html', 'TEXT/EVENT-STREAM ; x', '', ';') },
        ),
        headers: fc.oneof(
          { weight: 3, arbitrary: fc.constant([]) },
          { weight: 1, arbitrary: fc.array(header, { maxLength: 3 }) },
        ),
        body,
        framing: fc.constantFrom('length', 'chunked', 'close'),
        cutAt: fc.option(fc.nat(400), { nil: undefined, freq: 5 }),
      })
      .map(toReply),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => () => Buffer.from(bytes)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Reply>(
      () => Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(2_000)),
      () => Buffer.from(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(3_000)}\r\n`),
      () =>
        Buffer.from(
          'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-type: application/json\r\n\r\nzz\r\n',
        ),
      () => Buffer.from('HTTP/0.9 200\n\n'),
    ),
  },
);

const json = (value: object, headers: Http['headers'] = []): Reply =>
  toReply({
    status: 200,
    type: 'application/json',
    headers,
    body: JSON.stringify(value).replace('"ID"', 'ID'),
    framing: 'length',
    cutAt: undefined,
  });

const INITIALIZED = json(
  {
    jsonrpc: '2.0',
    id: 'ID',
    result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'a', version: '1' } },
  },
  [['mcp-session-id', 's']],
);
const ACCEPTED: Reply = () => Buffer.from('HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n');

/** Fails after a time limit. */
async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what} took longer than ${WAIT_LIMIT_MS} ms`)),
      WAIT_LIMIT_MS,
    );
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** The error of a message; undefined if it was sent. */
async function outcome(
  transport: SessionTransport,
  sent: JSONRPCMessage,
): Promise<TransportError | undefined> {
  try {
    await within('a send', transport.send(sent));
    return undefined;
  } catch (error) {
    if (error instanceof TransportError) return error;
    throw error;
  }
}

describe('a hostile HTTP server', () => {
  it('leads to one outcome for each request, and no socket is left', () =>
    fuzz(
      120,
      fc.asyncProperty(
        fc.array(hostileReply, { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        async (replies, isOpenedWell) => {
          const clock = createControlledClock();
          server.replies = isOpenedWell ? [INITIALIZED, ACCEPTED, ...replies] : [...replies];
          const transport = createStreamableHttpTransport({
            url: server.url,
            clock,
            stop: { deleteMs: 1_000 },
            limits: { remoteMessageBytes: 100_000 },
          });
          const session = record(transport);
          await transport.start();
          const ids = [0, 1, 'two', 3];
          const rejected = new Map<unknown, TransportError>();
          const note = (id: unknown, error: TransportError | undefined): void => {
            if (error !== undefined) rejected.set(id, error);
          };
          note(0, await outcome(transport, INITIALIZE));
          await outcome(transport, notification('notifications/initialized'));
          for (const id of ids.slice(1)) note(id, await outcome(transport, request(id, 'tools/list')));
          for (let pauses = 0; pauses < 8; pauses += 1) await clock.advance(10_000);
          await within('the kill', transport.kill());
          await within('the end of the sockets', server.idle());
          expect(session.closes).toBe(1);
          expect(clock.pending).toEqual([]);
          for (const id of ids) {
            const answers = session.messages.filter(
              (one) => 'id' in one && one.id === id && !('method' in one),
            );
            const losses = session.lost.filter((one) => one.id === id);
            const outcomes = answers.length + losses.length + Number(rejected.has(id));
            expect(outcomes).toBeLessThanOrEqual(1);
            if (transport.ended === undefined && rejected.size === 0) expect(outcomes).toBe(1);
          }
          for (const { failure } of [...rejected.values(), ...session.lost]) {
            expect(failure.message.length).toBeLessThan(2_000);
          }
        },
      ),
    ));

  it('leads to one outcome for the start of an SSE session, and no socket is left', () =>
    fuzz(
      80,
      fc.asyncProperty(
        fc.array(hostileReply, { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (replies, names) => {
          const clock = createControlledClock();
          const endpoint = toReply({
            status: 200,
            type: 'text/event-stream',
            headers: [],
            body: 'event: endpoint\ndata: /mcp\n\n',
            framing: 'close',
            cutAt: undefined,
          });
          server.replies = names ? [endpoint, ...replies] : [...replies];
          const transport = createSseTransport({
            url: server.url,
            clock,
            stop: { deleteMs: 1_000 },
            limits: { remoteMessageBytes: 100_000 },
          });
          const session = record(transport);
          const starting = within('the start', transport.start());
          const started = await starting.then(
            () => true,
            (error: unknown) => {
              expect(error).toBeInstanceOf(TransportError);
              return false;
            },
          );
          if (started) await outcome(transport, INITIALIZE);
          await within('the kill', transport.kill());
          await within('the end of the sockets', server.idle());
          expect(session.closes).toBeLessThanOrEqual(1);
          expect(clock.pending).toEqual([]);
        },
      ),
    ));
});
