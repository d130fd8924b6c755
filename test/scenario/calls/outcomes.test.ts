import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  CallAbortedError,
  CallTimeoutError,
  NotReadyError,
  OutcomeUnknownError,
  JsonRpcError,
  UnknownToolError,
} from '../../../src/errors.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useOneServer } from '../../support/one-server.js';
import { refuse, silent, text, tool, type Script } from '../../support/scripted-server.js';

const NAME = 'mcp__a__echo';

describe('what a server says beside its answers', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useOneServer();

  it('and Troupe does not know reaches the observers, without secrets', async () => {
    const { server, events } = await begin(undefined, undefined, {
      redact: (text) => text.replaceAll('s3cr3t-value', '***'),
    });
    server.notify('notifications/acme/moved', { to: [1], note: 'is s3cr3t-value' });
    server.notify('notifications/acme/large', { text: 'x'.repeat(100_000) });
    await events.when('server.notification', ({ method }) => method.endsWith('large'));
    const [moved, large] = events.of('server.notification');
    expect(moved).toMatchObject({
      server: 'a',
      method: 'notifications/acme/moved',
      params: { to: [1], note: 'is ***' },
    });
    expect(large).not.toHaveProperty('params');
  });

  it.each([
    [refuse(-32602, 'Unsupported protocol version', { supported: ['1999-01-01'], requested: '2025-11-25' })],
    [refuse(-32000, 'bad protocolVersion')],
    [refuse(-32603, 'no', { supported: ['2026-06-01'] })],
    [() => ({ protocolVersion: '1999-01-01', capabilities: 7, serverInfo: null })],
  ])('that it does not speak our version is final: case %#', async (answer) => {
    const { server, a } = await begin({ on: { initialize: answer } });
    expect(a.status).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'protocol-version' } });
    expect(server.of('initialize')).toHaveLength(1);
  });

  it('that a person has to visit an address is part of the error', async () => {
    const elicitations = [
      { mode: 'url', elicitationId: 'e1', url: 'https://pay.example/e1', message: 'Pay' },
    ];
    const { troupe } = await begin({
      on: { 'tools/call': refuse(-32042, 'Needs consent.', { elicitations }) },
    });
    await expect(troupe.callTool(NAME)).rejects.toMatchObject({
      code: 'JSON_RPC_ERROR',
      rpcCode: -32042,
      message: expect.stringContaining('https://pay.example/e1') as unknown,
      data: { elicitations },
    });
  });
});

describe('a call that is answered', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useOneServer();

  it('returns the unchanged result and sends the raw name of the tool', async () => {
    const result = { ...text('hi'), structuredContent: { a: [1] }, _meta: { k: 1 }, odd: true };
    const { troupe, server } = await begin({ tools: [tool('odd.name')], on: { 'tools/call': () => result } });
    const [shown] = troupe.tools;
    await expect(troupe.callTool(shown?.name ?? '', { x: { y: null } })).resolves.toEqual(result);
    expect(server.of('tools/call')[0]?.params).toMatchObject({
      name: 'odd.name',
      arguments: { x: { y: null } },
    });
  });

  it('keeps isError and does not throw for it', async () => {
    const { troupe, events } = await begin({
      on: { 'tools/call': () => ({ ...text('no'), isError: true }) },
    });
    await expect(troupe.callTool(NAME)).resolves.toEqual({ ...text('no'), isError: true });
    expect(events.of('call.finished')).toMatchObject([{ outcome: 'tool-error' }]);
  });

  it('is published as started and finished, without arguments or result', async () => {
    const { troupe, events, clock } = await begin({
      on: {
        'tools/call': async () => {
          await clock.advance(250);
          return text('secret-result');
        },
      },
    });
    await troupe.callTool(NAME, { password: 'secret-argument' });
    const calls = events.all.filter(({ type }) => type.startsWith('call.'));
    expect(calls).toMatchObject([
      { type: 'call.started', server: 'a', generation: 1, call: 1, tool: 'echo' },
      { type: 'call.finished', call: 1, tool: 'echo', durationMs: 250, outcome: 'answered' },
    ]);
    expect(JSON.stringify(events.all)).not.toMatch(/secret-/);
  });

  it('can be one of a thousand at the same time, each with its own answer', async () => {
    const { troupe, events } = await begin();
    const calls = Array.from({ length: 1_000 }, (_, n) => troupe.callTool(NAME, { n }));
    const results = await Promise.all(calls);
    expect(results.map(({ content }) => content)).toEqual(
      results.map((_, n) => text(`echo {"n":${n}}`).content),
    );
    const finished = events.of('call.finished');
    expect(finished).toHaveLength(1_000);
    expect(new Set(finished.map(({ call }) => call)).size).toBe(1_000);
  });

  it('leaves no listener on the signal of its caller, and no timer', async () => {
    const { troupe, clock, server } = await begin();
    const { signal } = new AbortController();
    const before = clock.pending.length;
    await Promise.all([1, 2, 3].map(() => troupe.callTool(NAME, {}, { signal })));
    server.script = { on: { 'tools/call': refuse(-1) } };
    await troupe.callTool(NAME, {}, { signal }).catch(() => {});
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(clock.pending).toHaveLength(before);
  });
});

