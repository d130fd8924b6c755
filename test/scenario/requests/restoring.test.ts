/** Subscriptions and the log level outlive the session in which they were requested. */
import { describe, expect, it } from 'vitest';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { library } from '../../support/library-server.js';
import { useOneLibrary } from '../../support/one-server.js';
import { refuse, ScriptedServer, silent } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, whenState, type TestTroupe } from '../../support/test-troupe.js';

type One = TestTroupe & { readonly server: ScriptedServer };

/** The subscriptions and log levels that a session was sent, in order. */
function sentTo(server: ScriptedServer, session: number): string[] {
  return server.received
    .filter((each) => each.session === session)
    .filter(({ method }) => /subscribe$|setLevel$/.test(method))
    .map(({ method, params }) => `${method} ${String(params['uri'] ?? params['level'])}`);
}

async function reconnect({ server, clock, events, troupe }: One, generation = 2): Promise<void> {
  const back = events.when('connection.ready', (event) => event.generation === generation);
  await server.die();
  await passTime(clock, back);
  await passTime(clock, troupe.settled());
}

describe('a subscription', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useOneLibrary({ resources: ['x:1', 'x:2'] });

  it('publishes its updates as resource.updated', async () => {
    const { troupe, server, events } = await begin();
    await troupe.subscribe('x:1');
    server.notify('notifications/resources/updated', { uri: 'x:1' });
    expect(await events.when('resource.updated')).toMatchObject({
      server: 'a',
      generation: 1,
      uri: 'x:1',
    });
  });

  it('is restored in every later session, unless it was ended', async () => {
    const one = await begin();
    const { troupe, server } = one;
    await Promise.all([troupe.subscribe('x:1'), troupe.subscribe('x:2')]);
    await troupe.unsubscribe('x:2');
    expect(sentTo(server, 1)).toEqual([
      'resources/subscribe x:1',
      'resources/subscribe x:2',
      'resources/unsubscribe x:2',
    ]);
    await reconnect(one);
    expect(sentTo(server, 2)).toEqual(['resources/subscribe x:1']);
    await troupe.connection('a')!.unsubscribe('x:1');
    await reconnect(one, 3);
    expect(sentTo(server, 3)).toEqual([]);
  });

  it('that was requested twice is restored once', async () => {
    const one = await begin();
    await one.troupe.subscribe('x:1');
    await one.troupe.subscribe('x:1');
    await reconnect(one);
    expect(sentTo(one.server, 2)).toEqual(['resources/subscribe x:1']);
  });

  it('is not sent again when a list changes', async () => {
    const { troupe, server, clock } = await begin();
    await troupe.subscribe('x:1');
    server.notify('notifications/resources/list_changed');
    await clock.advance(1_000);
    expect(server.of('resources/list')).toHaveLength(2);
    expect(sentTo(server, 1)).toEqual(['resources/subscribe x:1']);
  });

  it('that is requested during a reconnect is sent once the connection is ready', async () => {
    const one = await begin();
    const { troupe, clock, server } = one;
    await server.die();
    await whenState(one, 'a', 'reconnecting');
    await passTime(clock, troupe.subscribe('x:1'));
    expect(sentTo(server, 2)).toEqual(['resources/subscribe x:1']);
    await reconnect(one, 3);
    expect(sentTo(server, 3)).toEqual(['resources/subscribe x:1']);
  });

  it('that the server rejects is not restored', async () => {
    const one = await begin({ resources: ['x:1'], on: { 'resources/subscribe': refuse(-32002, 'no') } });
    await expect(one.troupe.subscribe('x:1')).rejects.toMatchObject({ code: 'JSON_RPC_ERROR' });
    await reconnect(one);
    expect(sentTo(one.server, 2)).toEqual([]);
  });

  it('that is aborted or times out is not restored', async () => {
    const one = await begin({ resources: ['x:1'], on: { 'resources/subscribe': silent } });
    await expect(one.troupe.subscribe('x:1', { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'CALL_ABORTED',
    });
    const late = one.troupe.subscribe('x:1', { timeoutMs: 1_000 });
    late.catch(() => {});
    await one.clock.advance(1_000);
    await expect(late).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
    await reconnect(one);
    expect(sentTo(one.server, 2)).toEqual([]);
  });

  it('that is not answered yet is ended by unsubscribe', async () => {
    const gate = createGate();
    const one = await begin({
      resources: ['x:1'],
      on: { 'resources/subscribe': () => gate.promise.then(() => ({})) },
    });
    const subscribing = one.troupe.subscribe('x:1');
    subscribing.catch(() => {});
    await one.server.whenReceived('resources/subscribe');
    await one.troupe.unsubscribe('x:1');
    gate.open();
    await expect(subscribing).rejects.toMatchObject({ code: 'CALL_ABORTED', server: 'a' });
    await reconnect(one);
    expect(sentTo(one.server, 2)).toEqual([]);
  });

  it('can be ended during a reconnect, without waiting for the connection', async () => {
    const one = await begin();
    const { troupe, server, clock, events } = one;
    await troupe.subscribe('x:1');
    await server.die();
    await whenState(one, 'a', 'reconnecting');
    await troupe.unsubscribe('x:1');
    await passTime(
      clock,
      events.when('connection.ready', ({ generation }) => generation === 2),
    );
    await passTime(clock, troupe.settled());
    expect(sentTo(server, 2)).toEqual([]);
  });

  it('that cannot be restored is a diagnostic, and is tried again in the next session', async () => {
    const one = await begin();
    const { troupe, server, events } = one;
    await Promise.all([troupe.subscribe('x:1'), troupe.subscribe('x:2')]);
    server.script = library({
      resources: ['x:1', 'x:2'],
      on: { 'resources/subscribe': refuse(-32002, 'not today') },
    });
    await reconnect(one);
    expect(events.of('diagnostic')).toMatchObject([
      {
        kind: 'not-restored',
        server: 'a',
        generation: 2,
        message: expect.stringMatching(/x:1\b.*not today/) as unknown,
      },
    ]);
    server.script = library({ resources: ['x:1', 'x:2'] });
    await reconnect(one, 3);
    expect(sentTo(server, 3)).toEqual(['resources/subscribe x:1', 'resources/subscribe x:2']);
  });

  it('at a server that no longer supports subscriptions is a diagnostic', async () => {
    const one = await begin();
    await one.troupe.subscribe('x:1');
    one.server.script = library({ resources: ['x:1'], capabilities: { resources: {} } });
    await reconnect(one);
    expect(one.events.of('diagnostic')).toMatchObject([{ kind: 'not-restored' }]);
    expect(sentTo(one.server, 2)).toEqual([]);
  });

  it('whose restoration is not answered blocks nothing', async () => {
    const one = await begin();
    const { troupe, server, clock, events } = one;
    await troupe.subscribe('x:1');
    server.script = library({ resources: ['x:1', 'x:3'], on: { 'resources/subscribe': silent } });
    await server.die();
    await passTime(
      clock,
      events.when('catalog.changed', ({ added }) => added.includes('x:3')),
    );
    await expect(troupe.callTool('mcp__a__echo')).resolves.toBeDefined();
    await clock.advance(30_000);
    expect(events.of('diagnostic')).toMatchObject([{ kind: 'not-restored', generation: 2 }]);
    expect(server.of('notifications/cancelled')).toHaveLength(1);
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 2 }]);
  });

  it('is restored after a restart and after an idle stop, but is forgotten with its server', async () => {
    const one = await begin(undefined, { idleStopMs: 60_000 });
    const { troupe, server, clock } = one;
    await troupe.subscribe('x:1');
    await passTime(clock, troupe.connection('a')!.restart());
    await passTime(clock, troupe.settled());
    expect(sentTo(server, 2)).toEqual(['resources/subscribe x:1']);
    await clock.advance(120_000);
    expect(troupe.connection('a')?.status.tags).toContain('dormant');
    await passTime(clock, troupe.callTool('mcp__a__echo'));
    await passTime(clock, troupe.settled());
    expect(sentTo(server, 3)).toEqual(['resources/subscribe x:1']);
    await passTime(clock, troupe.remove('a'));
    await passTime(clock, troupe.add('a', inProcess(server)));
    await passTime(clock, troupe.settled());
    expect(sentTo(server, 4)).toEqual([]);
  });

  it('is restored even among a hundred others', async () => {
    const uris = Array.from({ length: 100 }, (_, index) => `x:${index}`);
    const one = await begin({ resources: uris });
    await Promise.all(uris.map((uri) => one.troupe.subscribe(uri)));
    await reconnect(one);
    expect(sentTo(one.server, 2)).toHaveLength(100);
  });
});

