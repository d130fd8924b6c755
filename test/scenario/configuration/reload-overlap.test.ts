/** A reload of a remote or in-process server: the new session starts before the old one ends. */
import { describe, expect, it } from 'vitest';
import { createMemoryReviewStore, type ReviewStore } from '../../../src/review/review-store.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fake, fakeProgram, fakeRemote, FakeServer } from '../../support/fake-server.js';
import { createGate, never } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent, text, tool, type Script } from '../../support/scripted-server.js';
import { passTime, useTroupes, whenEmits, whenState, type TestTroupe } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
const { make } = useTroupes();

const remote = (script: Script = {}): FakeServer => new FakeServer(() => ({ kind: 'http' }), script);

const refusing = (code: 'http-status' | 'auth-required', status: number): FakeServer =>
  new FakeServer(() => ({
    kind: 'http',
    start: () => Promise.reject(new TransportError({ code, message: `HTTP ${status}`, http: { status } })),
  }));

async function started(before: FakeServer): Promise<TestTroupe> {
  const test = make({ servers: { a: fakeRemote(before) } });
  await test.troupe.start();
  return test;
}

/** Answers a call in flight. */
function answer(server: FakeServer, id: unknown, content: string): void {
  server.peer.send({ jsonrpc: '2.0', id, result: text(content) });
}

describe('a changed entry of a remote server', () => {
  it('takes effect without a moment in which the server is not ready', async () => {
    const [before, after] = [remote(), remote({ tools: [tool('new')] })];
    const { troupe, events } = await started(before);
    const seen: [string, number][] = [];
    troupe.status$.subscribe(([row]) => row && seen.push([row.state, row.generation]));
    const report = await troupe.reload({ a: fakeRemote(after) });
    expect(report).toMatchObject({ changed: ['a'], outdated: [], problems: [] });
    expect(new Set(seen.map(([state]) => state))).toEqual(new Set(['ready']));
    expect(seen.at(-1)).toEqual(['ready', 2]);
    expect(troupe.tools.map(({ name }) => name)).toEqual(['mcp__a__new']);
    expect(events.of('connection.lost')).toEqual([]);
    expect(events.of('connection.ready')).toMatchObject([{ generation: 1 }, { generation: 2 }]);
    expect(events.of('catalog.changed').at(-1)).toMatchObject({ added: ['new'], removed: ['echo'] });
    expect(new Set(events.states('a'))).toEqual(
      new Set(['configuring', 'launching', 'handshaking', 'ready']),
    );
    await troupe.callTool('mcp__a__new');
    expect([before.peer.of('tools/call').length, after.peer.of('tools/call').length]).toEqual([0, 1]);
  });

  it('keeps the tools of the old session until the new one has listed its own', async () => {
    const [before, after] = [remote(), remote({ on: { 'tools/list': silent } })];
    const { troupe } = await started(before);
    const reloading = troupe.reload({ a: fakeRemote(after) });
    const { id } = await after.peer.whenReceived('tools/list');
    expect(troupe.tools).toMatchObject([{ name: 'mcp__a__echo', stale: false }]);
    await expect(troupe.callTool('mcp__a__echo')).resolves.toEqual(text('echo {}'));
    expect(before.peer.of('tools/call')).toHaveLength(1);
    after.peer.send({ jsonrpc: '2.0', id, result: { tools: [tool('late')] } });
    await reloading;
    expect(troupe.tools.map(({ name }) => name)).toEqual(['mcp__a__late']);
  });

  it('lets the calls of the old session finish there, and then ends it', async () => {
    const [before, after] = [remote({ on: { 'tools/call': silent } }), remote()];
    const { troupe } = await started(before);
    const call = troupe.callTool('mcp__a__echo');
    const { id } = await before.peer.whenReceived('tools/call');
    await troupe.reload({ a: fakeRemote(after) });
    expect([before.transport.isOpen, after.transport.isOpen]).toEqual([true, true]);
    await expect(troupe.callTool('mcp__a__echo')).resolves.toEqual(text('echo {}'));
    expect(after.peer.of('tools/call')).toHaveLength(1);
    answer(before, id, 'old');
    await expect(call).resolves.toEqual(text('old'));
    await before.peer.when(() => !before.peer.isConnected);
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 2 }]);
    expect(before.transport.asked).toEqual(['start', 'close']);
  });

  it('lets them finish there even if the new session would be stopped as idle', async () => {
    const [before, after] = [remote({ on: { 'tools/call': silent } }), remote()];
    const settings = { policy: { idleStopMs: 5_000 } };
    const test = make({ servers: { a: fakeRemote(before, settings) } });
    const { troupe, clock } = test;
    await troupe.start();
    const call = troupe.callTool('mcp__a__echo', {}, { timeoutMs: 0 });
    const { id } = await before.peer.whenReceived('tools/call');
    await troupe.reload({ a: fakeRemote(after, settings) });
    for (let passed = 0; passed < 12; passed += 1) await clock.advance(1_000);
    answer(before, id, 'old');
    await expect(passTime(clock, call)).resolves.toEqual(text('old'));
    const dormant = whenEmits(troupe.status$, ([row]) => row?.substate === 'dormant');
    await passTime(clock, dormant);
  });

  it('ends the old session after a minute, and its calls have an unknown outcome', async () => {
    const [before, after] = [remote({ on: { 'tools/call': silent } }), remote()];
    const { troupe, clock } = await started(before);
    const call = troupe.callTool('mcp__a__echo', {}, { timeoutMs: 0 });
    await before.peer.whenReceived('tools/call');
    await troupe.reload({ a: fakeRemote(after) });
    await expect(passTime(clock, call, 90_000)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect([before.transport.isOpen, after.transport.isOpen]).toEqual([false, true]);
  });

  it('replaces an in-process server as well', async () => {
    const [before, after] = [new FakeServer(), new FakeServer()];
    const { troupe, events } = make({ servers: { a: fake(before) } });
    await troupe.start();
    await troupe.reload({ a: fake(after) });
    expect(events.states('a')).not.toContain('shuttingDown');
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 2 }]);
    await before.peer.when(() => !before.peer.isConnected);
  });

  it('has one session after the other if one of them is a program', async () => {
    const program = (): FakeServer => new FakeServer(() => ({ kind: 'stdio' }));
    const [first, second, third] = [program(), program(), remote()];
    const { troupe, events } = make({ servers: { a: fakeProgram(first) } });
    await troupe.start();
    second.beforeCreate = async () => expect(first.transport.isOpen).toBe(false);
    await troupe.reload({ a: fakeProgram(second) });
    third.beforeCreate = async () => expect(second.transport.isOpen).toBe(false);
    await troupe.reload({ a: fakeRemote(third) });
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 3 }]);
    expect(events.states('a').filter((state) => state === 'shuttingDown')).toHaveLength(2);
  });

  it('ends the old session if the user has to sign in first', async () => {
    const [before, after] = [remote(), refusing('auth-required', 401)];
    const { troupe } = await started(before);
    await expect(troupe.reload({ a: fakeRemote(after) })).resolves.toMatchObject({ outdated: [] });
    expect(troupe.status).toMatchObject([
      { state: 'configuring', tags: ['waitingForPerson', 'authorizing', 'attempted', 'settled'] },
    ]);
    expect(before.transport.isOpen).toBe(false);
  });
});

