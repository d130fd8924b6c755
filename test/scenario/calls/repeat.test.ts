import type { Tool, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  CallAbortedError,
  CallTimeoutError,
  NotReadyError,
  OutcomeUnknownError,
} from '../../../src/errors.js';
import type { CallOptions, RetryCalls } from '../../../src/index.js';
import type { TroupeOptions } from '../../../src/options.js';
import type { ServerSettings } from '../../../src/config/entry/server-config.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fake, FakeServer } from '../../support/fake-server.js';
import { createGate, never } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent, text, tool, type Script } from '../../support/scripted-server.js';
import { passTime, useTroupes, whenState, type TestTroupe } from '../../support/test-troupe.js';

const NAME = 'mcp__a__echo';
const EXITED = { code: 'process-exited', message: 'It exited with code 3.' } as const;
const EXPIRED = { code: 'session-expired', message: 'HTTP 404' } as const;

const annotated = (annotations: ToolAnnotations): readonly Tool[] => [tool('echo', { annotations })];
const READ_ONLY = annotated({ readOnlyHint: true });

/** Answers calls in every session but the first. */
const silentAtFirst = (tools: readonly Tool[]): Script => ({
  tools,
  on: { 'tools/call': (_, { session }) => (session === 1 ? silent({}, {} as never) : text('done')) },
});

interface InFlight extends TestTroupe {
  readonly server: FakeServer;
  readonly call: Promise<unknown>;
}

function useCallInFlight() {
  const { make } = useTroupes();
  /** A call that has reached the server. */
  const inFlight = async (
    script: Script,
    call: CallOptions = {},
    settings: ServerSettings = {},
    options: TroupeOptions = {},
  ): Promise<InFlight> => {
    const server = new FakeServer(() => ({}), script);
    const test = make({ startGateMs: 1_000, ...options, servers: { a: fake(server, settings) } });
    await test.troupe.start();
    const calling = test.troupe.callTool(NAME, { n: 1 }, call);
    calling.catch(() => {});
    await server.peer.whenReceived('tools/call');
    return { ...test, server, call: calling };
  };
  return { make, inFlight };
}

