/** Clients of the HTTP service that take JSON only, and no streams. */
import { describe, expect, it } from 'vitest';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { call, initialize, ofSession } from '../../../support/gateway-http-client.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { endServicesAfterEach, serving } from '../http-service.js';

useLeakCheck();
useCrashWatch();
endServicesAfterEach();

const JSON_ONLY = { accept: 'application/json' };

describe('A client that takes JSON only', () => {
  it.each([
    ['says so', { accept: 'application/json' }],
    ['says so with a quality', { accept: 'text/plain, application/json;q=0.9' }],
    ['takes any application type', { accept: 'application/*' }],
    ['says nothing', { accept: '' }],
  ])('gets the answer as JSON if it %s', async (_, headers) => {
    const { begin, post } = await serving();
    const reply = await post(await begin(), call(1), headers);
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json']);
    expect(await reply.json()).toMatchObject({ id: 1, result: {} });
  });

  it('gets what else belongs to its request on the stream that it opened with GET', async () => {
    const { begin, ask, post } = await serving();
    const id = await begin();
    const listening = await ask({ method: 'GET', headers: ofSession(id) });
    const reply = await post(id, call(1, 'notify', { times: 2 }), JSON_ONLY);
    expect(await reply.json()).toMatchObject({ id: 1, result: {} });
    const messages = [];
    while (messages.length < 2) {
      const event = await listening.event();
      if (event?.message !== undefined) messages.push(event.message);
    }
    expect(messages).toMatchObject([{ params: { n: 1 } }, { params: { n: 2 } }]);
    listening.leave();
  });

  it('gets the answers of a batch as a list', async () => {
    const { begin, post } = await serving();
    const id = await begin({ body: initialize({ protocolVersion: '2025-03-26' }) });
    const head = { ...JSON_ONLY, 'mcp-protocol-version': '2025-03-26' };
    const reply = await post(id, [call(1), 7, call(2)], head);
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject([{ id: null, error: { code: -32_600 } }, { id: 1 }, { id: 2 }]);
  });

  it('gets an answer when its session ends before that of its request', async () => {
    const { begin, ask, post } = await serving();
    const id = await begin();
    const waiting = post(id, call(1, 'ask'), JSON_ONLY);
    const listening = await ask({ method: 'GET', headers: ofSession(id) });
    let event = await listening.event();
    while (event?.message === undefined) event = await listening.event();
    expect(event.message).toMatchObject({ method: 'roots/list' });
    await ask({ method: 'DELETE', headers: ofSession(id) });
    expect((await waiting).status).toBe(404);
  });

  it('is refused if it takes neither JSON nor streams', async () => {
    const { begin, post } = await serving();
    const id = await begin();
    expect((await post(id, call(1), { accept: 'text/html' })).status).toBe(406);
  });
});
