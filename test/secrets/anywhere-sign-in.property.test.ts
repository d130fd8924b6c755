/** What a sign-in is about, tokens and the client's own secret, is told nowhere, whoever repeats it. */
import fc from 'fast-check';
import { filter, firstValueFrom, timeout } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { AuthOptions } from '../../src/auth/auth-options.js';
import { createMemoryTokenStore, type StoredSignIn } from '../../src/auth/token-store.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import type { ServerStatus } from '../../src/lifecycle/status.js';
import type { Handler, TestServer } from '../transports/http/test-server.js';
import { startHttpParrot, type Manner } from './anywhere-http-parrot.js';
import { asciiSecret, type Secret } from './anywhere-secret.js';
import { toldByTroupe, type Told } from './anywhere-told.js';

useLeakCheck();
useCrashWatch();

const RUNS = 4;
const CODE: Secret = { text: '"code"/c0dec0dec0de', core: 'c0dec0dec0de' };

const isAskedOrOver = ([row]: readonly ServerStatus[]): boolean =>
  row?.authUrl !== null || ['ready', 'failed'].includes(row.state);

/** Refuses every request for tokens with all it was told; registers nobody. */
function repeatsForms(origin: string, otherwise: Handler): Handler {
  return (seen, res) => {
    const json = (status: number, body: object): void =>
      void res
        .writeHead(status, { 'content-type': 'application/json', connection: 'close' })
        .end(JSON.stringify(body));
    const { pathname } = new URL(seen.path, origin);
    if (pathname.startsWith('/.well-known/oauth-protected-resource'))
      return json(200, { resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (pathname.startsWith('/.well-known/'))
      return json(200, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic', 'none'],
      });
    if (pathname === '/mcp') return otherwise(seen, res);
    const authorization = seen.headers.authorization ?? '';
    const pair = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
    const said = [pair, authorization, ...new URLSearchParams(seen.body).values(), seen.body];
    return json(400, { error: 'invalid_grant', error_description: said.join(' ') });
  };
}

async function toldOfSignIn(
  manner: Manner,
  stored: StoredSignIn,
  auth: (port: TestServer) => AuthOptions,
): Promise<readonly Told[]> {
  const port = await startHttpParrot(manner);
  port.handle = repeatsForms(port.origin, port.handle);
  try {
    const options = auth(port);
    const client = typeof options.client === 'object' ? options.client.clientId : '';
    const store = createMemoryTokenStore([[{ server: port.url, client }, stored]]);
    return await toldByTroupe(
      { type: 'http', url: port.url },
      { auth: { store, ...options } },
      async (troupe, hear) => {
        const connection = troupe.connection('parrot');
        await connection?.callTool('refuse', {}, { timeoutMs: 5_000 }).catch(hear);
        await firstValueFrom(troupe.status$.pipe(filter(isAskedOrOver), timeout(15_000)));
        await connection?.finishAuth(CODE.text).catch(hear);
      },
    );
  } finally {
    await port.close();
  }
}

function expectUntold(told: readonly Told[], ...secrets: readonly Secret[]): void {
  const leaks = told.flatMap(({ where, text }) =>
    secrets.flatMap(({ core }) => {
      const at = text.indexOf(core);
      return at === -1 ? [] : [`${where}: …${text.slice(Math.max(0, at - 80), at + 80)}…`];
    }),
  );
  expect([...new Set(leaks)].slice(0, 5)).toEqual([]);
}

describe('a sign-in', () => {
  it.each(['polite', 'fails-calls', 'wants-sign-in', 'forbids'] as const)(
    'does not get its tokens told by a server that repeats them (%s)',
    async (manner) => {
      await fc.assert(
        fc.asyncProperty(asciiSecret, asciiSecret, async (access, refresh) => {
          const tokens = {
            access_token: access.text,
            refresh_token: refresh.text,
            id_token: `${access.text}.id`,
            token_type: 'Bearer',
          };
          const told = await toldOfSignIn(manner, { tokens, client: { client_id: 'harbor' } }, () => ({}));
          expectUntold(told, access, refresh, CODE);
        }),
        { numRuns: RUNS },
      );
    },
    60_000,
  );

  it.each(['authorization-code', 'client-credentials'] as const)(
    "does not get its client's secret told by an authorization server that repeats it (%s)",
    async (grant) => {
      await fc.assert(
        fc.asyncProperty(asciiSecret, async (secret) => {
          const told = await toldOfSignIn('wants-sign-in', {}, ({ origin }) => ({
            client: { clientId: 'harbor', clientSecret: secret.text, issuer: origin, grant },
          }));
          const sent = Buffer.from(`harbor:${secret.text}`).toString('base64');
          expectUntold(told, secret, CODE, { text: sent, core: sent });
        }),
        { numRuns: RUNS },
      );
    },
    60_000,
  );
});
