/** The first sign-in as the user sees it: a real browser, an authorization server that asks, and Troupe's own page. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryTokenStore, type TokenStore } from '../../src/auth/stores/token-store.js';
import { AuthRequiredError } from '../../src/errors.js';
import { useAuthorizationServers, type AuthorizationServer } from '../support/authorization-server.js';
import { bounded, useSigningTroupes, within } from '../support/signing-troupes.js';
import { runTroupe, TroupeProcess } from '../support/troupe-process.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import { click, useBrowser, visit, type Seen } from './browser.js';
import { asking } from './consent-page.js';

useLeakCheck();
useCrashWatch();
const browser = useBrowser();
const servers = useAuthorizationServers();
const troupes = useSigningTroupes();

/** All secrets of the sign-in, from the store and from the authorization server. */
async function secretsOf(store: TokenStore, port: AuthorizationServer): Promise<readonly string[]> {
  const { tokens, client } = (await store.read({ server: port.url, client: '' })) ?? {};
  const verifiers = port.to('POST /token').map(({ body }) => new URLSearchParams(body).get('code_verifier'));
  const secrets = [tokens?.access_token, tokens?.refresh_token, client?.client_secret, ...verifiers];
  return secrets.filter((secret) => typeof secret === 'string');
}

function expectClosingPage(page: Seen): void {
  expect(page.title).toBe('Troupe');
  expect(page.scripts).toBe(0);
  expect(page.html).not.toMatch(/<script|<iframe|<img|<link|https?:/i);
  expect(page.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-security-policy': expect.stringContaining("default-src 'none'"),
  });
  expect(page.address.pathname).toMatch(/^\/signed-in\/\d+$/);
  expect([page.address.search, page.address.hash]).toEqual(['', '']);
}

describe('a user who signs in with a browser', () => {
  it('agrees at the authorization server, sees that the window can be closed, and can make calls', async () => {
    const port = await servers.start(asking());
    const store = createMemoryTokenStore();
    const { troupe, asked, ready } = troupes.start(port.url, { store });
    await asked();
    const window = await browser.window();
    const authUrl = troupe.status[0]?.authUrl ?? '';
    const question = await visit(window, authUrl);
    expect(question).toMatchObject({ status: 200, title: 'Harbor office' });
    expect(question.address.origin).toBe(port.origin);

    const page = await click(window, 'Agree');
    expect(page.status).toBe(200);
    expect(page.text).toBe('You are signed in. You can close this window.');
    expectClosingPage(page);
    await ready();
    expect(troupe.status[0]).toMatchObject({ state: 'ready', authUrl: null, error: null });
    const result = await troupe.callTool('mcp__port__sail', {}, { signal: within() });
    expect(result.content).toEqual([{ type: 'text', text: 'done' }]);

    const secrets = await secretsOf(store, port);
    expect(secrets).toHaveLength(3);
    for (const secret of secrets) expect(`${page.html}\n${page.address.href}`).not.toContain(secret);
    expect(await codeIsSpent(port)).toBe(true);
  });

  it('sees a failure page after refusing, and the connection has the cause and asks again on retry', async () => {
    const port = await servers.start(asking());
    const { troupe, events, asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const window = await browser.window();
    await visit(window, await asked());
    const page = await click(window, 'Refuse');
    expect([page.status, page.text]).toEqual([400, 'The sign-in failed. See the program that requested it.']);
    expectClosingPage(page);
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({
      code: 'auth-required',
      message: expect.stringContaining('access_denied'),
      hint: expect.any(String),
    });
    expect(troupe.status[0]).toMatchObject({ state: 'failed', authUrl: null, error: failure });
    expect(port.to('POST /token')).toEqual([]);

    const again = events.next('connection.authRequired', ({ url }) => url !== undefined);
    const retried = troupe.connection('port')!.retry({ signal: within() });
    await expect(retried).rejects.toThrow(AuthRequiredError);
    await visit(window, (await bounded(again)).url ?? '');
    expect((await click(window, 'Agree')).status).toBe(200);
    await ready();
  });

  it('is rejected with an answer to another sign-in, and can still give the right one', async () => {
    const port = await servers.start(asking());
    const { troupe, asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const authUrl = await asked();
    const wrong = new URL(new URL(authUrl).searchParams.get('redirect_uri') ?? '');
    wrong.searchParams.set('code', 'code-of-an-attacker');
    wrong.searchParams.set('state', '"><script>document.title="taken"</script>');
    const window = await browser.window();
    const page = await visit(window, wrong.href);
    expect([page.status, page.text]).toEqual([400, 'No sign-in is waiting for this answer.']);
    expectClosingPage(page);
    expect(troupe.status[0]).toMatchObject({
      state: 'configuring',
      substate: 'authorizing.signingIn',
      authUrl,
    });
    expect(port.to('POST /token')).toEqual([]);

    await visit(window, authUrl);
    expect((await click(window, 'Agree')).status).toBe(200);
    await ready();
  });

  it('is not asked again after a restart', async () => {
    const port = await servers.start(asking());
    const store = createMemoryTokenStore();
    const first = troupes.start(port.url, { store });
    const window = await browser.window();
    await visit(window, await first.asked());
    await click(window, 'Agree');
    await first.ready();
    await first.troupe.close();
    const second = troupes.start(port.url, { store });
    await second.ready();
    expect(second.events.of('connection.authRequired')).toEqual([]);
    await second.troupe.callTool('mcp__port__sail', {}, { signal: within() });
    expect(port.to('GET /authorize')).toHaveLength(2);
  });

  it('finds nothing at the redirect address once the sign-in is over', async () => {
    const port = await servers.start(asking());
    const { troupe, asked } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const window = await browser.window();
    await visit(window, await asked());
    await troupe.close();
    await expect(click(window, 'Agree')).rejects.toThrow(/ERR_CONNECTION_REFUSED|Nothing was loaded/);
    expect(port.to('POST /token')).toEqual([]);
  });
});

describe('troupe login', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-browser-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('signs in with the browser at the address that it prints, and other commands need no sign-in', async () => {
    const port = await servers.start(asking());
    const options = { cwd: folder, env: { HOME: folder, XDG_DATA_HOME: folder, LOCALAPPDATA: folder } };
    const add = ['--add', `port=${port.url}`];
    const login = TroupeProcess.start(['login', 'port', ...add], options);
    await login.saw(/^http:\S+authorize\S+$/m, 'stderr');
    const window = await browser.window();
    await visit(window, /^http:\S+authorize\S+$/m.exec(login.stderr)?.[0] ?? '');
    const page = await click(window, 'Agree');
    expect(page.text).toBe('You are signed in. You can close this window.');
    expectClosingPage(page);
    expect(await login.finished()).toMatchObject({ code: 0, stdout: 'port: signed in, 1 tool\n' });
    const output = `${login.stdout}${login.stderr}`;
    expect(output).not.toMatch(/access-\d|refresh-\d|code-\d/);

    const called = await runTroupe(['call', 'mcp__port__sail', '{}', ...add], options);
    expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining('done') });
    expect(port.to('GET /authorize')).toHaveLength(2);
  });
});

/** The history of the browser may still have the code, which must no longer be valid. */
async function codeIsSpent(port: AuthorizationServer): Promise<boolean> {
  const used = new URLSearchParams(port.to('POST /token')[0]?.body);
  expect(used.get('code')).toMatch(/./);
  const response = await fetch(`${port.origin}/token`, {
    method: 'POST',
    body: used,
    headers: { connection: 'close' },
    signal: within(),
  });
  const { error } = (await response.json()) as { error?: string };
  return error === 'invalid_grant';
}
