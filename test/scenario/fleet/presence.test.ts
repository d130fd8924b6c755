/** Troupes and gateways as hosts of a fleet, and the page of all hosts: over one memory engine, with real HTTP. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { FleetKey } from '../../../src/fleet/fleet-key.js';
import type { FleetHost } from '../../../src/fleet/hosts.js';
import { INSPECTION_PATH, INSPECTION_PURPOSE } from '../../../src/fleet/inspection-request.js';
import { createMemoryEngine } from '../../../src/fleet/memory-engine.js';
import { requestKeys, SIGNATURE_HEADER, signRequest } from '../../../src/fleet/signed-request.js';
import { createFleet, type Fleet } from '../../../src/fleet/stores.js';
import { createGateway, type Gateway } from '../../../src/gateway/gateway.js';
import { serveHttp, type HttpService } from '../../../src/gateway/http/serve-http.js';
import { inspectFleet } from '../../../src/inspector/inspect-fleet.js';
import { INSPECTION_PATHS, type InspectedHost } from '../../../src/inspector/page-protocol.js';
import { PACKAGE } from '../../../src/package.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { FLEET_KEY } from '../../support/fleet-host.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { PageClient, type WatchedStream } from '../../support/page-client.js';
import { ScriptedServer } from '../../support/scripted-server.js';
import { inProcess } from '../../support/test-troupe.js';
import { eventually } from './engine-contract.js';

const engine = createMemoryEngine();
const makeFleet = (): Fleet => createFleet({ engine, key: FLEET_KEY });
const KEYS = requestKeys(new FleetKey([FLEET_KEY]));

interface Served {
  readonly fleet: Fleet;
  readonly id: string;
  readonly gateway: Gateway;
  readonly service: HttpService;
}

/** A gateway of the fleet with these servers, which is served on a port of this machine. */
async function serve(...names: readonly string[]): Promise<Served> {
  const fleet = makeFleet();
  const servers = Object.fromEntries(names.map((name) => [name, inProcess(new ScriptedServer({}))]));
  const gateway = createGateway({ servers, cache: false, fleet });
  const service = await serveHttp(gateway);
  onTestFinished(async () => {
    await service.close({ gracePeriodMs: 0 });
    await gateway.close();
  });
  await gateway.start();
  return { fleet, id: fleet.hosts.self, gateway, service };
}

function watched(): () => ReadonlyMap<string, FleetHost> {
  let hosts: ReadonlyMap<string, FleetHost> = new Map();
  onTestFinished(makeFleet().hosts.watch((now) => (hosts = now)));
  return () => hosts;
}

interface FleetPage {
  readonly page: PageClient;
  readonly stream: WatchedStream;
  /** As the page shows them now. */
  readonly hosts: () => readonly InspectedHost[];
}

async function openFleetPage(): Promise<FleetPage> {
  const inspection = await inspectFleet({ fleet: makeFleet() });
  onTestFinished(() => inspection.close());
  const page = new PageClient(inspection.url);
  const stream = await page.watch();
  return { page, stream, hosts: () => stream.of('hosts').at(-1)?.hosts ?? [] };
}

/** The request of a viewer, as the host gets it. */
const ask = (origin: string, to: string, keys = KEYS, nonce = crypto.randomUUID()): Promise<Response> => {
  const request = {
    method: 'GET',
    path: INSPECTION_PATH,
    session: '',
    headers: {},
    body: new Uint8Array(),
  };
  const claims = { purpose: INSPECTION_PURPOSE, from: 'viewer', to };
  const signature = signRequest(keys, request, claims, { at: Date.now(), nonce });
  return fetch(new URL(INSPECTION_PATH, origin), { headers: { [SIGNATURE_HEADER]: signature } });
};

describe('a troupe with a fleet', () => {
  useLeakCheck();

  it('is a host of it: with its version, its charts and its counts, until it is closed.', async () => {
    const hosts = watched();
    const fleet = makeFleet();
    const servers = { one: inProcess(new ScriptedServer({})), off: { command: 'none', enabled: false } };
    const troupe = createTroupe({ servers, cache: false, fleet });
    await troupe.start();
    const host = await eventually(() => {
      const found = hosts().get(fleet.hosts.self);
      return found?.counts.ready === 1 ? found : undefined;
    });
    expect(host).toMatchObject({ version: PACKAGE.version, state: 'up', counts: { ready: 1, stopped: 1 } });
    expect(host.charts).toMatch(/^[\da-f]{16}$/);
    expect(host.address).toBeUndefined();
    await troupe.close();
    await eventually(() => (hosts().has(fleet.hosts.self) ? undefined : true));
  });

  it('is one host for each fleet that is created, even if two troupes use it.', async () => {
    const hosts = watched();
    const fleet = makeFleet();
    const troupes = [createTroupe({ cache: false, fleet }), createTroupe({ cache: false, fleet })];
    for (const troupe of troupes) await troupe.start();
    await eventually(() => (hosts().has(fleet.hosts.self) ? true : undefined));
    await troupes[1]?.close();
    expect(await engine.get(`host/${fleet.hosts.self}`)).toBeDefined();
    await troupes[0]?.close();
    expect(await engine.get(`host/${fleet.hosts.self}`)).toBeUndefined();
  });
});