describe('a changed entry that does not work', () => {
  it('leaves the old session in use, and the report, the status and an event say why', async () => {
    const [before, after] = [remote(), refusing('http-status', 403)];
    const { troupe, events } = await started(before);
    const report = await troupe.reload({ a: fakeRemote(after) });
    expect(report).toMatchObject({
      changed: ['a'],
      outdated: ['a'],
      problems: [{ code: 'entry-outdated', server: 'a', source: 'the servers option' }],
    });
    expect(troupe.status).toMatchObject([
      { state: 'ready', generation: 1, error: null, outdated: { code: 'http-status', phase: 'launch' } },
    ]);
    expect(events.of('diagnostic').map(({ kind }) => kind)).toEqual(['config-reloaded', 'entry-outdated']);
    expect(events.of('connection.failed')).toEqual([]);
    await expect(troupe.callTool('mcp__a__echo')).resolves.toBeDefined();
    expect(after.transport.isOpen).toBe(false);
  });

  it.each<[string, Script]>([
    ['its protocol version', { protocolVersion: '1999-01-01' }],
    ['its silence', { on: { initialize: silent } }],
    ['its missing list of tools', { on: { 'tools/list': silent } }],
  ])('leaves the old session in use because of %s, and nothing of the new one is left', async (_, script) => {
    const [before, after] = [remote(), remote(script)];
    const { troupe, clock } = await started(before);
    const report = await passTime(clock, troupe.reload({ a: fakeRemote(after, { startTimeoutMs: 3_000 }) }));
    expect(report.outdated).toEqual(['a']);
    expect(after.transport.isOpen).toBe(false);
    expect(troupe.tools).toMatchObject([{ name: 'mcp__a__echo' }]);
  });

  it('is tried again by a reload that repairs it, even if only a time limit was too short', async () => {
    const [before, slow] = [remote(), remote({ on: { initialize: silent } })];
    const { troupe, clock } = await started(before);
    await passTime(clock, troupe.reload({ a: fakeRemote(slow, { startTimeoutMs: 3_000 }) }));
    slow.peer.script = {};
    await expect(troupe.reload({ a: fakeRemote(slow, { startTimeoutMs: 9_000 }) })).resolves.toMatchObject({
      changed: ['a'],
      outdated: [],
    });
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 3, outdated: null }]);
  });

  it('is used when the old session is lost', async () => {
    const [before, after] = [remote(), refusing('http-status', 403)];
    const test = await started(before);
    await test.troupe.reload({ a: fakeRemote(after) });
    before.transport.simulateEnd();
    await whenState(test, 'a', 'failed');
    expect(test.troupe.status).toMatchObject([{ error: { code: 'http-status' }, outdated: null }]);
    expect(test.events.of('connection.lost')).toHaveLength(1);
  });
});

