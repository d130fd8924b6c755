/** The contract of the engines, against all three; and the faults of those that are processes. */
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createNatsEngine } from '../../../src/adapters/fleet-nats.js';
import { createRedisEngine } from '../../../src/adapters/fleet-redis.js';
import type { FleetEngine } from '../../../src/fleet/engine.js';
import type { FleetHost, FleetHosts } from '../../../src/fleet/hosts.js';
import { createMemoryEngine } from '../../../src/fleet/memory-engine.js';
import { createFleet } from '../../../src/fleet/stores.js';
import { describeEngine, EngineServer, type EngineKind } from '../../support/engine-servers.js';
import { FLEET_KEY, SAID } from '../../support/fleet-host.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { CONTRACT, eventually, held } from './engine-contract.js';

describe('the memory engine', () => {
  useLeakCheck();
  const engine = createMemoryEngine();

  it.each(Object.entries(CONTRACT))('%s', async (_, holds) => {
    await expect(holds(engine, engine)).resolves.toBeUndefined();
  });

  it('refuses everything once it is closed.', async () => {
    const closed = createMemoryEngine();
    await closed.close();
    expect(closed.isUp).toBe(false);
    await expect(closed.get('x')).rejects.toMatchObject({ code: 'engine-unavailable' });
  });
});

function describeEngines(what: string, suite: (kind: EngineKind) => void): void {
  for (const kind of ['redis', 'nats'] as const) describeEngine(kind, what, () => suite(kind));
}

/** A lease lasts shorter here than in use, so that its loss is soon over. */
const TTL_MS = 300;
const LIMIT_MS = 500;
const ADDRESS = 'http://10.0.0.1:8080';

describeEngines('what the engine promises', (kind) => {
  useLeakCheck();
  let server: EngineServer;
  let a: FleetEngine;
  let b: FleetEngine;
  beforeAll(async () => {
    server = await EngineServer.start(kind);
    const options = { timeoutMs: 5_000 };
    [a, b] = [server.connect(options), server.connect(options)];
  });
  afterAll(async () => {
    await Promise.all([a.close(), b.close()]);
    await server.remove();
  });

  it.each(Object.entries(CONTRACT))('%s', async (_, holds) => {
    await expect(holds(a, b)).resolves.toBeUndefined();
  });

  it('keeps fleets of other namespaces apart.', async () => {
    const other = server.connect({ namespace: 'other', timeoutMs: 5_000 });
    await Promise.all([a.put('apart', 'here'), other.put('apart', 'there')]);
    expect(await a.get('apart')).toMatchObject({ value: 'here' });
    await other.close();
  });
});