describe('a call in flight whose connection is lost', () => {
  useLeakCheck();
  useCrashWatch();
  const { make, inFlight } = useCallInFlight();

  it.each([
    ['read-only', { readOnlyHint: true }],
    ['idempotent', { readOnlyHint: false, destructiveHint: true, idempotentHint: true }],
  ])('is repeated once if the tool is %s', async (_, annotations) => {
    const { server, call, clock } = await inFlight(silentAtFirst(annotated(annotations)));
    server.transport.simulateEnd(EXITED);
    await expect(passTime(clock, call)).resolves.toEqual(text('done'));
    expect(server.peer.of('tools/call').map(({ session, params }) => [session, params['arguments']])).toEqual(
      [
        [1, { n: 1 }],
        [2, { n: 1 }],
      ],
    );
  });

  it('is published as two calls, of which the second names the first', async () => {
    const { server, call, clock, events } = await inFlight(silentAtFirst(READ_ONLY));
    await clock.advance(250);
    server.transport.simulateEnd(EXITED);
    await passTime(clock, call);
    const calls = events.all.filter(({ type }) => type.startsWith('call.'));
    expect(calls).toMatchObject([
      { type: 'call.started', call: 1, generation: 1 },
      { type: 'call.finished', call: 1, generation: 1, outcome: 'outcome-unknown', durationMs: 250 },
      { type: 'call.started', call: 2, generation: 2, repeats: 1 },
      { type: 'call.finished', call: 2, generation: 2, outcome: 'answered' },
    ]);
    expect(calls[0]).not.toHaveProperty('repeats');
  });

  it.each([
    ['has no annotations', {}],
    [
      'is neither read-only nor idempotent',
      { readOnlyHint: false, idempotentHint: false, destructiveHint: false },
    ],
    [
      'has annotations of the wrong type',
      { readOnlyHint: 'yes', idempotentHint: 1 } as unknown as ToolAnnotations,
    ],
  ])('is never repeated if the tool %s', async (_, annotations) => {
    const { server, call, clock } = await inFlight(silentAtFirst(annotated(annotations)));
    server.transport.simulateEnd(EXITED);
    await expect(call).rejects.toBeInstanceOf(OutcomeUnknownError);
    await clock.advance(120_000);
    expect(server.peer.of('tools/call')).toHaveLength(1);
  });

  it('is not repeated if the tool is no longer read-only after the recovery', async () => {
    const { server, call, clock } = await inFlight(silentAtFirst(READ_ONLY));
    server.peer.script = { tools: annotated({ readOnlyHint: false }) };
    server.transport.simulateEnd(EXITED);
    await expect(passTime(clock, call)).rejects.toThrow(EXITED.message);
    await expect(call).rejects.toBeInstanceOf(OutcomeUnknownError);
    expect(server.peer.of('tools/call')).toHaveLength(1);
  });

  it('is repeated for any tool if nothing of it was written', async () => {
    const server = new FakeServer((session) => ({
      send: async () => {
        if (session === 1 && isExpired) throw new TransportError(EXPIRED);
      },
    }));
    let isExpired = false;
    const { troupe, clock, events } = make({ servers: { a: fake(server) } });
    await troupe.start();
    isExpired = true;
    const call = troupe.callTool(NAME, { n: 1 });
    server.transport.ended = EXPIRED;
    await clock.advance(0);
    server.transport.simulateEnd(EXPIRED);
    await expect(passTime(clock, call)).resolves.toEqual(text('echo {"n":1}'));
    expect(server.peer.of('tools/call')).toMatchObject([{ session: 2 }]);
    expect(events.of('call.finished').map(({ outcome }) => outcome)).toEqual(['not-sent', 'answered']);
    expect(events.of('connection.ready').map(({ generation }) => generation)).toEqual([1, 2]);
  });

  it('is not repeated again if the repetition is lost as well', async () => {
    const { server, call, clock, events } = await inFlight({
      tools: READ_ONLY,
      on: { 'tools/call': silent },
    });
    server.transport.simulateEnd(EXITED);
    await passTime(clock, server.peer.whenReceived('tools/call', 2));
    server.transport.simulateEnd({ code: 'process-exited', message: 'Killed.' });
    await expect(passTime(clock, call)).rejects.toThrow('Killed.');
    await expect(call).rejects.toBeInstanceOf(OutcomeUnknownError);
    await clock.advance(120_000);
    expect(server.peer.of('tools/call')).toHaveLength(2);
    expect(events.of('call.finished').map(({ outcome }) => outcome)).toEqual([
      'outcome-unknown',
      'outcome-unknown',
    ]);
  });

  it('still has an unknown outcome if the repetition could not be sent', async () => {
    let sends = 0;
    const server = new FakeServer(
      (session) => ({
        send: async () => {
          sends += session === 2 ? 1 : 0;
          if (sends > 3) throw new TransportError({ code: 'http-status', message: 'HTTP 429' });
        },
      }),
      { tools: READ_ONLY, on: { 'tools/call': silent } },
    );
    const { troupe, clock, events } = make({ servers: { a: fake(server) } });
    await troupe.start();
    const call = troupe.callTool(NAME);
    call.catch(() => {});
    await server.peer.whenReceived('tools/call');
    server.transport.simulateEnd(EXITED);
    await expect(passTime(clock, call)).rejects.toBeInstanceOf(OutcomeUnknownError);
    expect(events.of('call.finished').map(({ outcome }) => outcome)).toEqual(['outcome-unknown', 'not-sent']);
    await clock.advance(0);
  });

  it('is answered in the next session if the connection was restarted', async () => {
    const { call, clock, troupe, server } = await inFlight(silentAtFirst(READ_ONLY));
    const restarting = troupe.connection('a')?.restart();
    await expect(passTime(clock, call)).resolves.toEqual(text('done'));
    await restarting;
    expect(server.peer.of('tools/call').map(({ session }) => session)).toEqual([1, 2]);
  });

  it('leaves no timer or listener behind after a repetition', async () => {
    const { signal } = new AbortController();
    const { server, call, clock } = await inFlight(silentAtFirst(READ_ONLY), {
      signal,
      totalTimeoutMs: 9_999,
    });
    expect(clock.pending).toContain(9_999);
    server.transport.simulateEnd(EXITED);
    await passTime(clock, call);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(clock.pending).not.toContain(9_999);
    expect(clock.pending.filter((ms) => ms === 60_000)).toHaveLength(1); // the session is not stable yet
  });

  it('can be one of hundreds, which are all answered in the next session', async () => {
    const { server, clock, troupe } = await inFlight(silentAtFirst(READ_ONLY));
    const calls = Array.from({ length: 300 }, (_, n) => troupe.callTool(NAME, { n }));
    await server.peer.whenReceived('tools/call', 301);
    server.transport.simulateEnd(EXITED);
    await expect(passTime(clock, Promise.all(calls))).resolves.toHaveLength(300);
    expect(server.peer.of('tools/call')).toHaveLength(602);
  });
});

