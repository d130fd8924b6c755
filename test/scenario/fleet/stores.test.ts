/** The stores that hosts share: in memory, and over a real Redis. Two fleets over one engine stand for two hosts. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ownerOf, type StoredSignIn } from '../../../src/auth/stores/token-store.js';
import type { FleetEngine } from '../../../src/fleet/engine.js';
import { createMemoryEngine } from '../../../src/fleet/memory-engine.js';
import { createFleet, type Fleet } from '../../../src/fleet/stores.js';
import type { TrustRequest } from '../../../src/trust/trust-request.js';
import { useAuthorizationServers, type AuthorizationServer } from '../../support/authorization-server.js';
import { describeEngine, EngineServer } from '../../support/engine-servers.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { losable } from '../../support/losable-engine.js';
import { useSigningTroupes } from '../../support/signing-troupes.js';
import { eventually } from './engine-contract.js';

const KEY = Buffer.alloc(32, 7).toString('base64');
const OTHER_KEY = Buffer.alloc(32, 8).toString('hex');
/** For tests in which a lease ends. */
const SHORT_MS = 600;
/** For tests in which none may end, however busy the machine is. */
const LONG_MS = 2_500;
const never = new AbortController().signal;

interface Rig {
  /** Two hosts; each has its own connection if the engine is a process. */
  readonly engines: readonly [FleetEngine, FleetEngine];
  readonly server: EngineServer | undefined;
  close(): Promise<void>;
}

const rigs: Readonly<Record<string, () => Promise<Rig>>> = {
  memory: async () => {
    const engine = createMemoryEngine();
    return { engines: [engine, engine], server: undefined, close: () => engine.close() };
  },
  redis: async () => {
    const server = await EngineServer.start('redis');
    const engines = [server.connect({ timeoutMs: 5_000 }), server.connect({ timeoutMs: 5_000 })] as const;
    return {
      engines,
      server,
      close: async () => {
        await Promise.all(engines.map((engine) => engine.close()));
        await server.remove();
      },
    };
  },
};

const fleetOf = (engine: FleetEngine, key: string | readonly string[] = KEY, leaseMs = SHORT_MS): Fleet =>
  createFleet({ engine, key, leaseMs });

const request = (digit: string): TrustRequest =>
  ({ hash: digit.repeat(64), server: `s${digit}`, source: '/p/.mcp.json', folder: '/p' }) as TrustRequest;

const tool = (name: string, description = '') => ({
  name,
  description,
  inputSchema: { type: 'object' as const },
});
const reviewed = { hash: 'a'.repeat(64), server: 'port' } as never;

describe('memory: hosts that share it', () => hostsShare('memory'));
describeEngine('redis', 'hosts that share it', () => hostsShare('redis'));