describe('the two sessions of a change', () => {
  it('are never three: a reload during the change first ends the session that is not in use', async () => {
    const [first, second, third] = [
      remote({ on: { 'tools/call': silent } }),
      remote({ on: { 'tools/list': silent } }),
      remote(),
    ];
    const { troupe } = await started(first);
    const call = troupe.callTool('mcp__a__echo');
    const { id } = await first.peer.whenReceived('tools/call');
    const overtaken = troupe.reload({ a: fakeRemote(second) });
    await second.peer.whenReceived('tools/list');
    third.beforeCreate = async () => expect(second.transport.isOpen).toBe(false);
    await troupe.reload({ a: fakeRemote(third) });
    await overtaken;
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 3 }]);
    expect([first.transport.isOpen, third.transport.isOpen]).toEqual([true, true]);
    answer(first, id, 'old');
    await expect(call).resolves.toEqual(text('old'));
  });

  it('are never three: a change while the old one finishes its calls waits for them and interrupts none', async () => {
    const [first, second, third] = [remote({ on: { 'tools/call': silent } }), remote(), remote()];
    const { troupe } = await started(first);
    const call = troupe.callTool('mcp__a__echo');
    const { id } = await first.peer.whenReceived('tools/call');
    await troupe.reload({ a: fakeRemote(second) });
    third.beforeCreate = async () => expect(first.transport.isOpen).toBe(false);
    const reloading = troupe.reload({ a: fakeRemote(third) });
    await whenEmits(troupe.status$, ([row]) => row?.tags.includes('preparing') === true);
    await expect(troupe.callTool('mcp__a__echo')).resolves.toEqual(text('echo {}'));
    expect(second.peer.of('tools/call')).toHaveLength(1);
    answer(first, id, 'old');
    await expect(call).resolves.toEqual(text('old'));
    await expect(reloading).resolves.toMatchObject({ changed: ['a'], outdated: [] });
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 3 }]);
  });

  it('are never three: further changes do not extend the minute that the calls of the old one have', async () => {
    const [first, second, third, fourth] = [
      remote({ on: { 'tools/call': silent } }),
      remote(),
      remote(),
      remote(),
    ];
    const { troupe, clock } = await started(first);
    const call = troupe.callTool('mcp__a__echo', {}, { timeoutMs: 0 });
    const lost = expect(call).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await first.peer.whenReceived('tools/call');
    await troupe.reload({ a: fakeRemote(second) });
    await clock.advance(30_000);
    await passTime(clock, troupe.reload({ a: fakeRemote(third) }));
    expect(troupe.status).toMatchObject([{ state: 'ready', tags: expect.arrayContaining(['preparing']) }]);
    const inUse = whenEmits(troupe.status$, ([row]) => row?.generation === 4);
    const last = troupe.reload({ a: fakeRemote(fourth) });
    fourth.beforeCreate = async () => expect(first.transport.isOpen).toBe(false);
    await passTime(clock, inUse, 30_000);
    await lost;
    await passTime(clock, last);
    expect(third.transports).toEqual([]);
  });

  it('are both ended by a stop while the new one is prepared', async () => {
    const [before, after] = [remote(), remote({ on: { initialize: silent } })];
    const { troupe } = await started(before);
    const reloading = troupe.reload({ a: fakeRemote(after) });
    await after.peer.whenReceived('initialize');
    await troupe.connection('a')?.stop();
    await reloading;
    expect([before.transport.isOpen, after.transport.isOpen]).toEqual([false, false]);
    expect(troupe.status).toMatchObject([{ state: 'stopped', reason: 'stop' }]);
    await troupe
      .connection('a')
      ?.retry()
      .catch(() => {});
    after.peer.script = {};
    await troupe.connection('a')?.start();
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 3 }]);
  });

  it('are both ended by the close of the troupe while the old one finishes its calls', async () => {
    const [before, after] = [remote({ on: { 'tools/call': silent } }), remote()];
    const { troupe, clock } = await started(before);
    const call = troupe.callTool('mcp__a__echo');
    await before.peer.whenReceived('tools/call');
    await troupe.reload({ a: fakeRemote(after) });
    const closing = troupe.close();
    await expect(passTime(clock, call)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await closing;
    expect([before.transport.isOpen, after.transport.isOpen]).toEqual([false, false]);
  });

  it('do not block each other if the new one does not end', async () => {
    const before = remote();
    const stuck = new FakeServer(() => ({ kind: 'http', start: never, close: never }));
    const { troupe, clock } = await started(before);
    const report = await passTime(clock, troupe.reload({ a: fakeRemote(stuck, { startTimeoutMs: 2_000 }) }));
    expect(report.outdated).toEqual(['a']);
    await expect(troupe.callTool('mcp__a__echo')).resolves.toBeDefined();
  });

  it('have the secrets of both redacted while the old one finishes its calls', async () => {
    const [before, after] = [remote({ on: { 'tools/call': silent } }), remote()];
    const entry = (server: FakeServer, key: string) => ({
      ...fakeRemote(server),
      headers: { 'X-Key': key },
    });
    const { troupe, events } = make({ servers: { a: entry(before, 'first-secret-value') } });
    await troupe.start();
    const call = troupe.callTool('mcp__a__echo');
    const { id } = await before.peer.whenReceived('tools/call');
    await troupe.reload({ a: entry(after, 'second-secret-value') });
    before.peer.notify('notifications/message', {
      level: 'info',
      data: 'first-secret-value second-secret-value',
    });
    answer(before, id, 'done');
    await call;
    expect(events.of('server.log').map(({ message }) => message)).toEqual(['*** ***']);
  });
});