describe('retryCalls', () => {
  useLeakCheck();
  useCrashWatch();
  const { inFlight } = useCallInFlight();

  it.each<[string, Partial<Record<'troupe' | 'entry' | 'call', RetryCalls>>, number]>([
    ["is 'safe' by default", {}, 2],
    ["can be 'never' for all servers", { troupe: 'never' }, 1],
    ["can be 'never' for one server", { entry: 'never' }, 1],
    ["can be 'never' for one call", { call: 'never' }, 1],
    ['of an entry takes precedence over that of the troupe', { troupe: 'never', entry: 'safe' }, 2],
    ['of a call takes precedence over that of the entry', { entry: 'never', call: 'safe' }, 2],
  ])('%s', async (_, { troupe, entry, call: own }, times) => {
    const { server, call, clock } = await inFlight(
      silentAtFirst(READ_ONLY),
      own === undefined ? {} : { retryCalls: own },
      entry === undefined ? {} : { retryCalls: entry },
      troupe === undefined ? {} : { retryCalls: troupe },
    );
    server.transport.simulateEnd(EXITED);
    const settling = passTime(clock, call);
    if (times === 2) await expect(settling).resolves.toEqual(text('done'));
    else await expect(settling).rejects.toBeInstanceOf(OutcomeUnknownError);
    expect(server.peer.of('tools/call')).toHaveLength(times);
  });
});

describe('a call that waits for the recovery of its connection', () => {
  useLeakCheck();
  useCrashWatch();
  const { make, inFlight } = useCallInFlight();

  const whileReconnecting = async (options: CallOptions = {}): Promise<InFlight> => {
    const test = await inFlight({ tools: READ_ONLY, on: { 'tools/call': silent } }, options);
    await test.clock.advance(4_000);
    test.server.peer.script = { ...test.server.peer.script, beforeConnect: never };
    test.server.transport.simulateEnd(EXITED);
    await whenState(test, 'a', 'reconnecting');
    return test;
  };

  it('has its idle limit for the recovery, and then reports that it was not repeated', async () => {
    const { call, clock, events } = await whileReconnecting({ timeoutMs: 5_000 });
    await clock.advance(4_999);
    await expect(Promise.race([call, Promise.resolve('still waiting')])).resolves.toBe('still waiting');
    await clock.advance(1);
    await expect(call).rejects.toBeInstanceOf(OutcomeUnknownError);
    await expect(call).rejects.toMatchObject({
      failure: { code: 'process-exited' },
      message: expect.stringContaining('5000 ms') as string,
    });
    expect(events.of('call.started')).toHaveLength(1);
  });

  it('has its idle limit again for the answer in the next session', async () => {
    const { call, clock, server } = await whileReconnecting({ timeoutMs: 5_000 });
    const pass = (ms: number): Promise<void> => new Promise((resolve) => clock.setTimeout(resolve, ms));
    server.peer.script = {
      tools: READ_ONLY,
      beforeConnect: () => pass(3_000),
      on: { 'tools/call': () => pass(4_000).then(() => text('done')) },
    };
    await expect(passTime(clock, call)).resolves.toEqual(text('done'));
  });

  it('is aborted at once by its signal', async () => {
    const controller = new AbortController();
    const { call } = await whileReconnecting({ signal: controller.signal });
    controller.abort('user left');
    await expect(call).rejects.toBeInstanceOf(CallAbortedError);
    await expect(call).rejects.toMatchObject({ cause: 'user left' });
  });

  it('is settled when its troupe closes', async () => {
    const { call, clock, troupe } = await whileReconnecting();
    await Promise.all([
      passTime(clock, troupe.close()),
      expect(call).rejects.toBeInstanceOf(OutcomeUnknownError),
    ]);
  });

  it('is settled when its server is stopped', async () => {
    const { call, clock, troupe } = await whileReconnecting();
    await passTime(clock, troupe.connection('a')?.stop() ?? never());
    await expect(call).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      message: expect.stringContaining("'a' is stopped") as string,
    });
  });

  const giveUp = { policy: { maxAttempts: 1 } };

  it('reports both failures if the connection gives up and the call may have been done', async () => {
    const { server, call, clock } = await inFlight(
      { tools: READ_ONLY, on: { 'tools/call': silent } },
      {},
      giveUp,
    );
    server.transport.simulateEnd(EXITED);
    await expect(passTime(clock, call)).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      failure: { code: 'process-exited' },
      cause: { failure: EXITED },
    });
  });

  it('was not sent, with the cause, if the connection gives up and nothing was written', async () => {
    let isExpired = false;
    const server = new FakeServer(() => ({
      send: async () => {
        if (isExpired) throw new TransportError(EXITED);
      },
    }));
    const { troupe, clock } = make({ servers: { a: fake(server, giveUp) } });
    await troupe.start();
    isExpired = true;
    const call = troupe.callTool(NAME);
    call.catch(() => {});
    server.transport.ended = EXITED;
    await clock.advance(0);
    server.transport.simulateEnd(EXITED);
    await expect(passTime(clock, call)).rejects.toBeInstanceOf(NotReadyError);
    await expect(call).rejects.toMatchObject({ cause: { code: 'CONNECTION_LOST', failure: EXITED } });
    await expect(call).rejects.toThrow(EXITED.message);
  });
});