function hostsShare(kind: string): void {
  useLeakCheck();
  const servers = useAuthorizationServers();
  const troupes = useSigningTroupes();
  let rig: Rig;
  let one: Fleet;
  let two: Fleet;
  beforeAll(async () => {
    rig = (await rigs[kind]?.()) as Rig;
    [one, two] = [fleetOf(rig.engines[0]), fleetOf(rig.engines[1])];
    // The first lease of a new engine is given after one full duration.
    await one.tokens.exclusively?.(ownerOf('http://first/', undefined), async () => {}, never);
  });
  afterAll(() => rig.close());

  it('give up the wait for a turn when its signal aborts; the work of the other goes on.', async () => {
    const owner = ownerOf('http://waits/', undefined);
    const abort = new AbortController();
    await one.tokens.exclusively?.(
      owner,
      async () => {
        const waiting = two.tokens.exclusively?.(owner, async () => {}, abort.signal);
        abort.abort(new Error('enough'));
        await expect(waiting).rejects.toThrow('enough');
      },
      never,
    );
  });

  it('keep the lease for as long as the work takes.', async () => {
    const owner = ownerOf('http://long/', undefined);
    let isDone = false;
    let begin = (): void => {};
    const hasBegun = new Promise<void>((resolve) => (begin = resolve));
    const long = one.tokens.exclusively?.(
      owner,
      async () => {
        begin();
        // Longer than a lease of a real engine lasts.
        await new Promise((resolve) => setTimeout(resolve, SHORT_MS * 1.5));
        isDone = true;
      },
      never,
    );
    await hasBegun;
    await two.tokens.exclusively?.(owner, async () => expect(isDone).toBe(true), never);
    await long;
  });

  it('share approvals, lose none of two at once, and hear of them.', async () => {
    let changes = 0;
    const stop = two.trust.watch?.(() => (changes += 1));
    await Promise.all(
      ['1', '2', '3', '4'].map(async (digit, i) => (i % 2 ? one : two).trust.trust(request(digit))),
    );
    expect((await one.trust.list()).map(({ server }) => server).toSorted()).toEqual(['s1', 's2', 's3', 's4']);
    expect(await two.trust.has(request('3').hash)).toBe(true);
    await one.trust.revoke(request('3').hash);
    expect([await two.trust.has(request('3').hash), await two.trust.has(request('4').hash)]).toEqual([
      false,
      true,
    ]);
    await eventually(() => (changes > 0 ? true : undefined));
    stop?.();
  });

  it('have one baseline of accepted tools, and hear what is accepted.', async () => {
    const lists = await Promise.all([
      one.reviews.baseline(reviewed, [tool('a')]),
      two.reviews.baseline(reviewed, [tool('b')]),
    ]);
    expect(lists[0]).toEqual(lists[1]);
    const heard: string[] = [];
    const stop = two.reviews.watch?.((hash) => heard.push(hash));
    await eventually(() => (heard.length > 0 ? true : undefined));
    await Promise.all([one.reviews.accept(reviewed, [tool('c')]), two.reviews.accept(reviewed, [tool('d')])]);
    await eventually(() => (heard.length > 1 ? true : undefined));
    const names = (await two.reviews.baseline(reviewed, [])).map(({ name }) => name);
    expect(names.slice(1).toSorted()).toEqual(['c', 'd']);
    stop?.();
  });

  it('share lists of servers.', async () => {
    const key = 'b'.repeat(64);
    const catalog = { savedAt: 5, tools: [tool('a')] };
    expect(await two.catalogs.get(key)).toBeUndefined();
    await one.catalogs.put(key, catalog);
    expect(await two.catalogs.get(key)).toEqual(catalog);
    await two.catalogs.delete(key);
    expect(await one.catalogs.get(key)).toBeUndefined();
    const long = { savedAt: 5, tools: [tool('a', 'x'.repeat(1_000_000))] };
    await expect(one.catalogs.put(key, long)).rejects.toMatchObject({ code: 'text-too-long' });
  });

  it('store nothing that can be read, moved or changed without the key.', async () => {
    const [engine] = rig.engines;
    const key = 'c'.repeat(64);
    await one.catalogs.put(key, { savedAt: 1, tools: [tool('tell-tale')] });
    const sealed = (await engine.get(`catalog/${key}`))?.value ?? '';
    expect(Buffer.from(sealed.split('.')[2] ?? '', 'base64url').toString('latin1') + sealed).not.toContain(
      'tell-tale',
    );

    const moved = 'd'.repeat(64);
    await engine.put(`catalog/${moved}`, sealed);
    await expect(one.catalogs.get(moved)).rejects.toMatchObject({ code: 'entry-broken' });
    for (const broken of [
      `${sealed.slice(0, -8)}AAAAAAAA`,
      sealed.slice(0, 40),
      sealed.replace('1.', '2.'),
      '',
      'x',
    ]) {
      await engine.put(`catalog/${moved}`, broken);
      await expect(one.catalogs.get(moved)).rejects.toMatchObject({ code: 'entry-broken' });
    }
  });

  it('replace a key in two steps; a host without the key says so, and shows none.', async () => {
    const [engine] = rig.engines;
    const key = 'e'.repeat(64);
    const both = fleetOf(engine, [OTHER_KEY, KEY]);
    await one.catalogs.put(key, { savedAt: 1, tools: [] });
    expect(await both.catalogs.get(key)).toMatchObject({ savedAt: 1 });
    await both.catalogs.put(key, { savedAt: 2, tools: [] });
    expect(await fleetOf(engine, OTHER_KEY).catalogs.get(key)).toMatchObject({ savedAt: 2 });
    const error = (await one.catalogs.get(key).catch((reason: unknown) => reason)) as Error;
    expect(error).toMatchObject({ code: 'wrong-key' });
    for (const text of [KEY, OTHER_KEY]) expect(`${error.message}${error.stack}`).not.toContain(text);
  });

  it('use what they know while the engine is gone: nothing is renewed, nothing is approved.', async () => {
    const owner = ownerOf('http://gone/', undefined);
    const link = losable(rig.engines[0]);
    const host = fleetOf(link.engine);
    const signIn: StoredSignIn = { tokens: { access_token: 'known', token_type: 'Bearer' } };
    await two.tokens.write(owner, signIn);
    await host.trust.trust(request('5'));
    const known = async () => [
      await host.tokens.read(owner),
      await host.trust.has(request('5').hash),
      await host.reviews.baseline(reviewed, []),
    ];
    const before = await known();
    link.reach = 'away';
    expect(await known()).toEqual(before);
    await expect(host.trust.trust(request('6'))).rejects.toMatchObject({ code: 'engine-unavailable' });
    let hasRun = false;
    const turn = host.tokens.exclusively?.(owner, async () => (hasRun = true), never);
    await expect(turn).rejects.toMatchObject({ failure: { code: 'connection-lost' } });
    expect(hasRun).toBe(false);
    await expect(host.tokens.read(ownerOf('http://unknown/', undefined))).rejects.toMatchObject({
      failure: { code: 'connection-lost' },
    });
    link.reach = 'up';
    await host.trust.revoke(request('5').hash);
    expect(await host.trust.has(request('5').hash)).toBe(false);
  });

  it('do not replace what another host has renewed after the turn was lost.', async () => {
    const owner = ownerOf('http://late/', undefined);
    const token = (text: string): StoredSignIn => ({
      tokens: { access_token: text, token_type: 'Bearer' },
    });
    const link = losable(rig.engines[0]);
    const host = fleetOf(link.engine);
    await host.tokens.exclusively?.(
      owner,
      async () => {
        await host.tokens.read(owner);
        link.reach = 'away';
        // The lease cannot be renewed, so it passes on.
        await two.tokens.exclusively?.(owner, async () => two.tokens.write(owner, token('two')), never);
        link.reach = 'up';
        await expect(host.tokens.write(owner, token('late'))).rejects.toThrow();
      },
      never,
    );
    expect((await one.tokens.read(owner))?.tokens?.access_token).toBe('two');
  });

  it('renew a token that has expired once, and both use the new one.', async () => {
    const [first, second] = rig.engines.map((engine) => fleetOf(engine, KEY, LONG_MS)) as [Fleet, Fleet];
    const port = await servers.start();
    const owner = ownerOf(port.url, undefined);
    await one.tokens.write(owner, signInOf(port, 1));
    const hosts = [first, second].map((fleet) =>
      troupes.start(port.url, { interactive: false }, { fleet, cache: false }),
    );
    await Promise.all(hosts.map(({ ready }) => ready()));
    expect(port.grants()).toEqual(['refresh_token']);
    const [a, b] = await Promise.all([one.tokens.read(owner), two.tokens.read(owner)]);
    expect(a?.tokens?.access_token).toBe('access-2');
    expect(b).toEqual(a);
  });

  it('work on a sign-in one after the other, and hear of its change.', async () => {
    const [first, second] = rig.engines.map((engine) => fleetOf(engine, KEY, LONG_MS)) as [Fleet, Fleet];
    const owner = ownerOf('http://turns/', 'client', 'me');
    let running = 0;
    let most = 0;
    const turns = [first, second, first, second].map(async (fleet) =>
      fleet.tokens.exclusively?.(
        owner,
        async () => {
          most = Math.max(most, (running += 1));
          const { tokens } = (await fleet.tokens.read(owner)) ?? {};
          await fleet.tokens.write(owner, {
            tokens: { access_token: `${tokens?.access_token ?? ''}x`, token_type: 'Bearer' },
          });
          running -= 1;
        },
        never,
      ),
    );
    let changes = 0;
    const stop = two.tokens.watch?.(owner, () => (changes += 1));
    await Promise.all(turns);
    expect(most).toBe(1);
    expect((await two.tokens.read(owner))?.tokens?.access_token).toBe('xxxx');
    await eventually(() => (changes > 0 ? true : undefined));
    stop?.();
    await one.tokens.forget(owner);
    expect(await two.tokens.read(owner)).toBeUndefined();
  });
}

