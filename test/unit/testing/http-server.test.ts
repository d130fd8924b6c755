/** The same scripts and orders over HTTP, seen by a troupe. */
import { createServer } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import {
  controlHttpServer,
  type ControlledHttpServer,
} from '../../../src/testing/http/control-http-server.js';
import { text, tool } from '../../../src/testing/ordinary-answers.js';
import type { HttpReply, ServerScript } from '../../../src/testing/server-script.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { whenEmits } from '../../support/test-troupe.js';

useLeakCheck();

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function serving(script: ServerScript = {}): Promise<ControlledHttpServer> {
  const remote = await controlHttpServer(script);
  closing.push(() => remote.close());
  return remote;
}

async function started(entry: ServerConfig): Promise<Troupe> {
  const policy = { backoff: [10], maxAttempts: 1, ping: { idleMs: 60_000, timeoutMs: 500 } };
  const troupe = createTroupe({
    servers: { docs: { policy, ...entry } },
    cache: false,
    retryCalls: 'never',
  });
  closing.push(() => troupe.close());
  await troupe.start();
  return troupe;
}

const lost = (troupe: Troupe) => whenEmits(troupe.events$, ({ type }) => type === 'connection.lost');
const echo = (troupe: Troupe) => troupe.callTool('mcp__docs__echo', { a: 1 });
const ANSWERED = { content: [{ text: 'echo {"a":1}' }] };

describe('a scripted server over HTTP', () => {
  it.each([
    ['streamable HTTP', 'old', (remote: ControlledHttpServer) => remote.config, '2025-11-25'],
    ['streamable HTTP', 'new', (remote: ControlledHttpServer) => remote.config, '2026-07-28'],
    ['streamable HTTP', 'both', (remote: ControlledHttpServer) => remote.config, '2026-07-28'],
    ['HTTP+SSE', 'old', (remote: ControlledHttpServer) => remote.sse, '2025-11-25'],
  ] as const)('serves calls, progress and changes over %s: %s.', async (_, era, entryOf, version) => {
    const remote = await serving({ era, on: { 'tools/call': { progress: 2 } } });
    const troupe = await started(entryOf(remote));
    expect(troupe.status[0]).toMatchObject({ state: 'ready', protocolVersion: version });
    const progress: number[] = [];
    const answer = await troupe.callTool(
      'mcp__docs__echo',
      { a: 1 },
      { onProgress: (step) => progress.push(step.progress) },
    );
    expect(answer).toMatchObject(ANSWERED);
    expect(progress).toEqual([1, 2]);
    const changed = whenEmits(troupe.tools$, (tools) => tools.length === 2);
    const listening = era === 'old' ? 'GET' : 'subscriptions/listen';
    await remote.server.whenReceived(listening);
    await remote.send({ tools: [tool('a'), tool('b')] });
    await changed;
    expect(remote.server.of('tools/list').length).toBe(2);
  });

  it('asks its client, and is answered.', async () => {
    const remote = await serving({ on: { 'tools/call': { ask: { method: 'ping' } } } });
    expect(await echo(await started(remote.config))).toEqual(text('{}'));
  });

  it.each([
    ['a refusal', { status: 503 }, { code: 'http-status', http: { status: 503 } }],
    ['a missing page', { status: 404 }, { code: 'http-status', http: { status: 404 } }],
    ['a forbidden page', { status: 403, body: 'no' }, { http: { status: 403, bodyStart: 'no' } }],
    ['a web page', { headers: { 'content-type': 'text/html' }, body: '<html>' }, { code: 'http-not-mcp' }],
    ['a broken reply', { broken: true }, { code: 'connection-lost' }],
  ] as [string, HttpReply, object][])('answers initialize with %s.', async (_, http, failure) => {
    const remote = await serving({ on: { initialize: { http } } });
    const troupe = await started(remote.config);
    expect(troupe.status[0]).toMatchObject({ state: 'failed', error: failure });
  });

  it('wants a sign-in, at either address.', async () => {
    const http = { status: 401, headers: { 'www-authenticate': 'Bearer' } };
    for (const [key, entryOf] of [
      ['initialize', (remote: ControlledHttpServer) => remote.config],
      ['GET', (remote: ControlledHttpServer) => remote.sse],
    ] as const) {
      const remote = await serving({ on: { [key]: { http } } });
      const troupe = createTroupe({ servers: { docs: entryOf(remote) }, cache: false });
      closing.push(() => troupe.close());
      void troupe.start();
      await whenEmits(troupe.events$, ({ type }) => type === 'connection.authRequired');
      expect(troupe.status[0]).toMatchObject({ error: { code: 'auth-required' } });
    }
  });

  it('forgets its sessions when it crashes, and refuses connections when it does not listen.', async () => {
    const remote = await serving();
    const troupe = await started(remote.config);
    const isLost = lost(troupe);
    await remote.send({ fault: 'crash' });
    void echo(troupe).catch(() => {});
    expect(await isLost).toMatchObject({ failure: { code: 'session-expired' } });
    await troupe.connection('docs')!.ready();
    expect(await echo(troupe)).toMatchObject(ANSWERED);
    await remote.send({ listening: false });
    await expect(echo(troupe)).rejects.toThrow(Error);
    await remote.send({ listening: true });
    await troupe.connection('docs')!.restart();
    expect(await echo(troupe)).toMatchObject(ANSWERED);
  });

  it('crashes in the midst of a call, is slow, writes garbage, and is silent.', async () => {
    const remote = await serving({
      on: { 'tools/call': [{ afterMs: 20, garbage: 'not JSON' }, { fault: 'crash' }] },
    });
    const troupe = await started(remote.config);
    expect(await echo(troupe)).toMatchObject(ANSWERED);
    await expect(echo(troupe)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await remote.send({ script: { on: { 'tools/call': { fault: 'silent' } } } });
    const other = await started(remote.config);
    const call = other.callTool('mcp__docs__echo', {}, { timeoutMs: 50 });
    await expect(call).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
  });

  it('ends the stream of its own messages, which is opened again.', async () => {
    const remote = await serving();
    await started(remote.config);
    await remote.server.whenReceived('GET');
    await remote.send({ endStreams: true });
    await remote.server.whenReceived('GET', 2);
    expect(remote.server.sessions).toBe(1);
  });

  it('deletes a session on request, or does not.', async () => {
    const remote = await serving({ on: { DELETE: { http: { status: 405 } } } });
    const troupe = await started(remote.config);
    await troupe.connection('docs')!.stop();
    expect(remote.server.isConnected).toBe(true);
    await remote.send({ script: {} });
    await troupe.connection('docs')!.start();
    await troupe.connection('docs')!.stop();
    expect(remote.server.of('DELETE').map(({ session }) => session)).toEqual([1, 2]);
  });

  it('says that its port is in use, and what is wrong with a script or an order.', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    await expect(controlHttpServer({}, { port })).rejects.toThrow(`Port ${port} is in use`);
    other.close();
    await expect(controlHttpServer({ on: { Get: {} } })).rejects.toThrow("did you mean 'GET'?");
    await expect(controlHttpServer({}, { prt: 1 } as never)).rejects.toThrow("'prt'");
    await expect(controlHttpServer({ on: { ping: { http: { status: 99 } } } })).rejects.toThrow('200 to 599');
    const remote = await serving();
    await expect(remote.send({ listenin: false } as never)).rejects.toThrow("did you mean 'listening'?");
    await remote.close();
    await remote.close();
  });
});
