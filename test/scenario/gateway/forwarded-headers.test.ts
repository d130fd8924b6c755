/** Headers of HTTP clients reach the server with their own calls, as far as the entry names them. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, describe, expect, it } from 'vitest';
import { serveHttp, type HttpService } from '../../../src/gateway/http/serve-http.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useGateways } from '../../support/gateway-rig.js';
import { answer, mcp, startServer, type Seen, type TestServer } from '../../support/http-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { passTime } from '../../support/test-troupe.js';
import type { ControlledClock } from '../../support/controlled-clock.js';

const CALLS = 8;
const WHO = 'x-who';
const IDENTITY = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
  serverInfo: { name: 'test', version: '1' },
};
/** The answers to everything but calls. */
const RESULTS: Readonly<Record<string, object>> = {
  'tools/list': { tools: [{ name: 'who', inputSchema: { type: 'object' } }] },
  'resources/list': { resources: [{ uri: 'test://one', name: 'one' }] },
  'resources/templates/list': { resourceTemplates: [] },
  'prompts/list': { prompts: [{ name: 'greet' }] },
  'resources/read': { contents: [] },
  'prompts/get': { messages: [] },
  'completion/complete': { completion: { values: [] } },
};

describe('the headers of two clients of one server', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useGateways();
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  /** Answers tools/call once all calls of both clients are there, in reverse order. */
  async function upstream(calls: number): Promise<TestServer> {
    const waiting: (() => void)[] = [];
    const server = await startServer(
      mcp({
        initialize: (seen, res) => answer(res, seen, IDENTITY, { 'mcp-session-id': 'session' }),
        request: (seen, res) => {
          const reply = (result: object): void => answer(res, seen, result);
          const known = RESULTS[seen.rpc.method ?? ''];
          if (known !== undefined) return reply(known);
          if (seen.rpc.method !== 'tools/call') return void res.writeHead(404).end();
          waiting.push(() => reply({ content: [{ type: 'text', text: String(seen.headers[WHO]) }] }));
          if (waiting.length === calls) for (const each of waiting.splice(0).toReversed()) each();
        },
      }),
    );
    ends.push(() => server.close());
    return server;
  }

  async function connect(
    service: HttpService,
    clock: ControlledClock,
    headers: Record<string, string>,
  ): Promise<Client> {
    const client = new Client({ name: 'client', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(service.url), { requestInit: { headers } });
    await passTime(clock, client.connect(transport));
    ends.push(() => client.close());
    return client;
  }

  async function serve(server: TestServer, fields: object) {
    const { gateway, clock } = make({ servers: { a: { url: server.url, type: 'http', ...fields } } });
    const events: unknown[] = [];
    gateway.troupe.events$.subscribe((event) => events.push(event));
    await passTime(clock, gateway.start());
    const service = await serveHttp(gateway, { clock });
    ends.push(() => passTime(clock, service.close({ gracePeriodMs: 0 })));
    return { service, clock, events };
  }

  it.each([{}, { isolation: 'per-session' }])('never mix (entry with %j).', async (fields) => {
    const server = await upstream(2 * CALLS);
    const { service, clock, events } = await serve(server, { forwardHeaders: ['X-Who'], ...fields });
    const clients = await Promise.all([
      connect(service, clock, { [WHO]: 'ada-lovelace', 'x-hidden': 'hidden-value' }),
      connect(service, clock, { [WHO]: 'bob-the-builder' }),
    ]);
    const answers = await Promise.all(
      clients.map((client) =>
        Promise.all(
          Array.from({ length: CALLS }, () => client.callTool({ name: 'mcp__a__who', arguments: {} })),
        ),
      ),
    );
    const texts = answers.map((each) => each.map(({ content }) => (content as { text: string }[])[0]?.text));
    expect(texts).toEqual([Array(CALLS).fill('ada-lovelace'), Array(CALLS).fill('bob-the-builder')]);
    expect(server.seen.some(({ headers }) => 'x-hidden' in headers)).toBe(false);
    const others = server.seen.filter(({ rpc }) => rpc.method !== 'tools/call');
    expect(others.some(({ headers }) => WHO in headers)).toBe(false);
    expect(JSON.stringify(events)).not.toMatch(/ada-lovelace|bob-the-builder/);
  });

  it('are absent for a client that sends none, and if the entry names none.', async () => {
    const server = await upstream(1);
    const { service, clock } = await serve(server, { forwardHeaders: ['X-Who'] });
    const silent = await connect(service, clock, {});
    await silent.callTool({ name: 'mcp__a__who', arguments: {} });
    const closed = await serve(server, {});
    const speaking = await connect(closed.service, closed.clock, { [WHO]: 'ada' });
    await speaking.callTool({ name: 'mcp__a__who', arguments: {} });
    const calls = server.seen.filter(({ rpc }) => rpc.method === 'tools/call');
    expect(calls.map(({ headers }) => WHO in headers)).toEqual([false, false]);
  });

  it('go with the repetition of a call in the next session.', async () => {
    const server = await upstream(1);
    const inside = server.handle;
    let calls = 0;
    server.handle = (seen, res) => {
      if (seen.rpc.method !== 'tools/call') return inside(seen, res);
      calls += 1;
      // The session is gone, so that a new one carries the repetition.
      if (calls === 1) return void res.writeHead(404, { connection: 'close' }).end();
      return inside(seen, res);
    };
    const { service, clock } = await serve(server, { forwardHeaders: ['X-Who'] });
    const client = await connect(service, clock, { [WHO]: 'ada' });
    const called = client.callTool({ name: 'mcp__a__who', arguments: {} });
    expect((await passTime(clock, called)).content).toMatchObject([{ text: 'ada' }]);
    const sent = server.seen.filter(({ rpc }) => rpc.method === 'tools/call');
    expect(sent.map(({ headers }) => headers[WHO])).toEqual(['ada', 'ada']);
    expect(server.seen.filter(({ rpc }) => rpc.method === 'initialize')).toHaveLength(2);
  });

  it('go with resources, prompts and completions as well.', async () => {
    const server = await upstream(1);
    const { service, clock } = await serve(server, { forwardHeaders: ['X-Who'] });
    const client = await connect(service, clock, { [WHO]: 'ada' });
    const done = Promise.all([
      client.readResource({ uri: 'test://one' }),
      client.getPrompt({ name: 'mcp__a__greet' }),
      client.complete({
        ref: { type: 'ref/prompt', name: 'mcp__a__greet' },
        argument: { name: 'style', value: 's' },
      }),
    ]);
    await passTime(clock, done);
    const sent =
      (method: string) =>
      ({ rpc, headers }: Seen) =>
        rpc.method === method && headers[WHO] === 'ada';
    for (const method of ['resources/read', 'prompts/get', 'completion/complete'])
      expect([method, server.seen.filter(sent(method)).length]).toEqual([method, 1]);
  });
});
