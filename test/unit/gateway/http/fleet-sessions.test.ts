/** Sessions over replicas: which host answers, and what a request from host to host may do. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { requestKeys, SIGNATURE_HEADER, signRequest } from '../../../../src/fleet/signed-request.js';
import type { Fleet } from '../../../../src/fleet/stores.js';
import { sealedState } from '../../../../src/gateway/client/request-state.js';
import { eventually } from '../../../scenario/fleet/engine-contract.js';
import { useReplicas, whenHosts, type Replica } from '../../../support/fleet-replicas.js';
import { HandClock } from '../../../support/hand-clock.js';
import { initialize, ofSession, type Reply } from '../../../support/gateway-http-client.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();
const replicas = useReplicas();

const ECHO = { jsonrpc: '2.0', id: 1, method: 'echo', params: { word: 'x' } };
const UNKNOWN_HOST = '0123456789abcdef';
const UUID = '2f1d4e1c-9c3e-4f7a-8b59-0d2c7a4b1e5f';

async function result(reply: Reply): Promise<unknown> {
  const [message] = await reply.messages();
  return message?.['result'];
}

describe('a request of a session', () => {
  it('is answered by the host that the session names, wherever it arrives', async () => {
    const [a, b, c] = (await replicas.make(3)) as [Replica, Replica, Replica];
    const session = await a.begin();
    expect(session.split('.')[0]).toBe(a.id);
    for (const replica of [a, b, c])
      expect(await result(await replica.post(session, ECHO))).toEqual({ echo: { word: 'x' } });
    expect([a, b, c].map(({ gateway }) => gateway.sessions.length)).toEqual([1, 0, 0]);
    expect(a.gateway.last.received.length).toBe(4);
  });

  it('is streamed both ways: notifications, questions, the GET stream with resumption, and DELETE', async () => {
    const [a, b] = (await replicas.make(2)) as [Replica, Replica];
    const session = await a.begin();
    const notified = await b.post(session, { jsonrpc: '2.0', id: 2, method: 'notify', params: { times: 3 } });
    expect((await notified.messages()).map((message) => message['method'] ?? 'answer')).toEqual([
      ...Array.from({ length: 3 }, () => 'notifications/test'),
      'answer',
    ]);
    const asked = await b.post(session, { jsonrpc: '2.0', id: 3, method: 'ask' });
    await asked.event();
    const question = await asked.event();
    const answer = { jsonrpc: '2.0', id: question?.message?.['id'], result: { roots: [] } };
    expect((await b.post(session, answer)).status).toBe(202);
    expect((await asked.messages())[0]).toMatchObject({
      id: 3,
      result: { answer: { result: { roots: [] } } },
    });

    const listening = await b.ask({ method: 'GET', headers: ofSession(session) });
    const primed = await listening.event();
    a.gateway.last.send({ method: 'notifications/test', params: { n: 1 } });
    expect((await listening.event())?.message).toMatchObject({ params: { n: 1 } });
    listening.leave();
    a.gateway.last.send({ method: 'notifications/test', params: { n: 2 } });
    const resumed = await b.ask({
      method: 'GET',
      headers: ofSession(session, { 'last-event-id': primed?.id ?? '' }),
    });
    const events = [await resumed.event(), await resumed.event(), await resumed.event()];
    expect(events.map((event) => event?.message?.['params'])).toEqual([undefined, { n: 1 }, { n: 2 }]);
    expect((await b.ask({ method: 'DELETE', headers: ofSession(session) })).status).toBe(204);
    expect((await b.post(session, ECHO)).status).toBe(404);
  });

  it('has the access of its client checked at both hosts', async () => {
    const oauth = {
      issuers: ['https://issuer.example'],
      verifyToken: async (token: string) =>
        token === 'none' ? undefined : { subject: token, scopes: [] as string[] },
    };
    const [a, b] = (await replicas.make(2, { oauth })) as [Replica, Replica];
    const as = (who: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${who}` });
    const session = await a.begin({ headers: as('ann') });
    expect((await b.post(session, ECHO, as('ann'))).status).toBe(200);
    expect((await b.post(session, ECHO, as('bob'))).status).toBe(404);
    expect((await b.post(session, ECHO, as('none'))).status).toBe(401);
    expect((await b.post(session, ECHO)).status).toBe(401);
    // Signed by a host, for a client that the owner does not accept.
    expect(await signed(a, b.fleet, { session, headers: as('none') })).toBe(401);
    expect(await signed(a, b.fleet, { session, headers: as('bob') })).toBe(404);
  });

  it.each([
    ['no host', 'abc'],
    ['an unknown host', `${UNKNOWN_HOST}.${UUID}`],
    ['a malformed host', `../../x.${UUID}`],
    ['a host with a colon', `evil:80.${UUID}`],
    ['a very long id', `${'a'.repeat(8_000)}.${UUID}`],
    ['an empty host', `.${UUID}`],
  ])('gets 404 if the id names %s', async (_, id) => {
    const [a] = (await replicas.make(1)) as [Replica];
    expect((await a.post(id, ECHO)).status).toBe(404);
  });

  it('gets 404 if nobody listens at the host of the session any more, and 502 if it broke off', async () => {
    const [a, b] = (await replicas.make(2)) as [Replica, Replica];
    const session = await a.begin();
    const held = b.post(session, { jsonrpc: '2.0', id: 5, method: 'hold' }, { accept: 'application/json' });
    await whenReceived(a, 5);
    await a.die();
    const broken = await held;
    expect(broken.status).toBeGreaterThanOrEqual(400);
    expect((await b.post(session, ECHO)).status).toBe(404);
  });

  it('has an unknown outcome if the connection breaks after the request, and is not repeated', async () => {
    const [b] = (await replicas.make(1)) as [Replica];
    let requests = 0;
    const breaking = createServer((request) => {
      requests += 1;
      request.resume();
      request.once('end', () => request.socket.destroy());
    }).listen(0, '127.0.0.1');
    await once(breaking, 'listening');
    const address = `http://127.0.0.1:${(breaking.address() as AddressInfo).port}`;
    await (await stranger(address)).said(b);
    const reply = await b.post(`${UNKNOWN_HOST}.${UUID}`, ECHO);
    expect([reply.status, await reply.json()]).toMatchObject([
      502,
      { error: { data: { code: 'outcome-unknown' } } },
    ]);
    expect(requests).toBe(1);
    breaking.close();
    breaking.closeAllConnections();
    await once(breaking, 'close');
  });

  it('does not follow a redirect, and goes to no address but http and https', async () => {
    const [b] = (await replicas.make(1)) as [Replica];
    let inside = 0;
    const secret = createServer((_, response) => {
      inside += 1;
      response.end('secret');
    }).listen(0, '127.0.0.1');
    const redirecting = createServer((_, response) => {
      const { port } = secret.address() as AddressInfo;
      response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end();
    }).listen(0, '127.0.0.1');
    await Promise.all([once(secret, 'listening'), once(redirecting, 'listening')]);
    const { port } = redirecting.address() as AddressInfo;
    await (await stranger(`http://127.0.0.1:${port}`)).said(b);
    expect((await b.post(`${UNKNOWN_HOST}.${UUID}`, ECHO)).status).toBe(307);
    for (const address of ['file:///etc/passwd', 'unix:/run/x.sock', 'not an address']) {
      await (await stranger(address)).said(b);
      expect((await b.post(`${UNKNOWN_HOST}.${UUID}`, ECHO)).status).toBe(404);
    }
    expect(inside).toBe(0);
    for (const server of [secret, redirecting]) {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    }
  });

  it('is not handed on again: hosts that each believe the other has the session answer 404', async () => {
    const [a, b] = (await replicas.make(2)) as [Replica, Replica];
    // Each host says that it is reached at the other.
    await a.say({ address: `http://127.0.0.1:${b.service.port}` });
    await b.say({ address: `http://127.0.0.1:${a.service.port}` });
    await whenHosts(a.fleet, (hosts) => hosts.get(b.id)?.address?.endsWith(String(a.service.port)) === true);
    for (const id of [a.id, b.id]) expect((await a.post(`${id}.${UUID}`, ECHO)).status).toBe(404);
  });
});

describe('a signed request', () => {
  it('is accepted once, while it is new, unchanged, and for this host', async () => {
    const [a, b] = (await replicas.make(2)) as [Replica, Replica];
    const session = await a.begin();
    const nonce = 'once-only';
    expect(await signed(a, b.fleet, { session, nonce })).toBe(200);
    expect(await signed(a, b.fleet, { session, nonce })).toBe(403);
    expect(await signed(a, b.fleet, { session, at: Date.now() - 31_000 })).toBe(403);
    expect(await signed(a, b.fleet, { session, at: Date.now() + 31_000 })).toBe(403);
    expect(await signed(a, b.fleet, { session, to: b.id })).toBe(421);
    expect(await signed(a, b.fleet, { session, purpose: 'move' })).toBe(403);
    expect(await signed(a, b.fleet, { session, sentBody: JSON.stringify({ ...ECHO, id: 9 }) })).toBe(403);
    expect(await signed(a, b.fleet, { session, sentHeaders: { accept: 'application/json' } })).toBe(403);
    expect(await signed(a, b.fleet, { session, sentSignature: `1;x;pass;a;${a.id};1;n;h;;m` })).toBe(403);
    expect(a.gateway.last.received.length).toBe(2);
  });

  it('is refused with the key of another fleet', async () => {
    const [a, b] = (await replicas.make(2)) as [Replica, Replica];
    const session = await a.begin();
    expect(await signed(a, b.fleet, { session, keyText: Buffer.alloc(32, 9).toString('hex') })).toBe(403);
  });

  it('uses only the headers that were signed', async () => {
    const [a, b] = (await replicas.make(2, { token: 'right' })) as [Replica, Replica];
    const authorization = 'Bearer right';
    const session = await a.begin({ headers: { authorization } });
    expect(await signed(a, b.fleet, { session, headers: { authorization } })).toBe(200);
    expect(await signed(a, b.fleet, { session, sentHeaders: { authorization } })).toBe(401);
  });

  it('cannot be claimed by a client', async () => {
    const [a, b] = (await replicas.make(2)) as [Replica, Replica];
    const session = await a.begin();
    for (const replica of [a, b]) {
      const claim = { [SIGNATURE_HEADER]: 'yes' };
      expect((await replica.post(session, ECHO, claim)).status).toBe(403);
    }
  });

  it('is needed to bring a session', async () => {
    const [a] = (await replicas.make(1)) as [Replica];
    const words = [{ method: 'initialize', params: { protocolVersion: '2025-11-25' } }];
    const place = { path: '/mcp' };
    const body = {
      id: `${UNKNOWN_HOST}.${UUID}`,
      place,
      words,
      positions: { seq: 0, listening: 0, lastStream: 0 },
    };
    expect((await a.ask({ path: '/fleet/sessions', body })).status).toBe(403);
    expect(a.gateway.sessions.length).toBe(0);
  });
});

describe('without a session', () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const list = (params: object): object => ({
    jsonrpc: '2.0',
    id: 7,
    method: 'tools/list',
    params: { _meta: meta, ...params },
  });
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };

  it('any host answers, and a continuation goes to the host that holds the request', async () => {
    const [a, b] = (await replicas.make(2)) as [Replica, Replica];
    const answered: string[] = [];
    for (const [name, { gateway }] of [
      ['a', a],
      ['b', b],
    ] as const)
      gateway.answer = async ({ id }) => {
        answered.push(name);
        return { jsonrpc: '2.0', id, result: {} };
      };
    const requestState = sealedState(a.fleet.key, a.id);
    for (const params of [{}, { requestState }, { requestState: 'of a server' }])
      expect((await b.ask({ body: list(params), headers })).status).toBe(200);
    expect(answered).toEqual(['b', 'a', 'b']);
  });

  it('a continuation of a host that is gone has an unknown outcome, and is not begun again', async () => {
    const [b] = (await replicas.make(1)) as [Replica];
    const requestState = sealedState(b.fleet.key, UNKNOWN_HOST);
    const reply = await b.ask({ body: list({ requestState }), headers });
    expect([reply.status, await reply.json()]).toMatchObject([
      502,
      { id: 7, error: { data: { code: 'outcome-unknown' } } },
    ]);
  });
});

describe('a host that drains', () => {
  it('hands new sessions on, says so to others, and brings its sessions to them', async () => {
    const [a, b, c] = (await replicas.make(3)) as [Replica, Replica, Replica];
    const session = await a.begin();
    await a.post(session, { jsonrpc: '2.0', method: 'notifications/initialized' });
    await result(
      await a.post(session, {
        jsonrpc: '2.0',
        id: 2,
        method: 'logging/setLevel',
        params: { level: 'error' },
      }),
    );
    const listening = await c.ask({ method: 'GET', headers: ofSession(session) });
    const primed = await listening.event();
    a.service.drain();
    expect(await listening.event()).toBeUndefined();
    expect((await a.ask({ method: 'GET', path: '/readyz' })).status).toBe(503);
    const taker = b.gateway.sessions.length === 1 ? b : c;
    expect(taker.gateway.last.received.map((message) => ('method' in message ? message.method : ''))).toEqual(
      ['initialize', 'notifications/initialized', 'logging/setLevel'],
    );
    for (const replica of [a, b, c]) expect(await result(await replica.post(session, ECHO))).toBeDefined();
    expect((await a.begin()).split('.')[0]).not.toBe(a.id);

    await a.service.close();
    await a.fleet.hosts.leave();
    for (const replica of [b, c]) expect(await result(await replica.post(session, ECHO))).toBeDefined();
    const resumed = await b.ask({
      method: 'GET',
      headers: ofSession(session, { 'last-event-id': primed?.id ?? '' }),
    });
    expect(resumed.status).toBe(200);
    const events = [await resumed.event(), await resumed.event()];
    expect(events[1]?.message?.['method']).toBe('notifications/tools/list_changed');
    resumed.leave();
  });

  it('lets requests finish first, while new ones of the session wait', async () => {
    const [a, b] = (await replicas.make(2)) as [Replica, Replica];
    const session = await a.begin();
    const held = a.post(session, { jsonrpc: '2.0', id: 5, method: 'hold' });
    await whenReceived(a, 5);
    a.service.drain();
    const next = b.post(session, ECHO);
    await new Promise((resolve) => void setImmediate(resolve));
    expect(b.gateway.sessions.length).toBe(0);
    a.gateway.last.release(5);
    expect(await result(await held)).toEqual({ released: true });
    expect(await result(await next)).toEqual({ echo: { word: 'x' } });
    expect(b.gateway.last.received.at(-1)).toMatchObject({ method: 'echo' });
  });

  it('keeps its sessions if no other host is up', async () => {
    const [a] = (await replicas.make(1)) as [Replica];
    const session = await a.begin();
    a.service.drain();
    expect((await a.ask({ body: initialize() })).status).toBe(503);
    expect(await result(await a.post(session, ECHO))).toEqual({ echo: { word: 'x' } });
  });
});

describe.each(['away', 'frozen'] as const)('a host whose engine is %s', (reach) => {
  it('answers for its sessions and for the hosts that it knows; others get 503 until the engine is back', async () => {
    const [a, b, c] = (await replicas.make(3)) as [Replica, Replica, Replica];
    const [own, other, dead] = [await b.begin(), await a.begin(), await c.begin()];
    b.link.reach = reach;
    for (const session of [own, other, await b.begin()])
      expect(await result(await b.post(session, ECHO))).toEqual({ echo: { word: 'x' } });
    // Other hosts know it.
    expect(await result(await a.post(own, ECHO))).toEqual({ echo: { word: 'x' } });
    await c.die();
    expect((await b.post(dead, ECHO)).status).toBe(404);

    const [late] = (await replicas.make(1)) as [Replica];
    const unknown = [await late.begin(), `${UNKNOWN_HOST}.${UUID}`];
    for (const session of unknown) {
      const refused = await b.post(session, ECHO);
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    }
    expect(late.gateway.last.received.map((message) => 'method' in message && message.method)).toEqual([
      'initialize',
    ]);
    b.link.reach = 'up';
    expect(await Promise.all(unknown.map(async (session) => (await b.post(session, ECHO)).status))).toEqual([
      200, 404,
    ]);
  });

  it('keeps its sessions if it drains, and can still close', async () => {
    const [a, b] = (await replicas.make(2)) as [Replica, Replica];
    const session = await a.begin();
    a.link.reach = reach;
    a.service.drain();
    expect(await result(await a.post(session, ECHO))).toEqual({ echo: { word: 'x' } });
    expect(b.gateway.sessions.length).toBe(0);
    await a.die();
    expect((await b.post(session, ECHO)).status).toBe(404);
  });
});

it('the entry of moved sessions ends some time after the host that took them was killed', async () => {
  const clock = new HandClock();
  const [a, b, c] = (await replicas.make(3, { clock })) as [Replica, Replica, Replica];
  await a.begin();
  a.service.drain();
  const taker = await eventually(() => [b, c].find(({ gateway }) => gateway.sessions.length > 0));
  const entry = `moved/${a.id}`;
  expect(await replicas.engine.get(entry)).toBeDefined();
  const survivor = taker === b ? c : b;
  let present = 0;
  // It is told after the gateway.
  onTestFinished(survivor.fleet.hosts.watch((now) => (present = now.size)));
  // It writes nothing any more, as if it were killed.
  taker.link.reach = 'away';
  for (const gone of [a, taker]) {
    await gone.die();
    await gone.fleet.hosts.leave();
    await replicas.engine.remove(`host/${gone.id}`);
  }
  await eventually(() => (present === 1 ? true : undefined));
  expect(await replicas.engine.get(entry)).toBeDefined();
  // The survivor might have got a session, too.
  await clock.advance(60_000);
  expect(await replicas.engine.get(entry)).toBeDefined();
  await clock.advance(70_000);
  expect(await replicas.engine.get(entry)).toBeUndefined();
});

interface SignedTerms {
  readonly session: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly nonce?: string;
  readonly at?: number;
  readonly to?: string;
  readonly purpose?: string;
  readonly keyText?: string;
  /** What is sent in place of what was signed. */
  readonly sentBody?: string;
  readonly sentHeaders?: IncomingHttpHeaders;
  readonly sentSignature?: string;
}