describe('a gateway with a fleet', () => {
  useLeakCheck();

  it('says where it listens, and that it drains; a client of its own connections is no host.', async () => {
    const hosts = watched();
    const { id, service } = await serve('one');
    const address = new URL(service.url).origin;
    await eventually(() => (hosts().get(id)?.address === address ? true : undefined));
    expect([...hosts().keys()]).toEqual([id]);
    service.drain();
    await eventually(() => (hosts().get(id)?.state === 'draining' ? true : undefined));
  });

  it('shows its stream to holders of the key, once for each signature, and to nobody else.', async () => {
    const { id, service } = await serve('one');
    const answer = await ask(service.url, id);
    expect(answer.status).toBe(200);
    const reader = answer.body?.getReader();
    const text = new TextDecoder().decode((await reader?.read())?.value);
    expect(text).toMatch(/^\{"kind":"hello"/);
    await reader?.cancel();

    const nonce = crypto.randomUUID();
    const first = await ask(service.url, id, KEYS, nonce);
    await first.body?.cancel();
    const otherKey = requestKeys(new FleetKey([Buffer.alloc(32, 8).toString('hex')]));
    const refused = await Promise.all([
      ask(service.url, id, KEYS, nonce),
      ask(service.url, 'another'),
      ask(service.url, id, otherKey),
      fetch(new URL(INSPECTION_PATH, service.url)),
    ]);
    expect([first.status, ...refused.map(({ status }) => status)]).toEqual([200, 404, 404, 404, 404]);
    await Promise.all(refused.map(({ body }) => body?.cancel()));
  });
});

describe('the page of a fleet', () => {
  useLeakCheck();

  it('has all hosts with their servers, and a host that left as gone.', async () => {
    const [a, b] = [await serve('one', 'two'), await serve('three')];
    const { stream, hosts } = await openFleetPage();
    const isWhole = (): boolean => hosts().filter(({ servers }) => servers.length > 0).length === 2;
    await stream.until(isWhole, 'both hosts had servers');
    const rows = hosts().map(({ id, state, servers }) => [id, [state, servers.map(({ server }) => server)]]);
    expect(Object.fromEntries(rows)).toEqual({
      [a.id]: ['up', ['one', 'two']],
      [b.id]: ['up', ['three']],
    });
    const servers = hosts().flatMap((host) => host.servers);
    expect(servers.map(({ state, restarts, code }) => [state, restarts, code])).toEqual(
      servers.map(() => ['ready', 0, null]),
    );
    expect(stream.messages[0]).toMatchObject({ kind: 'hello', mode: 'fleet' });
    await b.gateway.close();
    await stream.until(() => hosts().find(({ id }) => id === b.id)?.state === 'gone', 'the host was gone');
  });

  it('asks for summaries while it is open, and no longer.', async () => {
    const viewers = new Map<string, string | undefined>();
    onTestFinished(await engine.watch('viewer/', (key, value) => viewers.set(key, value)));
    await serve('one');
    const { stream, hosts } = await openFleetPage();
    await stream.until(() => hosts().some((host) => host.servers.length === 1), 'the summary came');
    expect([...viewers.values()].filter((value) => value !== undefined)).toHaveLength(1);
    await stream.leave();
    await eventually(() => ([...viewers.values()].every((value) => value === undefined) ? true : undefined));
  });

  it('opens the live stream of one host, without commands, and says why if it cannot.', async () => {
    const { id, gateway } = await serve('one');
    const { page, stream, hosts } = await openFleetPage();
    await stream.until(() => hosts().some((host) => host.id === id), 'the host was there');
    const host = await page.watch(`${INSPECTION_PATHS.stream}?host=${id}`);
    await host.until(() => host.of('status').length > 0, 'the rows came');
    expect(host.messages[0]).toMatchObject({ kind: 'hello', mode: 'live', isReadOnly: true });
    expect(host.of('status')[0]?.rows.map(({ server, allowed }) => [server, allowed])).toEqual([['one', []]]);
    await gateway.troupe.connection('one')?.restart();
    await host.until(() => host.log.includes('connection.restart'), 'the restart was in the log');
    await host.leave();
    const refused = ['nobody', '..%2F'].map((name) => page.ask(`${INSPECTION_PATHS.stream}?host=${name}`));
    expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([404, 400]);
    expect((await page.command('one', 'connection.stop')).status).toBe(404);
  });
});