describe('the tools of a session that is being prepared', () => {
  /** Reviews the lists of the first session at once, and those of the others when the gate opens. */
  async function reviewedSlowly(before: FakeServer) {
    const store = createMemoryReviewStore();
    const reviewing = createGate();
    let lists = 0;
    const slow: ReviewStore = {
      ...store,
      baseline: async (...request) => {
        lists += 1;
        if (lists > 1) await reviewing.promise;
        return store.baseline(...request);
      },
    };
    const review = { mode: 'hold-changes' as const, store: slow };
    const test = make({ cache: false, review, servers: { a: fakeRemote(before) } });
    await test.troupe.start();
    return { ...test, reviewing };
  }

  it('are never those of the session in use, even if the review is slow and the entry changes again', async () => {
    const [before, second] = [remote(), remote({ tools: [tool('new')] })];
    const { troupe, events, clock, reviewing } = await reviewedSlowly(before);
    const overtaken = troupe.reload({ a: fakeRemote(second) });
    await second.peer.whenReceived('tools/list');
    const report = await passTime(
      clock,
      troupe.reload({ a: fakeRemote(refusing('http-status', 403)) }),
      5_000,
    );
    reviewing.open();
    await passTime(clock, overtaken);
    expect(report.outdated).toEqual(['a']);
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 2 }]);
    await passTime(
      clock,
      whenEmits(troupe.tools$, (tools) => tools.length > 0),
    );
    expect(troupe.tools.map((each) => each.tool)).toEqual(['new']);
    await expect(troupe.callTool('mcp__a__new')).resolves.toBeDefined();
    expect(second.peer.of('tools/call')).toHaveLength(1);
    expect(events.of('connection.lost')).toEqual([]);
  });

  it('can be called as soon as they are announced, and the call goes to their session', async () => {
    const [before, after] = [remote(), remote({ tools: [tool('new')] })];
    const { troupe } = await started(before);
    const calls: Promise<unknown>[] = [];
    troupe.events$.subscribe((event) => {
      if (event.type !== 'catalog.changed' || !event.added.includes('new')) return;
      calls.push(troupe.callTool('mcp__a__new'));
    });
    await troupe.reload({ a: fakeRemote(after) });
    expect(calls).toHaveLength(1);
    await expect(calls[0]).resolves.toEqual(text('new {}'));
    expect(before.peer.of('tools/call')).toHaveLength(0);
  });
});