describe('a call that is rejected', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useOneServer();

  it('throws the error of the server with its code and data', async () => {
    const { troupe, events } = await begin({
      on: { 'tools/call': refuse(-32602, 'Unknown tool: echo', { hint: 7 }) },
    });
    const error: unknown = await troupe.callTool(NAME).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(JsonRpcError);
    expect(error).toMatchObject({
      code: 'JSON_RPC_ERROR',
      server: 'a',
      rpcCode: -32602,
      rpcMessage: 'Unknown tool: echo',
      requestId: 2,
      data: { hint: 7 },
    });
    expect(events.of('call.finished')).toMatchObject([{ outcome: 'server-error' }]);
  });

  it('because nobody offers its tool names the tool and the servers that are not ready', async () => {
    const { troupe, server } = await begin({}, { policy: { maxAttempts: 1 } });
    const error: unknown = await troupe.callTool('mcp__a__nope').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnknownToolError);
    expect(error).toMatchObject({
      tool: 'mcp__a__nope',
    });
    await troupe.connection('a')?.stop();
    await expect(troupe.callTool('nobody')).rejects.toMatchObject({
      code: 'UNKNOWN_TOOL',
      message: expect.stringContaining('a is stopped') as string,
    });
    await expect(troupe.callTool(NAME)).rejects.toMatchObject({ code: 'UNKNOWN_TOOL', server: 'a' });
    expect(server.of('tools/call')).toEqual([]);
  });

  it('because its answer cannot be read has an unknown outcome, and says why', async () => {
    const { troupe, events } = await begin({ on: { 'tools/call': () => ({ _meta: 'no' }) } });
    const error: unknown = await troupe.callTool(NAME).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({ failure: { code: 'protocol-error', phase: 'session' } });
    expect((error as Error).message).toContain("'echo'");
    expect(events.of('call.finished')).toMatchObject([{ outcome: 'outcome-unknown' }]);
  });
});

describe('a call without an answer', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useOneServer();

  it('times out, is cancelled at the server once, and ignores a late answer', async () => {
    const gate = createGate();
    const { troupe, server, clock, events } = await begin({
      on: { 'tools/call': () => gate.promise.then(() => text('late')) },
    });
    const call = troupe.callTool(NAME, {}, { timeoutMs: 5_000 });
    call.catch(() => {});
    const { id } = await server.whenReceived('tools/call');
    await clock.advance(4_999);
    expect(events.of('call.finished')).toEqual([]);
    await clock.advance(1);
    await expect(call).rejects.toBeInstanceOf(CallTimeoutError);
    await expect(call).rejects.toMatchObject({ code: 'CALL_TIMEOUT', server: 'a' });
    gate.open();
    await clock.advance(10_000);
    expect(server.of('notifications/cancelled')).toMatchObject([{ params: { requestId: id } }]);
    expect(events.of('call.finished')).toMatchObject([{ outcome: 'timed-out', durationMs: 5_000 }]);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it('waits 60 s by default, or as long as the entry allows', async () => {
    const { troupe, clock, events } = await begin({ on: { 'tools/call': silent } });
    troupe.callTool(NAME).catch(() => {});
    await clock.advance(60_000);
    expect(events.of('call.finished')).toMatchObject([{ durationMs: 60_000 }]);
    const own = await begin({ on: { 'tools/call': silent } }, { callTimeoutMs: 2_000 });
    own.troupe.callTool(NAME).catch(() => {});
    await own.clock.advance(2_000);
    expect(own.events.of('call.finished')).toMatchObject([{ durationMs: 2_000 }]);
  });

  it('waits for any time if the limit is 0', async () => {
    const gate = createGate();
    const { troupe, clock } = await begin({
      on: { 'tools/call': () => gate.promise.then(() => text('at last')) },
    });
    const call = troupe.callTool(NAME, {}, { timeoutMs: 0 });
    await clock.advance(24 * 3_600_000);
    gate.open();
    await expect(call).resolves.toEqual(text('at last'));
  });

  it('restarts its limit with every progress notification', async () => {
    const { troupe, clock, server } = await begin({ on: { 'tools/call': silent } });
    const call = troupe.callTool(NAME, {}, { timeoutMs: 1_000 });
    call.catch(() => {});
    const { params } = await server.whenReceived('tools/call');
    const { progressToken } = params['_meta'] as { progressToken: number };
    for (let progress = 1; progress <= 5; progress += 1) {
      await clock.advance(900);
      server.notify('notifications/progress', { progressToken, progress });
      await clock.advance(0);
    }
    expect(server.of('notifications/cancelled')).toEqual([]);
    await clock.advance(1_000);
    await expect(call).rejects.toBeInstanceOf(CallTimeoutError);
  });

  it('is aborted by its signal, with the reason as the cause, and is cancelled at the server once', async () => {
    const { troupe, server, events } = await begin({ on: { 'tools/call': silent } });
    const controller = new AbortController();
    const call = troupe.callTool(NAME, {}, { signal: controller.signal });
    const { id } = await server.whenReceived('tools/call');
    const reason = { why: 'the user left' };
    controller.abort(reason);
    const error: unknown = await call.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CallAbortedError);
    expect(error).toMatchObject({ code: 'CALL_ABORTED', server: 'a', cause: reason });
    await server.whenReceived('notifications/cancelled');
    expect(server.of('notifications/cancelled')).toMatchObject([{ params: { requestId: id } }]);
    expect(events.of('call.finished')).toMatchObject([{ outcome: 'aborted' }]);
  });

  it('is not sent if its signal is already aborted', async () => {
    const { troupe, server } = await begin();
    const call = troupe.callTool(NAME, {}, { signal: AbortSignal.abort('before') });
    await expect(call).rejects.toMatchObject({ code: 'CALL_ABORTED', cause: 'before' });
    expect(server.of('tools/call')).toEqual([]);
    expect(server.of('notifications/cancelled')).toEqual([]);
  });
});