describe('a host whose engine is away', () => {
  useLeakCheck();
  const servers = useAuthorizationServers();
  const troupes = useSigningTroupes();
  const open: FleetEngine[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((engine) => engine.close()));
  });

  it('is not signed out: it waits, and signs in when the engine is back.', async () => {
    const port = await servers.start();
    const engine = createMemoryEngine();
    open.push(engine);
    const link = losable(engine);
    const fleet = fleetOf(link.engine);
    await fleet.tokens.write(ownerOf(port.url, undefined), signInOf(port, 1));
    const late = fleetOf(link.engine);
    link.reach = 'away';
    const policy = { backoff: { kind: 'fixed' as const, delaysMs: [20] }, maxAttempts: 100 };
    const { ready, events } = troupes.start(
      port.url,
      { interactive: false },
      { fleet: late, cache: false, policy },
    );
    await events.when('connection.retrying', ({ failure }) => failure?.code === 'connection-lost');
    link.reach = 'up';
    await ready();
    expect(port.grants()).toEqual(['refresh_token']);
  });
});

describe('the options of a fleet', () => {
  const engine = createMemoryEngine();

  const unfit = [undefined, '', 'short', [], [KEY, 'short-s3cret'], 'z'.repeat(64)];
  it.each(unfit.map((key) => ({ key })))('refuse the key %#, without showing it.', ({ key }) => {
    const make = (): Fleet => createFleet({ engine, key });
    expect(make).toThrow(/TROUPE_FLEET_KEY/);
    expect(make).not.toThrow('s3cret');
  });
});

/** A sign-in that has expired; the server accepts its refresh token once. */
function signInOf(port: AuthorizationServer, expiresAt: number): StoredSignIn {
  const client = { client_id: 'client', redirect_uris: [] };
  return { tokens: { ...port.issue(), issuer: port.origin }, expiresAt, client };
}
