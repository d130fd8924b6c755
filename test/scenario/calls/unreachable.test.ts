/** A server that cannot be reached for a while: a call that was never sent is tried again within its limit. */
import { afterEach, describe, expect, it } from 'vitest';
import { CallAbortedError, NotReadyError, OutcomeUnknownError } from '../../../src/errors.js';
import type { CallOptions } from '../../../src/index.js';
import { type RawFailure, TransportError } from '../../../src/failures/transport-error.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fake, FakeServer } from '../../support/fake-server.js';
import type { FakeTransport } from '../../support/fake-transport.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent, text, tool, type Script } from '../../support/scripted-server.js';
import { passTime, useTroupes, type TestTroupe } from '../../support/test-troupe.js';

const NAME = 'mcp__a__echo';
const REFUSED: RawFailure = { code: 'address-refused', message: '127.0.0.1:1 cannot be reached.' };
const FORGOTTEN: RawFailure = { code: 'session-expired', message: 'Gone.', http: { status: 404 } };
const READ_ONLY: Script = { tools: [tool('echo', { annotations: { readOnlyHint: true } })] };
/** A session ends after this many refused connections in a row. */
const MAX_REFUSALS = 2;

/** Ends a transport as one over HTTP ends: waiting requests fail first. */
function endBy(transport: FakeTransport, failure: RawFailure): void {
  transport.ended = failure;
  setImmediate(() => transport.simulateEnd(failure));
}

function isCall(message: object | undefined): boolean {
  return message !== undefined && 'method' in message && message.method === 'tools/call';
}

interface Unreachable extends TestTroupe {
  readonly server: FakeServer;
  /** From now on, nothing reaches the server, until `up`; `ends` says whether that ends its sessions. */
  down(ends?: boolean): void;
  up(): void;
  /** The server is back, and does not know the session of the next call. */
  upWithoutSession(): void;
  /** When each call was sent, in milliseconds since `down`. */
  sentAt(): number[];
}

function useUnreachable(): (script?: Script) => Promise<Unreachable> {
  const { make } = useTroupes();
  const makeUp: (() => void)[] = [];
  afterEach(() => {
    for (const up of makeUp.splice(0)) up();
  });
  return async (script = {}) => {
    let isDown = false;
    let ends = true;
    let refused = 0;
    let since = 0;
    let forgets = false;
    const send = async (): Promise<void> => {
      if (forgets && isCall(server.transport.sent.at(-1))) {
        forgets = false;
        endBy(server.transport, FORGOTTEN);
        throw new TransportError(FORGOTTEN);
      }
      if (!isDown) return;
      refused += 1;
      if (ends && refused === MAX_REFUSALS) {
        endBy(server.transport, { ...REFUSED, code: 'connection-lost' });
      }
      throw new TransportError(REFUSED);
    };
    const server = new FakeServer(() => ({ send }), script);
    const test = make({ servers: { a: fake(server, { policy: { backoff: [500] } }) } });
    await test.troupe.start();
    const up = (): void => void (isDown = false);
    makeUp.push(up);
    return {
      ...test,
      server,
      up,
      upWithoutSession: () => {
        up();
        forgets = true;
      },
      down: (ending = true) => {
        ends = ending;
        isDown = true;
        refused = 0;
        since = test.clock.now();
      },
      sentAt: () => test.events.of('call.started').map(({ at }) => at - since),
    };
  };
}

