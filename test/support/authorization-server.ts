/**
 * A small MCP server with its own authorization server, on 127.0.0.1: registers clients, checks PKCE, rotates refresh
 * tokens and accepts each only once. A test can replace single answers.
 */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterEach } from 'vitest';
import { answer, mcp, startServer, type Handler, type Seen, type TestServer } from './http-server.js';

export interface Bent {
  /** Fields that replace those of the metadata of the authorization server. */
  metadata?: Record<string, unknown>;
  /** Fields that replace those of the metadata of the protected resource. */
  resource?: Record<string, unknown>;
  /** Answers a request in place of the server if it returns true. */
  instead?: (seen: Seen, res: ServerResponse) => boolean;
  /** Lifetime of an access token in seconds. Default 3,600; if undefined, the response leaves it out. */
  expiresIn?: number | undefined;
  /** Scopes that `tools/call` requires. */
  callScopes?: readonly string[];
  /** Clients that are already registered: secret by id. */
  secrets?: Readonly<Record<string, string>>;
  /** Assertions that it accepts (RFC 7523 section 2.1). */
  assertions?: readonly string[];
  /** Waits before it returns a token. */
  hold?: Promise<void>;
  /** The scope that it grants, whatever was requested. */
  grantedScope?: string;
  /** The server rejects every token. */
  refusesAll?: boolean;
}

interface Grant {
  readonly challenge: string;
  readonly redirect: string;
  readonly client: string;
  readonly scope: string | undefined;
}

export interface AuthorizationServer {
  readonly url: string;
  readonly origin: string;
  readonly bent: Bent;
  readonly server: TestServer;
  /** Requests to a path, such as `POST /token`. */
  to(request: string): readonly Seen[];
  /** Grants of the token requests, in order. */
  grants(): readonly (string | null)[];
  /** Issues tokens as after a sign-in. */
  issue(scope?: string): { access_token: string; refresh_token: string; token_type: string };
  /** Invalidates all access tokens; refresh tokens stay valid. */
  expireAll(): void;
  /** Invalidates all refresh tokens. */
  revokeAll(): void;
}

/** `start` returns a server that is closed after the test. */
export function useAuthorizationServers(): { start(bent?: Bent): Promise<AuthorizationServer> } {
  const open: TestServer[] = [];
  afterEach(async () => {
    for (const server of open.splice(0)) await server.close();
  });
  return {
    start: async (bent = {}) => {
      const made = await startAuthorizationServer(bent);
      open.push(made.server);
      return made;
    },
  };
}