describe('progress of a call', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useOneServer();

  const working: Script = {
    on: {
      'tools/call': (_, { progress }) => {
        progress(1, 2);
        progress(2, 2);
        return text('done');
      },
    },
  };

  it('reaches its caller and the observers, including the last notification', async () => {
    const { troupe, events } = await begin(working);
    const steps: number[] = [];
    await troupe.callTool(NAME, {}, { onProgress: ({ progress }) => steps.push(progress) });
    expect(steps).toEqual([1, 2]);
    expect(events.of('call.progress')).toMatchObject([
      { call: 1, tool: 'echo', progress: 1, total: 2 },
      { call: 1, tool: 'echo', progress: 2, total: 2 },
    ]);
  });

  it('can be passed to a callback that throws: the call continues, with a diagnostic', async () => {
    const { troupe, events } = await begin(working);
    const boom = (): never => {
      throw new Error('boom');
    };
    await expect(troupe.callTool(NAME, {}, { onProgress: boom })).resolves.toEqual(text('done'));
    expect(events.of('call.progress')).toHaveLength(2);
    expect(events.of('diagnostic').map(({ kind }) => kind)).toEqual([
      'progress-callback',
      'progress-callback',
    ]);
  });

  it('can be passed to a callback that rejects: the call continues, with a diagnostic', async () => {
    const { troupe, events } = await begin(working);
    // As an async function of a host in JavaScript.
    const boom = (): unknown => Promise.reject(new Error('boom'));
    await expect(troupe.callTool(NAME, {}, { onProgress: boom })).resolves.toEqual(text('done'));
    expect(events.of('diagnostic')).toMatchObject([
      { kind: 'progress-callback', message: expect.stringContaining('boom') as string },
      { kind: 'progress-callback' },
    ]);
  });

  it('can be observed by an observer that throws', async () => {
    const { troupe, events } = await begin(working);
    troupe.events$.subscribe(() => {
      throw new Error('boom');
    });
    await expect(troupe.callTool(NAME)).resolves.toEqual(text('done'));
    expect(events.of('call.finished')).toMatchObject([{ outcome: 'answered' }]);
  });
});

describe('a call of a server that is not ready', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useOneServer();

  it('is not sent if the server has failed, and says why', async () => {
    const { troupe, server } = await begin({ protocolVersion: '1999-01-01' });
    const call = troupe.connection('a')?.callTool('echo');
    await expect(call).rejects.toBeInstanceOf(NotReadyError);
    await expect(call).rejects.toMatchObject({ server: 'a', cause: { code: 'HANDSHAKE_FAILED' } });
    await expect(call).rejects.toThrow('1999-01-01');
    expect(server.of('tools/call')).toEqual([]);
  });
});