describe('a log level', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useOneLibrary({ resources: ['x:1', 'x:2'] });
  const { make } = useTroupes();

  it('is restored in every later session, with its last value', async () => {
    const one = await begin();
    await one.troupe.connection('a')!.setLogLevel('error');
    await one.troupe.connection('a')!.setLogLevel('debug');
    await reconnect(one);
    expect(sentTo(one.server, 2)).toEqual(['logging/setLevel debug']);
  });

  it('that the server rejects is not restored', async () => {
    const one = await begin({ on: { 'logging/setLevel': refuse(-32602, 'no') } });
    await expect(one.troupe.setLogLevel('error', { server: 'a' })).rejects.toMatchObject({
      code: 'JSON_RPC_ERROR',
    });
    await reconnect(one);
    expect(sentTo(one.server, 2)).toEqual([]);
  });

  it('for all servers is set at once if possible, and otherwise when a server is added', async () => {
    const a = new ScriptedServer(library());
    const b = new ScriptedServer(library({ capabilities: { logging: undefined } }));
    const c = new ScriptedServer(library());
    const { troupe, clock, events } = make({ servers: { a: inProcess(a), b: inProcess(b) } });
    await passTime(clock, troupe.settled());
    await troupe.setLogLevel('notice');
    expect([sentTo(a, 1), sentTo(b, 1)]).toEqual([['logging/setLevel notice'], []]);
    await passTime(clock, troupe.add('c', inProcess(c)));
    await passTime(clock, troupe.settled());
    expect(sentTo(c, 1)).toEqual(['logging/setLevel notice']);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it('for all servers starts none and waits for none, and a rejection is a diagnostic', async () => {
    const a = new ScriptedServer(library({ on: { 'logging/setLevel': refuse(-32602, 'too loud') } }));
    const b = new ScriptedServer(library());
    const { troupe, clock, events } = make({ servers: { a: inProcess(a), b: inProcess(b) } });
    await passTime(clock, troupe.settled());
    await passTime(clock, troupe.connection('b')!.stop());
    await troupe.setLogLevel('debug');
    expect(b.sessions).toBe(1);
    expect(await events.when('diagnostic')).toMatchObject({
      kind: 'log-level',
      server: 'a',
      message: expect.stringMatching(/'debug'.*too loud/) as unknown,
    });
  });

  it('for one server is replaced by a later one for all servers, and the other way round', async () => {
    const one = await begin();
    const { troupe, server } = one;
    await troupe.setLogLevel('error', { server: 'a' });
    await troupe.setLogLevel('debug');
    await reconnect(one);
    expect(sentTo(server, 2)).toEqual(['logging/setLevel debug']);
    await troupe.setLogLevel('alert', { server: 'a' });
    await reconnect(one, 3);
    expect(sentTo(server, 3)).toEqual(['logging/setLevel alert']);
  });
});
