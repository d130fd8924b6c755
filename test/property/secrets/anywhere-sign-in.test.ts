/** Tokens and client secrets of a sign-in appear in no output, even if a server repeats them. */
import fc from 'fast-check';
import { filter, firstValueFrom, timeout } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { AuthOptions } from '../../../src/auth/auth-options.js';
import { createMemoryTokenStore, type StoredSignIn } from '../../../src/auth/stores/token-store.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import type { ServerStatus } from '../../../src/lifecycle/status.js';
import type { Handler, TestServer } from '../../support/http-server.js';
import { startHttpParrot, type Behavior } from './anywhere-http-parrot.js';
import { asciiSecret, type Secret } from './anywhere-secret.js';
import { outputOfTroupe, type Output } from './anywhere-output.js';

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

/** Rejects token requests with an error that repeats everything it has received. */
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
      // Everything received so far, as a careless server would log it.
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

async function outputOfSignIn(
  behavior: Behavior,
  stored: StoredSignIn,
  auth: (port: TestServer) => AuthOptions,
  given: Given = {},
): Promise<readonly Output[]> {
  const port = await startHttpParrot(behavior);
  port.handle = repeatsForms(port.origin, port.handle, given);
  try {
    const options = auth(port);
    const client = typeof options.client === 'object' ? options.client.clientId : '';
    const store = createMemoryTokenStore([[{ server: port.url, client }, stored]]);
    return await outputOfTroupe(
      { type: 'http', url: port.url },
      { auth: { store, ...options } },
      async (troupe, recordError) => {
        const connection = troupe.connection('parrot');
        await connection?.callTool('refuse', {}, { timeoutMs: 5_000 }).catch(recordError);
        await firstValueFrom(troupe.status$.pipe(filter(isAskedOrOver), timeout(15_000)));
        await connection?.finishAuth(CODE.text).catch(recordError);
      },
    );
  } finally {
    await port.close();
  }
}

function expectNoLeak(outputs: readonly Output[], ...secrets: readonly Secret[]): void {
  const leaks = outputs.flatMap(({ where, text }) =>
    secrets.flatMap(({ core }) => {
      const at = text.indexOf(core);
      return at === -1 ? [] : [`${where}: …${text.slice(Math.max(0, at - 80), at + 80)}…`];
    }),
  );
  expect([...new Set(leaks)].slice(0, 5)).toEqual([]);
}

describe('a sign-in', () => {
  it.each(['polite', 'fails-calls', 'wants-sign-in', 'forbids'] as const)(
    'keeps its tokens out of all output if a server repeats them (%s)',
    async (behavior) => {
      await fc.assert(
        fc.asyncProperty(asciiSecret, asciiSecret, async (access, refresh) => {
          const tokens = {
            access_token: access.text,
            refresh_token: refresh.text,
            id_token: `${access.text}.id`,
            token_type: 'Bearer',
          };
          const outputs = await outputOfSignIn(
            behavior,
            { tokens, client: { client_id: 'harbor' } },
            () => ({}),
          );
          expectNoLeak(outputs, access, refresh, CODE);
        }),
        { numRuns: RUNS },
      );
    },
    60_000,
  );

  it.each(['polite', 'fails-calls'] as const)(
    'keeps renewed tokens and their replacements out of all output (%s)',
    async (behavior) => {
      await fc.assert(
        fc.asyncProperty(fc.array(asciiSecret, { minLength: 4, maxLength: 4 }), async (secrets) => {
          const [access, refresh, nextAccess, nextRefresh] = secrets.map(({ text }) => text);
          const tokens = { access_token: access ?? '', refresh_token: refresh ?? '', token_type: 'Bearer' };
          const outputs = await outputOfSignIn(
            behavior,
            { tokens, client: { client_id: 'harbor' } },
            () => ({}),
            {
              tokens: { access_token: nextAccess, refresh_token: nextRefresh },
            },
          );
          expectNoLeak(outputs, ...secrets);
        }),
        { numRuns: RUNS },
      );
    },
    60_000,
  );

  it.each(['wants-sign-in'] as const)(
    'keeps the credentials of a client registration out of all output (%s)',
    async (behavior) => {
      await fc.assert(
        fc.asyncProperty(asciiSecret, asciiSecret, async (secret, management) => {
          const registration = {
            client_secret: secret.text,
            client_secret_expires_at: 0,
            registration_access_token: management.text,
            registration_client_uri: 'https://authorization.example/harbor',
            token_endpoint_auth_method: 'client_secret_basic',
          };
          const outputs = await outputOfSignIn(behavior, {}, () => ({}), { registration });
          const sent = Buffer.from(`harbor:${secret.text}`).toString('base64');
          expectNoLeak(outputs, secret, management, CODE, { text: sent, core: sent });
        }),
        { numRuns: RUNS },
      );
    },
    60_000,
  );

  it.each(['authorization-code', 'client-credentials'] as const)(
    'keeps the client secret out of all output if an authorization server repeats it (%s)',
    async (grant) => {
      await fc.assert(
        fc.asyncProperty(asciiSecret, async (secret) => {
          const outputs = await outputOfSignIn('wants-sign-in', {}, ({ origin }) => ({
            client: { clientId: 'harbor', clientSecret: secret.text, issuer: origin, grant },
          }));
          const sent = Buffer.from(`harbor:${secret.text}`).toString('base64');
          expectNoLeak(outputs, secret, CODE, { text: sent, core: sent });
        }),
        { numRuns: RUNS },
      );
    },
    60_000,
  );
});