/** Sends a signed request to the first host, as the other would. Returns the status. */
async function signed(to: Replica, { hosts, key }: Fleet, terms: SignedTerms): Promise<number> {
  const { FleetKey } = await import('../../../../src/fleet/fleet-key.js');
  const { session, at = Date.now(), nonce = Math.random().toString(), purpose = 'pass', keyText } = terms;
  const body = JSON.stringify(ECHO);
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
    'mcp-session-id': session,
    ...terms.headers,
  };
  const keys = requestKeys(keyText === undefined ? key : new FleetKey([keyText]));
  const request = { method: 'POST', path: '/mcp', session, headers, body: Buffer.from(body) };
  const claims = { purpose, from: hosts.self, to: terms.to ?? to.id };
  const signature = terms.sentSignature ?? signRequest(keys, request, claims, { at, nonce });
  const sent = { ...headers, ...terms.sentHeaders, [SIGNATURE_HEADER]: signature };
  const reply = await to.ask({ body: terms.sentBody ?? body, headers: sent });
  await reply.text();
  return reply.status;
}

/** A host that is only an entry, with that address. */
async function stranger(address: string): Promise<{ said(to: Replica): Promise<void> }> {
  return {
    said: async ({ fleet }) => {
      const entry = {
        id: UNKNOWN_HOST,
        address,
        version: '1',
        charts: '',
        startedAt: 0,
        state: 'up',
        counts: {},
      };
      const name = `host/${UNKNOWN_HOST}`;
      await replicas.engine.put(name, fleet.key.seal(name, JSON.stringify(entry)));
      await whenHosts(fleet, (hosts) => hosts.get(UNKNOWN_HOST)?.address === address);
    },
  };
}

async function whenReceived({ gateway }: Replica, id: number): Promise<void> {
  await eventually(() => (gateway.last.held.includes(id) ? true : undefined));
}