describe('a call to a server that cannot be reached', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useUnreachable();

  it('waits for the next session, even if its refusals ended the last one', async () => {
    const { troupe, clock, server, events, down, up, sentAt } = await begin();
    down();
    const call = troupe.callTool(NAME, { n: 1 }, { timeoutMs: 20_000 });
    await Promise.all([clock.advance(1_000), events.when('connection.lost')]);
    expect(sentAt()).toEqual([0, 100]);
    up();
    await expect(passTime(clock, call)).resolves.toEqual(text('echo {"n":1}'));
    expect(server.peer.of('tools/call')).toHaveLength(1);
    expect(events.of('call.finished').map(({ outcome }) => outcome)).toEqual([
      'not-sent',
      'not-sent',
      'answered',
    ]);
    expect(events.of('call.started').map(({ repeats }) => repeats)).toEqual([undefined, 1, 2]);
  });

  it('is tried in the same session with growing pauses, until its limit', async () => {
    const { troupe, clock, down, sentAt } = await begin();
    down(false);
    const call = troupe.callTool(NAME, {}, { timeoutMs: 10_000 });
    call.catch(() => {});
    await clock.advance(9_999);
    await expect(Promise.race([call, Promise.resolve('still waiting')])).resolves.toBe('still waiting');
    expect(sentAt()).toEqual([0, 100, 300, 700, 1_500, 3_100, 5_100, 7_100, 9_100]);
    await clock.advance(1);
    await expect(call).rejects.toBeInstanceOf(NotReadyError);
    await expect(call).rejects.toThrow(/10000 ms.*127\.0\.0\.1:1/);
    await expect(call).rejects.toMatchObject({ cause: { failure: { code: 'address-refused' } } });
  });

  it.each<[string, CallOptions]>([
    ['its total limit has passed', { totalTimeoutMs: 2_000 }],
    ['its limit for a session has passed', { timeoutMs: 2_000 }],
  ])('was not sent if %s, and leaves no timer', async (_, options) => {
    const { troupe, clock, down } = await begin();
    const before = clock.pending.length;
    down(false);
    const call = troupe.callTool(NAME, {}, options);
    call.catch(() => {});
    await clock.advance(2_000);
    await expect(call).rejects.toMatchObject({
      code: 'NOT_READY',
      message: expect.stringMatching(/2000 ms.*127\.0\.0\.1:1/) as string,
    });
    expect(clock.pending).toHaveLength(before);
  });

  it('is aborted by its signal, and leaves no timer', async () => {
    const { troupe, clock, down, sentAt } = await begin();
    const before = clock.pending.length;
    const controller = new AbortController();
    down(false);
    const call = troupe.callTool(NAME, {}, { signal: controller.signal });
    call.catch(() => {});
    await clock.advance(250);
    controller.abort('user left');
    await expect(call).rejects.toBeInstanceOf(CallAbortedError);
    await expect(call).rejects.toMatchObject({ cause: 'user left' });
    expect(clock.pending).toHaveLength(before);
    await clock.advance(5_000);
    expect(sentAt()).toEqual([0, 100]);
  });

  it('has its whole limit for the answer once it is sent', async () => {
    const { troupe, clock, server, down, up } = await begin();
    const pass = (ms: number): Promise<void> => new Promise((resolve) => clock.setTimeout(resolve, ms));
    server.peer.script = { on: { 'tools/call': () => pass(2_900).then(() => text('done')) } };
    down(false);
    const call = troupe.callTool(NAME, {}, { timeoutMs: 3_000 });
    await clock.advance(1_000);
    up();
    await expect(passTime(clock, call)).resolves.toEqual(text('done'));
  });

  it('is not repeated once it may have been received', async () => {
    const { troupe, clock, server, down, up } = await begin({ on: { 'tools/call': silent } });
    down(false);
    const call = troupe.callTool(NAME);
    call.catch(() => {});
    await clock.advance(250);
    up();
    await clock.advance(100);
    await clock.advance(1_000);
    expect(server.peer.of('tools/call')).toHaveLength(1);
    server.transport.simulateEnd();
    await expect(passTime(clock, call)).rejects.toBeInstanceOf(OutcomeUnknownError);
    await clock.advance(60_000);
    expect(server.peer.of('tools/call')).toHaveLength(1);
  });

  it('is rejected at once if its caller turned repetition off', async () => {
    const { troupe, down, up, sentAt } = await begin();
    down(false);
    const call = troupe.callTool(NAME, {}, { retryCalls: 'never' });
    await expect(call).rejects.toMatchObject({
      code: 'NOT_READY',
      message: expect.stringContaining('127.0.0.1:1') as string,
    });
    expect(sentAt()).toEqual([0]);
    up();
  });
});

