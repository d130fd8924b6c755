/** The faulty HTTP servers of the kit, tested with a transport alone. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpTransport } from '../../../src/transports/http/http-fallback.js';
import { systemClock } from '../../../src/ports.js';
import type { SessionTransport } from '../../../src/transports/session-transport.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { startProgram } from '../../support/local-program.js';

useLeakCheck();

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly rpc: string | null;
  readonly status: number;
  readonly auth: string | null;
  readonly lastEventId: string | null;
}

interface Faulty {
  readonly client: Client;
  readonly transport: SessionTransport;
  readonly closed: Promise<void>;
  seen(): Promise<Arrived[]>;
  poke(action: string): Promise<void>;
}

async function faulty(mode: string, headers: Record<string, string> = {}): Promise<Faulty> {
  const program = await startProgram({
    file: 'tools/faults/kit/faulty-http.mjs',
    args: [`--mode=${mode}`, '--port=0'],
    ready: /^\{"url"/,
  });
  cleanups.push(() => program.stop());
  const { url, control } = JSON.parse(program.line) as { url: string; control: string };
  const ask = async (path: string, method = 'GET'): Promise<unknown> => {
    const response = await fetch(`${control}${path}`, { method, headers: { connection: 'close' } });
    return response.json();
  };
  const transport = createHttpTransport({ url, headers, clock: systemClock, stop: { deleteMs: 2_000 } });
  const closed = new Promise<void>((resolve) => (transport.onclose = resolve));
  const client = new Client({ name: 'test', version: '1' });
  cleanups.push(() => transport.close());
  return {
    client,
    transport,
    closed,
    seen: async () => (await ask('seen')) as Arrived[],
    poke: async (action) => void (await ask(`do/${action}`, 'POST')),
  };
}

const echo = async (client: Client, text: string): Promise<unknown> =>
  (await client.callTool({ name: 'echo', arguments: { text } })).content;
const textContent = (text: string): unknown => [{ type: 'text', text }];

async function failing(promise: Promise<unknown>): Promise<TransportError> {
  const error: unknown = await promise.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(TransportError);
  return error as TransportError;
}

describe('A faulty HTTP server', () => {
  it.each(['plain', 'get-405', 'redirect-307-slash', 'old-sse-only'])(
    'of mode %s is usable',
    async (mode) => {
      const { client, transport, seen } = await faulty(mode, { Authorization: 'Bearer harbour-key-1' });
      await client.connect(transport);
      expect((await client.listTools()).tools).toHaveLength(2);
      expect(await echo(client, 'hello 42')).toEqual(textContent('hello 42'));
      await client.close();
      const arrived = await seen();
      const mcp = arrived.filter(({ path }) => path.startsWith('/m'));
      expect(mcp.every(({ auth }) => auth === 'Bearer harbour-key-1')).toBe(true);
      expect(
        arrived.filter(({ method, path }) => method === 'GET' && path === '/mcp').length,
      ).toBeLessThanOrEqual(2);
    },
  );

  it('that forgets its session loses it with the first 404', async () => {
    const { client, transport, closed } = await faulty('session-404-after-3');
    await client.connect(transport);
    await client.listTools();
    await echo(client, 'a');
    const error = await failing(echo(client, 'b'));
    expect(error).toMatchObject({ written: false, failure: { code: 'session-expired' } });
    await closed;
    expect(transport.ended).toMatchObject({ code: 'session-expired' });
  });

  it('that restarts is detected without a call', async () => {
    const { client, transport, closed, poke } = await faulty('restart-with-other-tools');
    await client.connect(transport);
    await client.listTools();
    await poke('forget-sessions');
    await closed;
    expect(transport.ended).toMatchObject({ code: 'session-expired' });
  });

  it('that drops the stream of a call answers the call on the resumed stream', async () => {
    const { client, transport, seen } = await faulty('result-after-drop');
    await client.connect(transport);
    expect(await echo(client, 'hello 42')).toEqual(textContent('hello 42'));
    expect((await seen()).filter(({ lastEventId }) => lastEventId?.startsWith('ev-'))).toHaveLength(1);
  });

  it('that responds with 403 leads to one request and an error with its reason', async () => {
    const { client, transport, seen } = await faulty('403-always');
    const { failure } = await failing(client.connect(transport));
    expect(failure).toMatchObject({ code: 'http-status', http: { status: 403 } });
    expect(failure.message).toContain('your plan does not include ferries');
    expect(await seen()).toHaveLength(1);
  });

  it('that demands a sign-in after some calls does not receive the call again', async () => {
    const { client, transport, seen } = await faulty('401-after-2-calls', {
      Authorization: 'Bearer harbour-key-1',
    });
    await client.connect(transport);
    await echo(client, 'a');
    await echo(client, 'b');
    const { failure } = await failing(echo(client, 'c'));
    expect(failure).toMatchObject({
      code: 'auth-required',
      http: { wwwAuthenticate: 'Bearer error="invalid_token"' },
    });
    expect(JSON.stringify(failure)).not.toContain('harbour-key-1');
    expect((await seen()).filter(({ status }) => status === 401)).toHaveLength(1);
  });

  it('behind a sign-in page is reported as not MCP', async () => {
    const { client, transport } = await faulty('login-page-200');
    const { failure } = await failing(client.connect(transport));
    expect(failure.code).toBe('http-not-mcp');
    expect(failure.message).toMatch(/127\.0\.0\.1.*text\/html/);
  });

  it('that is busy leads to an error with its Retry-After', async () => {
    const { client, transport } = await faulty('429-then-fine');
    const { failure } = await failing(client.connect(transport));
    expect(failure).toMatchObject({ code: 'http-status', http: { status: 429, retryAfterMs: 1_000 } });
  });

  it('that never sends a body delays neither other calls nor closing', async () => {
    const { client, transport } = await faulty('body-never-comes');
    await client.connect(transport);
    const stuck = client.callTool({ name: 'ferry_next' }, undefined, { timeout: 100 });
    await expect(stuck).rejects.toThrow(/timed out/);
    expect(await echo(client, 'hello 42')).toEqual(textContent('hello 42'));
    await client.close();
    expect(transport.ended).toBeUndefined();
  });
});
