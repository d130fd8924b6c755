/** The redirect address of a sign-in, without the rest of it. */
import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { openLoopback, type Loopback, type LoopbackAnswer } from '../../../src/auth/redirect-listener.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { visit } from '../../support/person.js';
import { bounded } from '../../support/signing-troupes.js';

useLeakCheck();

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await bounded(close());
});

async function start(answer: LoopbackAnswer = { isGood: true, text: 'You are signed in.' }) {
  const clock = createControlledClock();
  const redirects: string[] = [];
  const loopback: Loopback = await openLoopback({
    clock,
    port: 0,
    preferred: 0,
    onRedirect: async (params) => {
      redirects.push(String(params));
      return answer;
    },
  });
  open.push(async () => {
    const closing = loopback.close();
    await clock.advance(2_000);
    await closing;
  });
  return { clock, redirects, loopback };
}

interface Reply {
  readonly status: number | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

/** Sends one request without following redirects. */
function get(url: string, method = 'GET'): Promise<Reply> {
  return bounded(
    new Promise((resolve, reject) => {
      const asking = request(url, { method, agent: false }, (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => (body += part));
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
      });
      asking.on('error', reject);
      asking.end();
    }),
  );
}

const PRIVATE = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };

describe('the redirect address', () => {
  it('redirects to a page whose address contains no part of the answer.', async () => {
    const { redirects, loopback } = await start();
    const reply = await get(`${loopback.url}?code=precious&state=sealed`);
    expect(reply).toMatchObject({ status: 303, body: '', headers: { ...PRIVATE, location: '/signed-in/1' } });
    expect(redirects).toEqual(['code=precious&state=sealed']);
    const page = await visit(`${loopback.url}?code=precious&state=sealed`);
    expect(page).toMatchObject({
      status: 200,
      address: loopback.url.replace('/callback', '/signed-in/2'),
      text: expect.stringContaining('You are signed in.'),
    });
    expect(page.text).not.toMatch(/precious|sealed|<script/);
    const { headers } = await get(page.address);
    expect(headers).toMatchObject({
      ...PRIVATE,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    });
  });

  it('shows a failure on the final page.', async () => {
    const { loopback } = await start({ isGood: false, text: 'It failed.' });
    await expect(visit(`${loopback.url}?error=x`)).resolves.toMatchObject({
      status: 400,
      text: expect.stringContaining('It failed.'),
    });
  });

  it.each([
    ['GET', '/'],
    ['GET', '/signed-in/1'],
    ['GET', '/signed-in/'],
    ['POST', '/callback?code=a'],
    ['HEAD', '/callback?code=a'],
  ])('answers %s %s with an empty 404.', async (method, path) => {
    const { redirects, loopback } = await start();
    const reply = await get(loopback.url.replace('/callback', path), method);
    expect(reply).toMatchObject({ status: 404, body: '', headers: PRIVATE });
    expect(redirects).toEqual([]);
  });

  it('forgets the oldest page if there are too many requests.', async () => {
    const { loopback } = await start();
    for (let count = 0; count < 20; count += 1) await get(`${loopback.url}?state=${count}`);
    const pageOf = (number: number) => get(loopback.url.replace('/callback', `/signed-in/${number}`));
    expect([(await pageOf(4)).status, (await pageOf(5)).status, (await pageOf(20)).status]).toEqual([
      404, 200, 200,
    ]);
  });

  it('closes at once if every browser has its page.', async () => {
    const { loopback } = await start();
    await visit(`${loopback.url}?code=a`);
    await bounded(loopback.close());
    await expect(visit(loopback.url)).rejects.toThrow();
    open.splice(0);
  });

  it('waits for a browser that was redirected, and sends it its page.', async () => {
    const { loopback } = await start();
    const { headers } = await get(`${loopback.url}?code=a`);
    const closing = loopback.close();
    const page = await get(new URL(String(headers['location']), loopback.url).href);
    expect(page.status).toBe(200);
    await bounded(closing);
    open.splice(0);
  });

  it('does not wait forever for a browser that does not follow the redirect.', async () => {
    const { clock, loopback } = await start();
    await get(`${loopback.url}?code=a`);
    let isClosed = false;
    const closing = loopback.close().then(() => (isClosed = true));
    await clock.advance(1_999);
    expect(isClosed).toBe(false);
    await clock.advance(1);
    await bounded(closing);
    open.splice(0);
  });
});