describe('the one repetition of a call', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();
  const begin = useUnreachable();

  const inFlight = async (
    options: CallOptions = {},
    ends = true,
  ): Promise<Unreachable & { call: Promise<unknown> }> => {
    const test = await begin({ ...READ_ONLY, on: { 'tools/call': silent } });
    const call = test.troupe.callTool(NAME, {}, options);
    call.catch(() => {});
    const { id } = await test.server.peer.whenReceived('tools/call');
    test.down(ends);
    test.server.transport.simulateLost(id ?? '');
    return { ...test, call };
  };

  it('is not used up by attempts that never reached the server', async () => {
    const { call, clock, server, events, up } = await inFlight();
    await clock.advance(1_000);
    up();
    server.peer.script = READ_ONLY;
    await expect(passTime(clock, call)).resolves.toEqual(text('echo {}'));
    expect(server.peer.of('tools/call')).toHaveLength(2);
    expect(events.of('call.finished').map(({ outcome }) => outcome)).toEqual([
      'outcome-unknown',
      'not-sent',
      'not-sent',
      'answered',
    ]);
  });

  it('is not used up by a session that the server forgot meanwhile', async () => {
    const { call, clock, server, events, upWithoutSession } = await inFlight({}, false);
    await clock.advance(150);
    server.peer.script = READ_ONLY;
    upWithoutSession();
    await expect(passTime(clock, call)).resolves.toEqual(text('echo {}'));
    expect(server.peer.of('tools/call').map(({ session }) => session)).toEqual([1, 2]);
    expect(events.of('call.finished').map(({ outcome }) => outcome)).toEqual([
      'outcome-unknown',
      'not-sent',
      'not-sent',
      'answered',
    ]);
  });

  it('is used up if it may have been received as well', async () => {
    const { call, clock, server, up } = await inFlight();
    await clock.advance(1_000);
    up();
    await passTime(clock, server.peer.whenReceived('tools/call', 2));
    server.transport.simulateEnd();
    await expect(passTime(clock, call)).rejects.toBeInstanceOf(OutcomeUnknownError);
    await clock.advance(60_000);
    expect(server.peer.of('tools/call')).toHaveLength(2);
  });

  it('is made only if its tool is still read-only when the server is back', async () => {
    const { call, clock, server, up } = await inFlight();
    server.peer.script = {};
    await clock.advance(1_000);
    up();
    await expect(passTime(clock, call)).rejects.toBeInstanceOf(OutcomeUnknownError);
    expect(server.peer.of('tools/call')).toHaveLength(1);
  });

  it('leaves an unknown outcome if its limit passes first', async () => {
    const { call, clock } = await inFlight({ timeoutMs: 3_000 });
    await clock.advance(3_000);
    await expect(call).rejects.toBeInstanceOf(OutcomeUnknownError);
    await expect(call).rejects.toThrow('3000 ms');
  });

  it('is made only once for a session that the server forgot', async () => {
    const send = async (): Promise<void> => {
      if (!isCall(server.transport.sent.at(-1))) return;
      endBy(server.transport, FORGOTTEN);
      throw new TransportError(FORGOTTEN);
    };
    const server = new FakeServer(() => ({ send }));
    const { troupe, clock, events } = make({ servers: { a: fake(server) } });
    await troupe.start();
    await expect(passTime(clock, troupe.callTool(NAME))).rejects.toMatchObject({
      code: 'NOT_READY',
      message: expect.stringContaining(FORGOTTEN.message) as string,
    });
    expect(events.of('call.started')).toHaveLength(2);
  });
});
