/** Spans and metrics of a host, of a gateway and between them. */
import { SpanKind, trace, type Span } from '@opentelemetry/api';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { describe, expect, it } from 'vitest';
import { openTelemetry } from '../../../src/adapters/opentelemetry.js';
import { ownTransport } from '../../../src/index.js';
import type { TroupeOptions } from '../../../src/options.js';
import { AskingUpstream } from '../../support/asking-upstream.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { ANSWERS_ALL, useGateways } from '../../support/gateway-rig.js';
import { useLeakCheck } from '../../support/leak-check.js';
import type { Answer } from '../../../src/testing/server-script.js';
import { ScriptedServer, tool } from '../../support/scripted-server.js';
import { useTelemetry } from '../../support/telemetry.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

const { CLIENT, SERVER } = SpanKind;

function inSpan<T>(name: string, run: (span: Span) => Promise<T>): Promise<T> {
  return trace.getTracer('host').startActiveSpan(name, async (span) => {
    try {
      return await run(span);
    } finally {
      span.end();
    }
  });
}

function parentOf({ parentSpanContext }: ReadableSpan): string | undefined {
  return parentSpanContext?.spanId;
}

describe('telemetry', () => {
  useLeakCheck();
  useCrashWatch();
  const collected = useTelemetry();
  const { make } = useGateways();
  const { make: makeTroupe } = useTroupes();
  const makeObserved = (server: ScriptedServer, options: TroupeOptions = {}) =>
    makeTroupe({ servers: { box: inProcess(server) }, telemetry: openTelemetry(), ...options });

  it('makes one trace of a call through host, gateway and server.', async () => {
    const upstream = new AskingUpstream({ tools: [tool('echo')] });
    const { gateway } = make({ servers: { a: upstream.entry() }, telemetry: openTelemetry() });
    await gateway.start();
    const server = ownTransport(() => {
      const [near, far] = InMemoryTransport.createLinkedPair();
      void gateway.connect(far);
      return near;
    });
    const { troupe } = makeTroupe({
      servers: { gate: { type: 'in-process', server } },
      naming: '{tool}',
      telemetry: openTelemetry(),
    });
    await troupe.start();
    const host = await inSpan('agent', async (span) => {
      await troupe.callTool('mcp__a__echo', { text: 'the argument' });
      return span.spanContext();
    });

    const sent = collected.span('tools/call mcp__a__echo', CLIENT);
    const received = collected.span('tools/call mcp__a__echo', SERVER);
    const passedOn = collected.span('tools/call echo', CLIENT);
    expect([parentOf(sent), parentOf(received), parentOf(passedOn)]).toEqual([
      host.spanId,
      sent.spanContext().spanId,
      received.spanContext().spanId,
    ]);
    const [call] = upstream.of('tools/call');
    const { traceId, spanId } = passedOn.spanContext();
    expect(call?.['_meta']).toMatchObject({ traceparent: `00-${traceId}-${spanId}-01` });
    expect(traceId).toBe(host.traceId);
    expect(passedOn.attributes).toEqual({
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': '2025-11-25',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'echo',
      'jsonrpc.request.id': expect.any(String) as string,
      'troupe.server.name': 'a',
      'troupe.call': 1,
    });
    expect(await collected.metric('mcp.server.operation.duration')).toContainEqual({
      attributes: {
        'mcp.method.name': 'tools/call',
        'mcp.protocol.version': '2025-11-25',
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'mcp__a__echo',
      },
      value: 1,
    });
    expect(await collected.text()).not.toContain('the argument');
  });

  it('begins a trace for what the runtime sends by itself, with a link to where it began.', async () => {
    const { troupe } = makeObserved(new ScriptedServer());
    const host = await inSpan('start', async (span) => {
      await troupe.start();
      return span.spanContext();
    });
    for (const name of ['initialize', 'tools/list']) {
      const span = collected.span(name, CLIENT);
      expect([parentOf(span), span.links.map(({ context }) => context.spanId)]).toEqual([
        undefined,
        [host.spanId],
      ]);
    }
  });

  it('sends the trace context in the handshake.', async () => {
    const server = new ScriptedServer();
    const { troupe } = makeObserved(server);
    await troupe.start();
    const { spanId } = collected.span('initialize', CLIENT).spanContext();
    const [first] = server.received;
    expect(first?.params['_meta']).toMatchObject({ traceparent: expect.stringContaining(spanId) as string });
  });

  it('names the class of an error: of a tool, of JSON-RPC, and of a lost session.', async () => {
    const answers: Readonly<Record<string, Answer>> = {
      failing: { result: { content: [], isError: true } },
      refusing: { error: { code: -32602, message: 'The secret is hunter2.' } },
      crashing: { fault: 'crash' },
    };
    const server = new ScriptedServer({
      tools: Object.keys(answers).map((name) => tool(name)),
      on: { 'tools/call': Object.values(answers) },
    });
    const { troupe } = makeObserved(server, { retryCalls: 'never' });
    await troupe.start();
    for (const name of Object.keys(answers))
      await troupe.callTool(`mcp__box__${name}`, { password: 'hunter2' }).catch(() => {});
    const errors = Object.keys(answers).map((name) => {
      const { attributes, status } = collected.span(`tools/call ${name}`, CLIENT);
      return [attributes['error.type'], attributes['rpc.response.status_code'], status];
    });
    expect(errors).toEqual([
      ['tool_error', undefined, { code: 2 }],
      ['-32602', '-32602', { code: 2 }],
      ['connection-lost', undefined, { code: 2 }],
    ]);
    expect(await collected.metric('mcp.client.session.duration')).toEqual([
      { attributes: expect.objectContaining({ 'error.type': 'connection-lost' }) as object, value: 1 },
    ]);
    expect(await collected.text()).not.toContain('hunter2');
  });

  it('gives a question of a server the trace of the call during which it asks.', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client } = make({ servers: { a: upstream.entry() }, telemetry: openTelemetry() });
    await gateway.start();
    const ada = await client('Ada', { capabilities: ANSWERS_ALL });
    await ada.call('mcp__a__ask');
    const call = collected.span('tools/call ask', CLIENT);
    const asked = collected.span('elicitation/create', SERVER);
    const passedOn = collected.span('elicitation/create', CLIENT);
    expect([parentOf(asked), parentOf(passedOn)]).toEqual([
      call.spanContext().spanId,
      asked.spanContext().spanId,
    ]);
  });

  it('counts states, attempts, losses and active calls of connections, over all troupes, until they are closed.', async () => {
    const telemetry = openTelemetry();
    const server = new ScriptedServer();
    const { troupe, clock } = makeObserved(server, { telemetry });
    const other = makeObserved(new ScriptedServer(), { telemetry });
    await Promise.all([troupe.start(), other.troupe.start()]);
    const retrying = troupe.once('connection.retrying');
    const ready = troupe.once('connection.ready');
    await server.die();
    await retrying;
    await passTime(clock, ready);
    const box = { 'troupe.server.name': 'box' };
    expect(await collected.metric('troupe.connection.count')).toEqual([
      { attributes: { ...box, 'troupe.connection.state': 'ready' }, value: 2 },
    ]);
    expect(await collected.metric('troupe.connection.attempts')).toEqual([{ attributes: box, value: 3 }]);
    expect(await collected.metric('troupe.connection.losses')).toEqual([
      { attributes: { ...box, 'error.type': 'connection-lost' }, value: 1 },
    ]);
    await troupe.callTool('mcp__box__echo');
    expect(await collected.metric('troupe.calls.active')).toEqual([{ attributes: box, value: 0 }]);
    await Promise.all([troupe.close(), other.troupe.close()]);
    const counts = await collected.metric('troupe.connection.count');
    expect(counts.map(({ value }) => value)).toEqual([0]);
  });
});

describe('telemetry without an SDK', () => {
  useLeakCheck();
  const { make } = useTroupes();

  it('adds nothing to requests.', async () => {
    const server = new ScriptedServer();
    const telemetry = openTelemetry();
    const { troupe } = make({ servers: { box: inProcess(server) }, telemetry });
    await troupe.start();
    await troupe.callTool('mcp__box__echo');
    const sent = JSON.stringify(server.received);
    expect([telemetry.isObserved, sent.includes('traceparent')]).toEqual([false, false]);
  });
});