describeEngines('a fault', (kind) => {
  useLeakCheck();
  let server: EngineServer;
  let a: FleetEngine;
  let b: FleetEngine;
  const seen = new Map<string, string | undefined>();
  const isUp = (): Promise<true> =>
    eventually(async () => (await Promise.all([a.get('x'), b.get('x')]).catch(() => undefined)) && true);
  const isSeen = (key: string, value: string | undefined): Promise<true> =>
    eventually(() => (seen.get(key) === value ? true : undefined));

  beforeAll(async () => {
    server = await EngineServer.start(kind);
    const options = { timeoutMs: LIMIT_MS };
    [a, b] = [server.connect(options), server.connect(options)];
    await Promise.all([a.put('w/stays', '1'), a.put('w/goes', '1')]);
    await b.watch('w/', (key, value) => seen.set(key, value));
  });
  afterAll(async () => {
    await Promise.all([a.close(), b.close()]);
    await server.remove();
  });

  it('E9: if it is frozen, every operation ends within its limit; then it goes on.', async () => {
    const lease = await held(a, 'frozen', 'a', TTL_MS);
    server.freeze();
    // A signal may take a moment.
    await eventually(() =>
      a.get('x').then(
        () => undefined,
        () => true,
      ),
    );
    const startedAt = performance.now();
    const operations = [
      a.get('x'),
      a.put('x', '1'),
      a.remove('y'),
      a.acquire('x', 'a', TTL_MS),
      a.renew(lease),
    ];
    const more = [
      a.release(lease),
      a.ask('b', 'x', LIMIT_MS),
      a.append('l', ['x']),
      a.read('l', '0'),
      a.take('b', 1, 1),
    ];
    const results = await Promise.allSettled([...operations, ...more]);
    server.thaw();
    expect(performance.now() - startedAt).toBeLessThan(LIMIT_MS * 2);
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 'rejected'));
    await isUp();
    await a.put('w/stays', 'thawed');
    await isSeen('w/stays', 'thawed');
  });

  it('E4: a renewal whose answer was lost does not end the lease, and it can be given back.', async () => {
    const ttlMs = 3_000;
    const lease = await held(a, 'unheard', 'a', ttlMs);
    server.freeze();
    await expect(eventually(() => a.renew(lease).then(() => undefined))).rejects.toMatchObject({
      code: 'engine-unavailable',
    });
    server.thaw();
    expect(await eventually(() => a.renew(lease).catch(() => undefined))).toBe(true);
    expect(await b.acquire('unheard', 'b', ttlMs)).toBeUndefined();
    await a.release(lease);
    expect(await b.acquire('unheard', 'b', ttlMs)).toBeDefined();
  });

  it('E3: if its entries are lost while the link stays, watches hear that and all that follows.', async () => {
    await Promise.all([a.put('w/goes', 'before'), a.put('w/stays', 'before')]);
    await isSeen('w/stays', 'before');
    await server.loseEntries();
    await a.put('w/stays', 'anew');
    await Promise.all([isSeen('w/stays', 'anew'), isSeen('w/goes', undefined)]);
    await b.put('w/goes', '1');
    await expect(isSeen('w/goes', '1')).resolves.toBe(true);
  });

  it('E3, E9: if it is away, operations fail at once; then watches, questions and messages go on.', async () => {
    const heard: string[] = [];
    await b.subscribe('t/', (_, data) => heard.push(data));
    await b.answer('b', async (data) => `${data}!`);
    await a.put('w/stays', 'before');
    await isSeen('w/stays', 'before');
    await server.kill();
    await eventually(() => (a.isUp || b.isUp ? undefined : true));
    const startedAt = performance.now();
    await expect(a.get('x')).rejects.toMatchObject({ code: 'engine-unavailable' });
    await expect(a.ask('b', 'x', LIMIT_MS)).rejects.toMatchObject({ code: 'engine-unavailable' });
    a.publish('t/x', 'dropped');
    expect(performance.now() - startedAt).toBeLessThan(LIMIT_MS);

    await server.start();
    await isUp();
    await a.put('w/stays', 'after');
    await isSeen('w/stays', 'after');
    expect(await eventually(() => a.ask('b', 'x', LIMIT_MS).catch(() => undefined))).toBe('x!');
    await eventually(() => {
      a.publish('t/x', 'heard');
      return heard.length > 0 ? true : undefined;
    });
    expect(new Set(heard)).toEqual(new Set(['heard']));
  });

  it('E3, E5: if it is wiped, watches hear that, hosts say again who they are, and no lease is given until the lost ones are over.', async () => {
    const lost = await held(a, 'only', 'a', TTL_MS);
    await a.append('log', ['lost']);
    const hostsOf = (engine: FleetEngine): FleetHosts =>
      createFleet({ engine, key: FLEET_KEY, address: ADDRESS }).hosts;
    const [one, two] = [hostsOf(a), hostsOf(b)];
    let hosts: ReadonlyMap<string, FleetHost> | undefined;
    onTestFinished(one.watch(() => {}));
    onTestFinished(two.watch((now) => (hosts = now)));
    await one.announce(SAID);
    await eventually(() => (hosts?.has(one.self) ? true : undefined));
    await server.wipe();
    await isUp();
    await isSeen('w/goes', undefined);
    await a.put('w/stays', 'new');
    await isSeen('w/stays', 'new');
    await eventually(() =>
      a.append('log', ['new']).then(
        () => true,
        () => undefined,
      ),
    );
    expect((await b.read('log', '0')).map(({ line }) => line)).toEqual(['new']);
    await eventually(() => (hosts?.get(one.self)?.address === ADDRESS ? true : undefined));
    await one.leave();
    await eventually(() => (hosts?.size === 0 ? true : undefined));

    const next = await held(b, 'only', 'b', TTL_MS);
    expect(performance.now()).toBeGreaterThanOrEqual(lost.deadline);
    expect(next.token > lost.token).toBe(true);
    expect(await a.renew(lost)).toBe(false);
  });

  it('while it is away at the start, a watch waits and an operation does not.', async () => {
    await server.kill();
    const late = server.connect({ timeoutMs: LIMIT_MS });
    const watching = late.watch('w/late', (key, value) => seen.set(key, value));
    await expect(late.get('x')).rejects.toMatchObject({ code: 'engine-unavailable' });
    await server.start();
    await watching;
    await late.put('w/late', 'here');
    await isSeen('w/late', 'here');
    await late.close();
  });

  it('while it never comes, a close ends what waits.', async () => {
    await server.kill();
    const late = server.connect({ timeoutMs: LIMIT_MS });
    const waiting = [late.watch('w/', () => {}), late.get('x'), late.answer('x', async () => '')];
    const settled = Promise.allSettled(waiting);
    await late.close();
    await settled;
    await expect(late.get('x')).rejects.toMatchObject({ code: 'engine-unavailable' });
  });
});

