/** Clients that send anything: the gateway survives, every request gets one answer, and the next client is served. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../../src/gateway/gateway.js';
import { serveHttp, type HttpService } from '../../../src/gateway/http/serve-http.js';
import { serveStdio } from '../../../src/gateway/stdio/serve-stdio.js';
import { message, text } from '../../support/arbitraries.js';
import { fuzz } from '../../support/fuzz.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ask, initialize, ofSession } from '../../support/gateway-http-client.js';

useLeakCheck();
useCrashWatch();

const METHODS = [
  'ping',
  'tools/list',
  'tools/call',
  'resources/read',
  'resources/subscribe',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'initialize',
  'no/such',
];
const TOOLS = ['mcp__parrot__say', 'mcp__gone__x', 'say', ''];

let gateway: Gateway;
let service: HttpService;

beforeAll(async () => {
  gateway = createGateway({
    servers: { parrot: { type: 'in-process', server: parrot() }, gone: { command: 'no-such-command' } },
    policy: { maxAttempts: 1 },
  });
  service = await serveHttp(gateway, { maxBodyBytes: 20_000 });
  await gateway.start();
});

afterAll(async () => {
  await service.close({ gracePeriodMs: 0 });
  await gateway.close();
});

/** A server that repeats the arguments of a call. */
function parrot(): { connect(transport: never): Promise<void> } {
  interface Asked {
    readonly id?: number;
    readonly method: string;
    readonly params?: Readonly<Record<string, unknown>>;
  }
  interface Pipe {
    onmessage: (message: Asked) => void;
    send(message: object): Promise<void>;
    start(): Promise<void>;
  }
  const answers: Readonly<Record<string, (params: Asked['params']) => object>> = {
    initialize: (params) => ({
      protocolVersion: params?.['protocolVersion'],
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} },
      serverInfo: { name: 'parrot', version: '1' },
    }),
    'tools/list': () => ({ tools: [{ name: 'say', inputSchema: { type: 'object' } }] }),
    'tools/call': (params) => ({ content: [{ type: 'text', text: JSON.stringify(params) }] }),
  };
  return {
    connect: async (transport: never) => {
      const pipe = transport as Pipe;
      pipe.onmessage = ({ id, method, params }) => {
        if (id === undefined) return;
        const result = answers[method]?.(params);
        const error = { code: -32601, message: 'Method not found' };
        void pipe.send({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) });
      };
      await pipe.start();
    },
  };
}

const params = fc.oneof(
  fc.dictionary(text, fc.jsonValue(), { maxKeys: 3 }),
  fc.record({
    name: fc.constantFrom(...TOOLS),
    arguments: fc.dictionary(text, fc.jsonValue(), { maxKeys: 3 }),
  }),
  fc.record({ uri: text, name: text, level: text }),
  fc.record({ protocolVersion: text, capabilities: fc.jsonValue() }),
);
const request = fc.record({ method: fc.constantFrom(...METHODS), params });
interface Request {
  readonly method: string;
  readonly params: object;
}
type Piece = Buffer | Request;
const piece: fc.Arbitrary<Piece> = fc.oneof(
  { weight: 3, arbitrary: request },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: message.map((value) => Buffer.from(JSON.stringify(value))) },
  { weight: 1, arbitrary: fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))) },
  { weight: 1, arbitrary: fc.nat(30_000).map((depth) => Buffer.from('['.repeat(depth) + ']'.repeat(depth))) },
);
const pieces = fc.array(piece, { maxLength: 15 });

/** Each request on its own line, with its own id. */
function toBytes(given: readonly Piece[]): { readonly bytes: Buffer; readonly ids: readonly string[] } {
  const ids: string[] = [];
  const lines = given.map((each) => {
    if (Buffer.isBuffer(each)) return each;
    ids.push(`r-${ids.length}`);
    return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: ids.at(-1), ...each }));
  });
  return { bytes: Buffer.concat(lines.flatMap((line) => [Buffer.from('\n'), line])), ids };
}

interface Answer {
  readonly jsonrpc: string;
  readonly id?: unknown;
  readonly method?: string;
}

function answersTo(id: unknown, answers: readonly Answer[]): number {
  return answers.filter((each) => each.method === undefined && each.id === id).length;
}

describe('a client that sends anything', () => {
  it('gets one answer to each request over stdio, and the end of its input ends the session.', () =>
    fuzz(
      60,
      fc.asyncProperty(pieces, fc.array(fc.nat(200), { maxLength: 10 }), async (given, cuts) => {
        const { bytes, ids } = toBytes([
          Buffer.from(JSON.stringify({ ...initialize(), id: 'init' })),
          ...given,
        ]);
        const input = new PassThrough();
        let written = '';
        const output = new Writable({
          write: (chunk, _, done) => {
            written += String(chunk);
            done();
          },
        });
        const { closed } = await serveStdio(gateway, { input, output, maxMessageBytes: 20_000 });
        let from = 0;
        for (const cut of cuts) {
          input.write(bytes.subarray(from, from + cut));
          from += cut;
        }
        input.end(bytes.subarray(from));
        await closed;
        const answers = written
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as Answer);
        for (const id of ['init', ...ids]) expect([id, answersTo(id, answers)]).toEqual([id, 1]);
        for (const each of answers) expect(each.jsonrpc).toBe('2.0');
      }),
    ));

  it('gets one answer to each request over HTTP, and every rejection is JSON-RPC.', async () => {
    const begun = await ask(service.port, { body: initialize() });
    await begun.text();
    const headers = ofSession(String(begun.headers['mcp-session-id']));
    let count = 0;
    await fuzz(
      100,
      fc.asyncProperty(piece, async (given) => {
        count += 1;
        const id = `http-${count}`;
        const body = Buffer.isBuffer(given) ? given : { jsonrpc: '2.0', id, ...given };
        const reply = await ask(service.port, { body, headers });
        if (reply.headers['content-type'] === 'text/event-stream') {
          const answers = (await reply.messages()) as readonly object[] as readonly Answer[];
          if (!Buffer.isBuffer(given)) expect(answersTo(id, answers)).toBe(1);
        } else if (reply.status !== 202) {
          const answer = JSON.parse(await reply.text()) as Answer | readonly Answer[];
          for (const each of Array.isArray(answer) ? answer : [answer])
            expect(each).toMatchObject({ jsonrpc: '2.0' });
          expect([200, 400, 413]).toContain(reply.status);
        }
      }),
    );
  });

  it('does not affect other clients with bytes that are not HTTP.', () =>
    fuzz(
      40,
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
          text.map((path) => Buffer.from(`POST /mcp${path} HTTP/1.1\r\nhost: ${path}\r\n\r\n`)),
          fc
            .nat(99)
            .map((length) =>
              Buffer.from(
                `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${service.port}\r\ncontent-type: application/json\r\naccept: */*\r\ncontent-length: ${length}\r\n\r\n{"a"`,
              ),
            ),
        ),
        async (bytes) => {
          const socket = connect(service.port, '127.0.0.1');
          socket.on('error', () => {});
          const isClosed = once(socket, 'close');
          socket.end(bytes);
          socket.resume();
          await once(socket, 'finish').catch(() => {});
          socket.destroy();
          await isClosed;
          const reply = await ask(service.port, { body: initialize() });
          await reply.text();
          expect(reply.status).toBe(200);
          const headers = ofSession(String(reply.headers['mcp-session-id']));
          expect((await ask(service.port, { method: 'DELETE', headers })).status).toBe(204);
        },
      ),
    ));
});
