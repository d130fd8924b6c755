/** How the requests of a session handle their credentials, apart from the tests of authorization. */
import { describe, expect, it } from 'vitest';
import type { HttpAuth, StepUp } from '../../../../src/transports/http/session-requests.js';
import { TransportError } from '../../../../src/failures/transport-error.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useHttpFixture } from '../../../support/http-fixture.js';
import { failureOf, INITIALIZE, open, request } from '../../../support/session-record.js';
import { mcp, refuse, type Handler } from '../../../support/http-server.js';

useLeakCheck();
const connect = useHttpFixture();

const CHALLENGE = 'Bearer error="insufficient_scope", scope="sail"';

/** Admits everybody, but to its tools only the token `wide`. */
function narrow(): Handler {
  const inside = mcp({ sessionId: 's-1' });
  const refused = refuse(403, 'no', { 'www-authenticate': CHALLENGE });
  return (seen, res) => {
    const isWide = seen.headers.authorization === 'Bearer wide';
    (seen.rpc.method === 'tools/call' && !isWide ? refused : inside)(seen, res);
  };
}

function authOf(stepUp: StepUp) {
  const asked: unknown[] = [];
  let token = 'narrow';
  const auth: HttpAuth = {
    token: async () => token,
    refresh: async () => false,
    stepUp: async (challenge, refused) => {
      asked.push([challenge, refused]);
      if (stepUp === 'renewed') token = 'wide';
      return stepUp;
    },
  };
  return { auth, asked };
}

describe('a request that is refused because of a missing scope', () => {
  it('is repeated once with the new token.', async () => {
    const { auth, asked } = authOf('renewed');
    const { server, transport, recorded } = await connect(narrow(), { auth });
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    expect(recorded.messages).toHaveLength(2);
    expect(asked).toEqual([[CHALLENGE, 'narrow']]);
    expect(server.seen.filter(({ rpc }) => rpc.method === 'tools/call')).toHaveLength(2);
  });

  it('fails as not sent if it needs a person, and ends the session.', async () => {
    const { auth } = authOf('sign-in');
    const { transport, recorded } = await connect(narrow(), { auth });
    await open(transport);
    const error = await failureOf(transport.send(request(1, 'tools/call')));
    await recorded.closed;
    expect(error).toMatchObject({
      written: false,
      failure: { code: 'auth-required', http: { status: 403, wwwAuthenticate: CHALLENGE } },
    });
    expect(transport.ended).toEqual(error.failure);
  });

  it('fails without further action if no scope would help, and the session continues.', async () => {
    const { auth } = authOf('hopeless');
    const { transport, recorded } = await connect(narrow(), { auth });
    await open(transport);
    const { failure } = await failureOf(transport.send(request(1, 'tools/call')));
    expect(failure).toMatchObject({ code: 'http-status', http: { status: 403 } });
    await transport.send(request(2, 'tools/list'));
    expect(recorded.messages).toHaveLength(2);
  });

  it('is an ordinary refusal if there is only a fixed header.', async () => {
    const { transport } = await connect(narrow(), { headers: { authorization: 'Bearer narrow' } });
    await open(transport);
    expect((await failureOf(transport.send(request(1, 'tools/call')))).failure.code).toBe('http-status');
  });
});

describe('the source of the tokens', () => {
  it('gets a report if the token it has renewed is refused as well.', async () => {
    const refused: unknown[] = [];
    let count = 1;
    const auth: HttpAuth = {
      token: async () => `token-${count}`,
      refresh: async () => (count += 1) > 0,
      refused: (token) => refused.push(token),
    };
    const { transport, server } = await connect(refuse(401), { auth });
    await transport.start();
    expect((await failureOf(transport.send(INITIALIZE))).failure.code).toBe('auth-required');
    expect(refused).toEqual(['token-2']);
    expect(server.seen).toHaveLength(2);
  });

  it('determines the failure if it fails with one.', async () => {
    const down = new TransportError({
      code: 'address-refused',
      message: 'The authorization server is away.',
    });
    const auth: HttpAuth = {
      token: async () => 'token-1',
      refresh: () => Promise.reject(down),
    };
    const { transport } = await connect(refuse(401), { auth });
    await transport.start();
    expect((await failureOf(transport.send(INITIALIZE))).failure).toEqual(down.failure);
  });
});
