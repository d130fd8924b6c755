import { describe, expect, it } from 'vitest';
import type { ProtocolClient } from '../../../src/protocol/protocol-client.js';
import { Sessions, type Session } from '../../../src/sessions/sessions.js';
import type { RawFailure } from '../../../src/failures/transport-error.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { FakeTransport, type FakeTransportOptions } from '../../support/fake-transport.js';
import { createGate, never } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';

const KEY = { name: 'a', generation: 1 };
const PLAN = { config: { command: 'server' }, cacheKey: undefined, reviewed: undefined, folder: '/' };

interface Live {
  readonly sessions: Sessions;
  readonly session: Session;
  readonly transport: FakeTransport;
}

function begin(options: FakeTransportOptions = {}, sessions = new Sessions(), key = KEY): Live {
  const session = sessions.begin(key, PLAN);
  const transport = new FakeTransport(options);
  session.own(transport);
  return { sessions, session, transport };
}

/** A client that only records that it was abandoned. */
function fakeClient(onabandon: (failure: RawFailure) => void = () => {}): ProtocolClient {
  return {
    open: never,
    request: never,
    notify: never,
    pending: 0,
    lastRequestId: undefined,
    abandon: onabandon,
  };
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  for (let turns = 0; turns < 10; turns += 1) await Promise.resolve();
  return settled;
}

describe('the registry of sessions', () => {
  useLeakCheck();
  useCrashWatch();

  it('holds a session from before it has a transport until it is proven gone', async () => {
    const sessions = new Sessions();
    sessions.begin(KEY, PLAN);
    expect(sessions.size).toBe(1);
    expect(sessions.get(KEY)?.transport).toBeUndefined();
    await sessions.close('a');
    expect(sessions.size).toBe(0);
    expect(sessions.get(KEY)).toBeUndefined();
  });

  it('gives the session of a generation', () => {
    const sessions = new Sessions();
    const first = sessions.begin(KEY, PLAN);
    const second = sessions.begin({ name: 'a', generation: 2 }, PLAN);
    sessions.begin({ name: 'b', generation: 7 }, PLAN);
    expect(sessions.get(KEY)).toBe(first);
    expect(sessions.get({ name: 'a', generation: 2 })).toBe(second);
    expect(sessions.get({ name: 'a', generation: 3 })).toBeUndefined();
    expect(sessions.get({ name: 'nobody', generation: 1 })).toBeUndefined();
  });

  it('ends one session of a connection, or all but one', async () => {
    const generation = (number: number) => ({ name: 'a', generation: number });
    const { sessions, transport: first } = begin();
    const { transport: second } = begin({}, sessions, generation(2));
    const { transport: third } = begin({}, sessions, generation(3));
    await sessions.closeOne(generation(1));
    expect([first.asked, second.asked, third.asked]).toEqual([['close'], [], []]);
    await sessions.closeAllBut('a', 3);
    expect([second.asked, third.asked]).toEqual([['close'], []]);
    await sessions.closeOne(generation(2));
    await sessions.closeAllBut('a', 3);
    expect(sessions.get(generation(3))?.isClosing).toBe(false);
    expect(sessions.size).toBe(1);
  });

  it('is idle when no session of a connection has a call in flight', async () => {
    const { sessions, session } = begin();
    const { session: younger } = begin({}, sessions, { name: 'a', generation: 2 });
    const call = session.beginCall();
    const other = younger.beginCall();
    const idle = sessions.idle('a', new AbortController().signal);
    session.endCall(call, 0, false);
    expect(await isSettled(idle)).toBe(false);
    younger.endCall(other, 0, false);
    await idle;
    await sessions.idle('nobody', new AbortController().signal);
  });

  it('ends every session of one connection and leaves the others alone', async () => {
    const { sessions, transport: old } = begin();
    const { transport: young } = begin({}, sessions, { name: 'a', generation: 2 });
    const { transport: other } = begin({}, sessions, { name: 'b', generation: 1 });
    await sessions.close('a');
    expect([old.asked, young.asked, other.asked]).toEqual([['close'], ['close'], []]);
    expect(sessions.size).toBe(1);
  });

  it('forgets a session only when its transport is closed', async () => {
    const gate = createGate();
    const { sessions } = begin({ close: () => gate.promise });
    const closing = sessions.close('a');
    expect(await isSettled(closing)).toBe(false);
    expect(sessions.size).toBe(1);
    gate.open();
    await closing;
    expect(sessions.size).toBe(0);
  });

  it('reports why a session could not be ended completely', async () => {
    const { sessions, transport } = begin();
    transport.ended = { code: 'not-released', message: 'Process 7 still runs.' };
    await expect(sessions.close('a')).resolves.toEqual(transport.ended);
  });

  it('does nothing for a connection without a session', async () => {
    const sessions = new Sessions();
    await expect(sessions.close('nobody')).resolves.toBeUndefined();
    await expect(sessions.kill('nobody')).resolves.toBeUndefined();
    await sessions.closeAll();
    await sessions.killAll();
  });
});

