/** Tokens: one refresh, one repetition, and otherwise a clear failure. */
import { describe, expect, it } from 'vitest';
import { classify } from '../../../../machines/policy/failure.js';
import type { HttpAuth } from '../../../../src/transports/http/session-requests.js';
import { createSseTransport } from '../../../../src/transports/http/sse.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useHttpFixture } from '../../../support/http-fixture.js';
import { failureOf, INITIALIZE, open, request } from '../../../support/session-record.js';
import { mcp, refuse, type Handler } from '../../../support/http-server.js';

useLeakCheck();
const connect = useHttpFixture();

const CHALLENGE =
  'Bearer error="invalid_token", resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource"';
const unauthorized = refuse(401, 'token expired', { 'www-authenticate': CHALLENGE });

/** Admits requests with the token that is valid now. */
function guarded(valid: () => string): Handler {
  const inside = mcp({ sessionId: 's-1' });
  return (seen, res) =>
    (seen.headers.authorization === `Bearer ${valid()}` ? inside : unauthorized)(seen, res);
}

/** A store whose tokens are token-1, token-2, and so on. */
function store(
  options: { refreshes?: boolean; hold?: Promise<void> } = {},
): HttpAuth & { refreshed: unknown[]; n: number } {
  const kept = {
    n: 1,
    refreshed: [] as unknown[],
    token: () => Promise.resolve(`token-${kept.n}`),
    refresh: async (refused: unknown) => {
      kept.refreshed.push(refused);
      await options.hold;
      if (options.refreshes !== false) kept.n += 1;
      return options.refreshes !== false;
    },
  };
  return kept;
}

