/** What a sign-in is about, tokens and the client's own secret, is told nowhere, whoever repeats it. */
import fc from 'fast-check';
import { filter, firstValueFrom, timeout } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { AuthOptions } from '../../../src/auth/auth-options.js';
import { createMemoryTokenStore, type StoredSignIn } from '../../../src/auth/stores/token-store.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import type { ServerStatus } from '../../../src/lifecycle/status.js';
import type { Handler, TestServer } from '../../support/http-server.js';
import { startHttpParrot, type Manner } from './anywhere-http-parrot.js';
import { asciiSecret, type Secret } from './anywhere-secret.js';
import { toldByTroupe, type Told } from './anywhere-told.js';

useLeakCheck();
useCrashWatch();

const RUNS = 4;
const CODE: Secret = { text: '"code"/c0dec0dec0de', core: 'c0dec0dec0de' };

const isAskedOrOver = ([row]: readonly ServerStatus[]): boolean =>
  row?.authUrl !== null || ['ready', 'failed'].includes(row.state);

interface Given {
  /** What a client that registers itself gets, beside a number. Default: nobody can register. */
  readonly registration?: object;
  /** What the first request for tokens brings; until then the server refuses those it knows. Default: all are refused. */
  readonly tokens?: object;
}

/** Refuses requests for tokens with all it was ever told. */
function repeatsForms(origin: string, otherwise: Handler, { registration, tokens }: Given): Handler {
  const heard: string[] = [];
  let isGiven = tokens === undefined;
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
    const authorization = seen.headers.authorization ?? '';
    const pair = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
    heard.push(authorization, authorization.replace('Bearer ', ''), pair);
    if (pathname === '/mcp' && !isGiven) return json(401, {});
    if (pathname === '/mcp') {
      // Everything that was ever heard, as a careless log would be shown.
      const memory = heard.filter((text) => /^[ -~]+$/.test(text));
      return otherwise({ ...seen, headers: { ...seen.headers, 'x-memory': memory.join(' ') } }, res);
    }
    if (pathname === '/register' && registration !== undefined) {
      return json(201, { ...(JSON.parse(seen.body) as object), client_id: 'harbor', ...registration });
    }
    heard.push(...new URLSearchParams(seen.body).values(), seen.body);
    if (pathname === '/token' && !isGiven) {
      isGiven = true;
      return json(200, { token_type: 'Bearer', expires_in: 3_600, ...tokens });
    }
    return json(400, { error: 'invalid_grant', error_description: heard.join(' ') });
  };
}

async function toldOfSignIn(
  manner: Manner,
  stored: StoredSignIn,
  auth: (port: TestServer) => AuthOptions,
  given: Given = {},
): Promise<readonly Told[]> {
  const port = await startHttpParrot(manner);
  port.handle = repeatsForms(port.origin, port.handle, given);
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

  it.each(['polite', 'fails-calls'] as const)(
    'does not get told the tokens that were renewed, or those that came instead (%s)',
    async (manner) => {
      await fc.assert(
        fc.asyncProperty(fc.array(asciiSecret, { minLength: 4, maxLength: 4 }), async (secrets) => {
          const [access, refresh, nextAccess, nextRefresh] = secrets.map(({ text }) => text);
          const tokens = { access_token: access ?? '', refresh_token: refresh ?? '', token_type: 'Bearer' };
          const told = await toldOfSignIn(manner, { tokens, client: { client_id: 'harbor' } }, () => ({}), {
            tokens: { access_token: nextAccess, refresh_token: nextRefresh },
          });
          expectUntold(told, ...secrets);
        }),
        { numRuns: RUNS },
      );
    },
    60_000,
  );

  it.each(['wants-sign-in'] as const)(
    'does not get told what its client got when it registered itself (%s)',
    async (manner) => {
      await fc.assert(
        fc.asyncProperty(asciiSecret, asciiSecret, async (secret, management) => {
          const registration = {
            client_secret: secret.text,
            client_secret_expires_at: 0,
            registration_access_token: management.text,
            registration_client_uri: 'https://authorization.example/harbor',
            token_endpoint_auth_method: 'client_secret_basic',
          };
          const told = await toldOfSignIn(manner, {}, () => ({}), { registration });
          const sent = Buffer.from(`harbor:${secret.text}`).toString('base64');
          expectUntold(told, secret, management, CODE, { text: sent, core: sent });
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