describe('the end of a session', () => {
  useCrashWatch();

  it('is requested from the transport once, however often it is requested', async () => {
    const { sessions, transport } = begin();
    await Promise.all([sessions.close('a'), sessions.close('a'), sessions.closeAll()]);
    await sessions.close('a');
    expect(transport.asked).toEqual(['close']);
  });

  it('is sped up by a kill, and the wait for the close ends', async () => {
    const { sessions, transport } = begin({ close: never });
    const closing = sessions.close('a');
    expect(await isSettled(closing)).toBe(false);
    await sessions.kill('a');
    await closing;
    expect(transport.asked).toEqual(['close', 'kill']);
    expect(sessions.size).toBe(0);
  });

  it('is immediate if a kill comes first', async () => {
    const { sessions, transport } = begin();
    await sessions.kill('a');
    await sessions.close('a');
    expect(transport.asked).toEqual(['kill']);
  });

  it('never rejects: a transport that fails to close is killed', async () => {
    const { sessions, transport } = begin({ close: () => Promise.reject(new Error('broken')) });
    await expect(sessions.close('a')).resolves.toBeUndefined();
    expect(transport.asked).toEqual(['close', 'kill']);
  });

  it('is not proven if even the kill fails, but nothing rejects', async () => {
    const broken = (): Promise<void> => Promise.reject(new Error('broken'));
    const { sessions } = begin({ close: broken, kill: broken });
    expect(await isSettled(sessions.close('a'))).toBe(false);
    expect(await isSettled(sessions.kill('a'))).toBe(false);
    expect(sessions.size).toBe(1);
  });

  it('settles the pending requests before the transport is closed', async () => {
    const order: string[] = [];
    const { sessions, session } = begin({ close: async () => void order.push('close') });
    session.client = fakeClient(() => order.push('settle'));
    await sessions.close('a');
    expect(order.slice(0, 2)).toEqual(['settle', 'close']);
  });

  it('is not reported as a loss', async () => {
    const { sessions, session } = begin();
    const lost: RawFailure[] = [];
    session.watch({
      heard: (signal) => {
        if (signal.kind === 'lost') lost.push(signal.failure);
      },
    });
    await sessions.close('a');
    expect(lost).toEqual([]);
  });

  it('makes the session unusable at once', () => {
    const { session } = begin({ close: never });
    session.client = fakeClient();
    expect(session.isUsable).toBe(true);
    void session.close();
    expect(session.isUsable).toBe(false);
    expect(session.isClosing).toBe(true);
  });

  it('refuses a transport that arrives late', async () => {
    const sessions = new Sessions();
    const session = sessions.begin(KEY, PLAN);
    await sessions.close('a');
    expect(() => session.own(new FakeTransport())).toThrow(Error);
    expect(session.transport).toBeUndefined();
  });
});

describe('calls and losses', () => {
  useCrashWatch();

  it('abandons pending requests when the transport ends, before it reports the loss', async () => {
    const { session, transport } = begin();
    const order: string[] = [];
    session.client = fakeClient(({ code }) => order.push(`abandoned: ${code}`));
    session.watch({ heard: ({ kind }) => order.push(kind) });
    transport.simulateEnd({ code: 'process-exited', message: 'gone' });
    expect(order).toEqual(['abandoned: process-exited']);
    await session.idle();
    await Promise.resolve();
    expect(order).toEqual(['abandoned: process-exited', 'lost']);
  });

  it('reports the loss only when every call has settled', async () => {
    const { session, transport } = begin();
    session.client = fakeClient();
    const lost: RawFailure[] = [];
    session.watch({
      heard: (signal) => {
        if (signal.kind === 'lost') lost.push(signal.failure);
      },
    });
    const calls = [session.beginCall(), session.beginCall()];
    transport.simulateEnd({ code: 'process-exited', message: 'gone' });
    expect(session.isUsable).toBe(false);
    session.endCall(calls[0]!, 1, false);
    await Promise.resolve();
    expect(lost).toEqual([]);
    session.endCall(calls[1]!, 2, false);
    await session.idle();
    await Promise.resolve();
    expect(lost).toEqual([{ code: 'process-exited', message: 'gone' }]);
  });

  it('lets several wait until no call is in flight', async () => {
    const { session } = begin();
    const call = session.beginCall();
    const waiting = [session.idle(), session.idle(new AbortController().signal)];
    session.endCall(call, 5, false);
    await Promise.all(waiting);
    expect([session.calls, session.usedAt]).toEqual([0, 5]);
  });

  it('ends the wait for idleness by its signal', async () => {
    const { session } = begin();
    session.beginCall();
    const controller = new AbortController();
    const waiting = session.idle(controller.signal);
    controller.abort();
    await waiting;
    expect(session.calls).toBe(1);
  });
});