async function startAuthorizationServer(bent: Bent): Promise<AuthorizationServer> {
  const access = new Map<string, string | undefined>();
  const refresh = new Map<string, string | undefined>();
  const codes = new Map<string, Grant>();
  let count = 0;

  const issue = (scope?: string) => {
    count += 1;
    access.set(`access-${count}`, scope);
    refresh.set(`refresh-${count}`, scope);
    return { access_token: `access-${count}`, refresh_token: `refresh-${count}`, token_type: 'Bearer' };
  };
  const give = async (res: ServerResponse, asked: string | undefined): Promise<void> => {
    await bent.hold;
    const scope = bent.grantedScope ?? asked;
    const { expiresIn = 3_600 } = bent;
    const lifetime = 'expiresIn' in bent && bent.expiresIn === undefined ? {} : { expires_in: expiresIn };
    json(res, 200, { ...issue(scope), ...lifetime, ...(scope === undefined ? {} : { scope }) });
  };

  const token = async (seen: Seen, res: ServerResponse): Promise<void> => {
    const form = new URLSearchParams(seen.body);
    const grantType = form.get('grant_type');
    if (grantType === 'refresh_token') {
      const given = form.get('refresh_token') ?? '';
      if (!refresh.has(given)) return json(res, 400, { error: 'invalid_grant', error_description: given });
      const scope = refresh.get(given);
      refresh.delete(given);
      return give(res, scope);
    }
    if (grantType === 'client_credentials') {
      if (!isKnownClient(seen, form)) return json(res, 401, { error: 'invalid_client' });
      return give(res, form.get('scope') ?? undefined);
    }
    if (grantType === 'urn:ietf:params:oauth:grant-type:jwt-bearer') {
      const assertion = form.get('assertion') ?? '';
      if (bent.assertions?.includes(assertion) === true) return give(res, form.get('scope') ?? undefined);
      return json(res, 400, { error: 'invalid_grant', error_description: `Not believed: ${assertion}` });
    }
    const grant = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isGood = grant?.challenge === challenge && grant.redirect === form.get('redirect_uri');
    return isGood ? give(res, grant.scope) : json(res, 400, { error: 'invalid_grant' });
  };

  const isKnownClient = (seen: Seen, form: URLSearchParams): boolean => {
    const [id = '', secret = ''] = Buffer.from(
      (seen.headers.authorization ?? '').replace('Basic ', ''),
      'base64',
    )
      .toString()
      .split(':');
    const isSigned = form.get('client_assertion')?.split('.').length === 3;
    return isSigned || (bent.secrets?.[id] !== undefined && bent.secrets[id] === secret);
  };

  const inside = mcp({
    request: (seen, res) => {
      const scopes = (access.get(bearer(seen)) ?? '').split(' ');
      const missing = (bent.callScopes ?? []).filter((scope) => !scopes.includes(scope));
      if (seen.rpc.method === 'tools/call' && missing.length > 0) {
        const challenge = `Bearer error="insufficient_scope", scope="${bent.callScopes?.join(' ')}"`;
        return void res.writeHead(403, { 'www-authenticate': challenge }).end();
      }
      if (seen.rpc.method === 'tools/list') return answer(res, seen, { tools: [TOOL] });
      return answer(res, seen, { content: [{ type: 'text', text: 'done' }] });
    },
  });

  const handle: Handler = (seen, res) => {
    if (bent.instead?.(seen, res) === true) return;
    const { pathname, searchParams } = new URL(seen.path, origin);
    if (pathname === '/mcp') {
      if (access.has(bearer(seen)) && bent.refusesAll !== true) return inside(seen, res);
      const challenge = `Bearer error="invalid_token", resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      return void res.writeHead(401, { 'www-authenticate': challenge }).end();
    }
    if (pathname === '/.well-known/oauth-protected-resource/mcp') {
      return json(res, 200, { resource: `${origin}/mcp`, authorization_servers: [origin], ...bent.resource });
    }
    if (pathname === '/.well-known/oauth-authorization-server') {
      return json(res, 200, { ...metadataOf(origin), ...bent.metadata });
    }
    if (pathname === '/register') {
      return json(res, 201, { ...(JSON.parse(seen.body) as object), client_id: `client-${(count += 1)}` });
    }
    if (pathname === '/authorize') {
      const code = `code-${(count += 1)}`;
      const redirect = searchParams.get('redirect_uri') ?? '';
      codes.set(code, {
        redirect,
        challenge: searchParams.get('code_challenge') ?? '',
        client: searchParams.get('client_id') ?? '',
        scope: searchParams.get('scope') ?? undefined,
      });
      const back = new URL(redirect);
      back.searchParams.set('code', code);
      back.searchParams.set('state', searchParams.get('state') ?? '');
      return void res.writeHead(302, { location: back.href }).end();
    }
    if (pathname === '/token') return void token(seen, res);
    if (pathname === '/revoke') {
      refresh.delete(new URLSearchParams(seen.body).get('token') ?? '');
      return json(res, 200, {});
    }
    res.writeHead(404).end();
  };

  const server = await startServer(handle);
  const { origin } = server;
  const to = (request: string) =>
    server.seen.filter(({ method, path }) => `${method} ${path.split('?')[0]}` === request);
  return {
    url: server.url,
    origin,
    bent,
    server,
    to,
    grants: () => to('POST /token').map(({ body }) => new URLSearchParams(body).get('grant_type')),
    issue,
    expireAll: () => access.clear(),
    revokeAll: () => {
      access.clear();
      refresh.clear();
    },
  };
}

const TOOL = { name: 'sail', inputSchema: { type: 'object' } };

function metadataOf(origin: string): Record<string, unknown> {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    revocation_endpoint: `${origin}/revoke`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'private_key_jwt'],
  };
}

function bearer({ headers }: Seen): string {
  return (headers.authorization ?? '').replace('Bearer ', '');
}

function json(res: ServerResponse, status: number, body: object): void {
  res
    .writeHead(status, { 'content-type': 'application/json', connection: 'close' })
    .end(JSON.stringify(body));
}