describeEngine('nats', 'reads', () => {
  useLeakCheck();

  it('E2: go to the leader of a stream, never to a copy that may lag behind.', async () => {
    const server = await EngineServer.start('nats');
    const engine = server.connect();
    const other = await connect({ servers: server.host });
    const asked: string[] = [];
    other.subscribe('$JS.API.>', { callback: (_, { subject }) => void asked.push(subject) });
    await other.flush();
    await engine.put('x/y', 'here');
    expect(await engine.get('x/y')).toMatchObject({ value: 'here' });
    const stop = await engine.watch('x/', () => {});
    await engine.take('x', 1, 1);
    await other.flush();
    expect(asked.filter((subject) => subject.includes('.DIRECT.'))).toEqual([]);
    expect(asked).toContain('$JS.API.STREAM.MSG.GET.KV_tests');
    await stop();
    await Promise.all([engine.close(), other.close()]);
    await server.remove();
  });
});

describeEngine('nats', 'entries that were removed', () => {
  useLeakCheck();

  it('leave nothing in the bucket, and the others stay.', async () => {
    const server = await EngineServer.start('nats');
    const engine = createNatsEngine({ address: `nats://${server.host}`, namespace: 'tests', removedMs: 50 });
    const other = await connect({ servers: server.host });
    const { streams } = await jetstreamManager(other);
    const kept = async (): Promise<number> => (await streams.info('KV_tests')).state.messages;
    const heard: (string | undefined)[] = [];
    await engine.watch('r/', (_, value) => heard.push(value));
    const keys = Array.from({ length: 40 }, (_, i) => `r/${i}`);
    for (const key of keys) await engine.put(key, '1');
    for (const key of keys) await engine.remove(key);
    await engine.put('r/0', 'again');
    await engine.put('stays', '1');
    await eventually(async () => ((await kept()) === 2 ? true : undefined));
    expect(heard.filter((value) => value === undefined)).toHaveLength(40);
    expect(await engine.get('r/0')).toMatchObject({ value: 'again' });
    expect(await engine.get('r/1')).toBeUndefined();
    expect(await engine.put('r/1', 'new', { ifVersion: '0' })).toBeDefined();
    await Promise.all([engine.close(), other.close()]);
    await server.remove();
  });
});

describeEngines('a password', (kind) => {
  useLeakCheck();

  it('is used, and appears in no error.', async () => {
    const server = await EngineServer.start(kind, 'right-password');
    const right = server.connect();
    await right.put('x', 'y');
    const wrong = server.connect({ password: 'wrong-password', timeoutMs: LIMIT_MS });
    const error = await wrong.get('x').catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'engine-unavailable',
      message: expect.stringContaining(server.host),
    });
    expect(String((error as Error).stack) + JSON.stringify(error)).not.toContain('password@');
    expect((error as Error).message).not.toContain('wrong-password');
    await Promise.all([right.close(), wrong.close()]);
    await server.remove();
  });
});

describe('the options of an engine', () => {
  it.each([
    () => createRedisEngine({ address: 'redis://:s3cret@' }),
    () => createRedisEngine({ address: 'http://u:s3cret@host' }),
    () => createNatsEngine({ address: '//s3cret' }),
    () => createNatsEngine({ address: 'nats://host', namespace: 's3cret *' }),
    () => createNatsEngine({ address: 'nats://host', replicas: 2 }),
    () => createNatsEngine({ address: 'nats://host', removedMs: 0 }),
    () => createRedisEngine({ address: 'redis://host', timeoutMs: 0 }),
  ])('are refused without showing them: %#', (make) => {
    expect(make).toThrow(TypeError);
    expect(make).not.toThrow('s3cret');
  });
});
