/** How an HTTP service tells load balancers to send clients elsewhere, and what they learn about its servers. */
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../../support/leak-check.js';
import { initialize, ofSession } from '../../../support/gateway-http-client.js';
import { endServicesAfterEach, serving } from '../http-service.js';

useLeakCheck();
endServicesAfterEach();

const TOKEN = 'quay-token-7';
const call = (id: number, method = 'echo'): object => ({ jsonrpc: '2.0', id, method, params: {} });

describe('readiness', () => {
  it('is 503 with the reason, and names servers only to those with the token.', async () => {
    const { ask, gateway } = await serving({ token: TOKEN, requiredServers: ['git'] });
    gateway.state = { status: 'unavailable', missing: [{ server: 'git', state: 'failed' }] };
    const stranger = await ask({ method: 'GET', path: '/readyz', headers: { host: 'pod.example' } });
    expect([stranger.status, await stranger.json()]).toEqual([503, { status: 'unavailable' }]);
    const wrong = await ask({ method: 'GET', path: '/readyz', headers: { authorization: 'Bearer wrong' } });
    expect(await wrong.json()).toEqual({ status: 'unavailable' });
    const friend = await ask({
      method: 'GET',
      path: '/readyz',
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(await friend.json()).toEqual(gateway.state);
    expect(gateway.required).toEqual(['git']);
    const process = await ask({ method: 'GET', path: '/healthz' });
    expect([process.status, await process.json()]).toEqual([200, { status: 'ok' }]);
  });

  it('names no server to a page of the web, even without a token.', async () => {
    const { ask, gateway } = await serving();
    gateway.state = { status: 'unavailable', missing: [{ server: 'git', state: 'failed' }] };
    for (const headers of [{ host: 'rebound.example' }, { origin: 'https://evil.example' }]) {
      const reply = await ask({ method: 'GET', path: '/readyz', headers });
      expect(await reply.json()).toEqual({ status: 'unavailable' });
    }
  });
});

describe('drain', () => {
  it('refuses new sessions, and lets open ones go on until close.', async () => {
    const { ask, begin, post, service, gateway } = await serving();
    const id = await begin();
    const held = await post(id, call(1, 'hold'));
    service.drain();
    service.drain();
    const probe = await ask({ method: 'GET', path: '/readyz' });
    expect([probe.status, await probe.json()]).toEqual([503, { status: 'draining' }]);
    const refused = await ask({ body: initialize() });
    expect([refused.status, refused.headers['retry-after'], refused.headers.connection]).toEqual([
      503,
      '1',
      'close',
    ]);
    const echoed = await post(id, call(2));
    expect([echoed.headers.connection, (await echoed.messages())[0]]).toMatchObject(['close', { id: 2 }]);
    expect(await held.event()).toBeDefined();
    const closing = service.close();
    gateway.last.release(1);
    expect(await held.messages()).toMatchObject([{ id: 1, result: { released: true } }]);
    await closing;
    await expect(ask({ headers: ofSession(id), body: call(3) })).rejects.toThrow('ECONNREFUSED');
  });
});