describe('a call that is over', () => {
  useLeakCheck();
  useCrashWatch();
  const { inFlight } = useCallInFlight();
  const unanswered: Script = { tools: READ_ONLY, on: { 'tools/call': silent } };

  it('because it timed out is not repeated when its connection is lost later', async () => {
    const { server, call, clock } = await inFlight(unanswered, { timeoutMs: 1_000 });
    await clock.advance(1_000);
    server.transport.simulateEnd(EXITED);
    await expect(call).rejects.toBeInstanceOf(CallTimeoutError);
    await clock.advance(60_000);
    expect(server.peer.of('tools/call')).toHaveLength(1);
  });

  it('because it was aborted is not repeated when its connection is lost in the same moment', async () => {
    const controller = new AbortController();
    const { server, call, clock } = await inFlight(unanswered, { signal: controller.signal });
    controller.abort();
    server.transport.simulateEnd(EXITED);
    await expect(call).rejects.toBeInstanceOf(CallAbortedError);
    await clock.advance(60_000);
    expect(server.peer.of('tools/call')).toHaveLength(1);
  });
});

describe('totalTimeoutMs', () => {
  useLeakCheck();
  useCrashWatch();
  const { make, inFlight } = useCallInFlight();

  it('ends a call that always makes progress, and cancels it at the server', async () => {
    const { server, call, clock, events } = await inFlight(
      { on: { 'tools/call': silent } },
      { timeoutMs: 1_000, totalTimeoutMs: 3_000 },
    );
    const { params, id } = await server.peer.whenReceived('tools/call');
    const { progressToken } = params['_meta'] as { progressToken: number };
    for (let progress = 1; progress <= 5; progress += 1) {
      await clock.advance(500);
      server.peer.notify('notifications/progress', { progressToken, progress });
      await clock.advance(0);
    }
    expect(events.of('call.progress')).toHaveLength(5);
    await clock.advance(500);
    await expect(call).rejects.toBeInstanceOf(CallTimeoutError);
    await expect(call).rejects.toMatchObject({ code: 'CALL_TIMEOUT', kind: 'total', limitMs: 3_000 });
    expect(server.peer.of('notifications/cancelled')).toMatchObject([{ params: { requestId: id } }]);
    expect(events.of('call.finished')).toMatchObject([{ outcome: 'timed-out', durationMs: 3_000 }]);
  });

  it('includes the wait for a session, and reports that nothing was sent', async () => {
    const server = new FakeServer(() => ({ start: never }));
    const { troupe, clock } = make({ startGateMs: 1_000, servers: { a: fake(server) } });
    await passTime(clock, troupe.start());
    const call = troupe.connection('a')?.callTool('echo', {}, { totalTimeoutMs: 2_000 });
    call?.catch(() => {});
    await clock.advance(2_000);
    await expect(call).rejects.toBeInstanceOf(NotReadyError);
    await expect(call).rejects.toThrow('2000 ms');
  });

  it('includes a repetition', async () => {
    const { server, call, clock } = await inFlight(
      { tools: READ_ONLY, on: { 'tools/call': silent } },
      { totalTimeoutMs: 4_000 },
    );
    await clock.advance(3_000);
    server.transport.simulateEnd(EXITED);
    await clock.advance(0);
    expect(server.peer.of('tools/call')).toHaveLength(2);
    await clock.advance(1_000);
    await expect(call).rejects.toBeInstanceOf(CallTimeoutError);
    expect(server.peer.of('notifications/cancelled')).toMatchObject([{ session: 2 }]);
  });

  it('is six times the limit of silence by default, so that progress keeps no call for ever', async () => {
    const { server, call, clock } = await inFlight({ on: { 'tools/call': silent } }, { timeoutMs: 1_000 });
    const { params } = await server.peer.whenReceived('tools/call');
    const { progressToken } = params['_meta'] as { progressToken: number };
    for (let progress = 1; progress < 12; progress += 1) {
      await clock.advance(500);
      server.peer.notify('notifications/progress', { progressToken, progress });
      await clock.advance(0);
    }
    await clock.advance(500);
    await expect(call).rejects.toMatchObject({ code: 'CALL_TIMEOUT', kind: 'total', limitMs: 6_000 });
  });

  it('is unlimited by default without a limit of silence', async () => {
    const gate = createGate();
    const { call, clock } = await inFlight(
      { on: { 'tools/call': () => gate.promise.then(() => text('at last')) } },
      { timeoutMs: 0 },
    );
    await clock.advance(24 * 3_600_000);
    gate.open();
    await expect(call).resolves.toEqual(text('at last'));
  });
});