describe('Authorization', () => {
  it('sends the token with every request, instead of a configured header', async () => {
    const { server, transport } = await connect(
      guarded(() => 'token-1'),
      {
        auth: store(),
        headers: { Authorization: 'Bearer fixed' },
      },
    );
    await open(transport);
    await transport.send(request(1, 'tools/list'));
    expect(new Set(server.seen.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer token-1']),
    );
  });

  it('refreshes once after a 401 and repeats the request once', async () => {
    const auth = store();
    const { server, transport, recorded } = await connect(
      guarded(() => 'token-2'),
      { auth },
    );
    await open(transport);
    expect(recorded.messages).toHaveLength(1);
    expect(auth.refreshed).toEqual([{ status: 401, wwwAuthenticate: CHALLENGE }]);
    expect(server.seen.filter(({ rpc }) => rpc.method === 'initialize')).toHaveLength(2);
  });

  it('shares one refresh among requests that are refused together, and repeats each', async () => {
    let valid = 'token-1';
    const auth = store();
    const { transport, recorded } = await connect(
      guarded(() => valid),
      { auth },
    );
    await open(transport);
    valid = 'token-2';
    await Promise.all([1, 2, 3, 4, 5].map((id) => transport.send(request(id, 'tools/call'))));
    expect(recorded.messages).toHaveLength(6);
    expect(auth.refreshed).toHaveLength(1);
  });

  it('does not refresh again for a request that was refused with the former token', async () => {
    const held: (() => void)[] = [];
    let valid = 'token-1';
    const auth = store();
    const { server, transport, recorded } = await connect(
      (seen, res) => {
        if (seen.rpc.id === 2 && held.length === 0) held.push(() => unauthorized(seen, res));
        else guarded(() => valid)(seen, res);
      },
      { auth },
    );
    await open(transport);
    valid = 'token-2';
    const late = transport.send(request(2, 'tools/call'));
    await server.arrived(({ rpc }) => rpc.id === 2);
    await transport.send(request(1, 'tools/call'));
    held[0]?.();
    await late;
    expect(recorded.messages).toHaveLength(3);
    expect(auth.refreshed).toHaveLength(1);
  });

  it('fails with the challenge of the server if the new token is refused, too', async () => {
    const auth = store();
    const { server, transport } = await connect(unauthorized, { auth });
    await transport.start();
    const { failure, written } = await failureOf(transport.send(INITIALIZE));
    expect(failure).toMatchObject({
      code: 'auth-required',
      http: { status: 401, wwwAuthenticate: CHALLENGE },
    });
    expect(classify({ ...failure, phase: 'handshake', at: 0 })).toBe('authorize');
    expect(written).toBe(false);
    expect(auth.refreshed).toHaveLength(1);
    expect(server.seen).toHaveLength(2);
  });

  it('fails without a repetition if there is nothing to refresh', async () => {
    const { server, transport } = await connect(unauthorized, { auth: store({ refreshes: false }) });
    await transport.start();
    const { failure } = await failureOf(transport.send(INITIALIZE));
    expect(failure.code).toBe('auth-required');
    expect(failure.canSignIn).toBeUndefined();
    expect(server.seen).toHaveLength(1);
  });

  it('fails at once with a fixed header, whose value is never shown', async () => {
    const { server, transport } = await connect(refuse(401, 'no: Bearer harbour-key-1'), {
      headers: { Authorization: 'Bearer harbour-key-1' },
    });
    await transport.start();
    const { failure } = await failureOf(transport.send(INITIALIZE));
    expect(failure).toMatchObject({ code: 'auth-required', canSignIn: false });
    expect(JSON.stringify(failure)).not.toContain('harbour-key-1');
    expect(server.seen).toHaveLength(1);
  });

  it('ends a session whose credentials are refused later, so that nothing more is sent with them', async () => {
    let valid = 'token-1';
    const { server, transport, recorded } = await connect(
      guarded(() => valid),
      { headers: { Authorization: 'Bearer token-1' } },
    );
    await open(transport);
    valid = 'token-2';
    const error = await failureOf(transport.send(request(1, 'tools/call')));
    await recorded.closed;
    expect(error).toMatchObject({
      written: false,
      failure: { code: 'auth-required', http: { status: 401 } },
    });
    expect(transport.ended).toEqual(error.failure);
    expect(classify({ ...transport.ended!, phase: 'session', at: 0 })).toBe('authorize');
    const sent = server.seen.length;
    await failureOf(transport.send(request(2, 'tools/call')));
    expect(server.seen).toHaveLength(sent);
  });

  it('masks a token that the server repeats', async () => {
    const { transport } = await connect(refuse(403, 'token-1 may not do that'), { auth: store() });
    await transport.start();
    expect((await failureOf(transport.send(INITIALIZE))).message).not.toContain('token-1');
  });

  it('turns an error of the token store into a failure', async () => {
    const auth: HttpAuth = {
      token: () => Promise.reject(new Error('keychain locked')),
      refresh: () => Promise.resolve(false),
    };
    const { server, transport } = await connect(mcp(), { auth });
    await transport.start();
    const error = await failureOf(transport.send(INITIALIZE));
    expect(error.failure.code).toBe('auth-required');
    expect(error.cause).toMatchObject({ message: 'keychain locked' });
    expect(server.seen).toEqual([]);
  });

  it('does not block close() with a refresh that never ends', async () => {
    const auth = store({ hold: new Promise(() => {}) });
    const { transport, server } = await connect(unauthorized, { auth });
    await transport.start();
    const stuck = failureOf(transport.send(INITIALIZE));
    await server.arrived(() => true);
    await transport.close();
    expect((await stuck).failure.code).toBe('connection-lost');
  });

  it('works in the same way for the stream of the older transport', async () => {
    const auth = store({ refreshes: false });
    const { transport, recorded } = await connect(unauthorized, { auth, create: createSseTransport });
    const { failure } = await failureOf(transport.start());
    expect(failure).toMatchObject({ code: 'auth-required', http: { wwwAuthenticate: CHALLENGE } });
    expect(auth.refreshed).toHaveLength(1);
    expect(recorded.closes).toBe(0);
  });
});
