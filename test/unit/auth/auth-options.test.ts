import { describe, expect, it } from 'vitest';
import { authProblems } from '../../../src/auth/auth-options.js';
import { parseChallenge } from '../../../src/auth/challenge.js';
import { createMemoryTokenStore } from '../../../src/auth/stores/token-store.js';
import { ConfigError } from '../../../src/errors.js';
import { createTroupe } from '../../../src/runtime/troupe.js';

describe('the auth option', () => {
  it.each<readonly [string, unknown]>([
    ['undefined', undefined],
    ['a function', () => undefined],
    ['an empty object', {}],
    ['a store', { store: createMemoryTokenStore(), interactive: false }],
    ['a public client', { client: { clientId: 'harbor' } }],
    ['a client with its redirect', { client: { clientId: 'harbor', redirectUrl: 'http://localhost:1/x' } }],
    [
      'a secret with its issuer',
      { client: { clientId: 'a', clientSecret: 'b', issuer: 'https://c.example' } },
    ],
    [
      'a client with an assertion for an issuer',
      {
        client: {
          clientId: 'a',
          issuer: 'https://c.example',
          grant: 'jwt-bearer',
          assertion: () => 'word',
        },
      },
    ],
    ['a client metadata URL', { clientMetadataUrl: 'https://host.example/client.json' }],
  ])('may be %s.', (_, auth) => {
    expect(authProblems(auth)).toEqual([]);
  });

  it.each<readonly [string, unknown, string, RegExp]>([
    ['a string', 'yes', 'auth', /object.*function/],
    ['an unknown field', { clientID: 'a' }, 'auth.clientID', /option/],
    ['an incomplete store', { store: { read: () => {} } }, 'auth.store', /write.*forget/],
    ['an invalid port', { redirectPort: 70_000 }, 'auth.redirectPort', /65535/],
    [
      'a client metadata URL without https',
      { clientMetadataUrl: 'http://a.example/b' },
      'auth.clientMetadataUrl',
      /https/,
    ],
    ['a client without id', { client: {} }, 'auth.client.clientId', /string/],
    [
      'a redirect that is no address',
      { client: { clientId: 'a', redirectUrl: 'here' } },
      'auth.client.redirectUrl',
      /address/,
    ],
    [
      'a secret without an issuer',
      { client: { clientId: 'a', clientSecret: 'b' } },
      'auth.client.issuer',
      /issuer|meant for/,
    ],
    [
      'credentials without a secret',
      { client: { clientId: 'a', grant: 'client-credentials' } },
      'auth.client.grant',
      /clientSecret.*privateKey/,
    ],
    [
      'an empty secret',
      {
        client: { clientId: 'a', clientSecret: '', issuer: 'https://c.example', grant: 'client-credentials' },
      },
      'auth.client.clientSecret',
      /ASCII/,
    ],
    [
      'a secret that a request cannot contain',
      { client: { clientId: 'a', clientSecret: 'пароль', issuer: 'https://c.example' } },
      'auth.client.clientSecret',
      /ASCII/,
    ],
    [
      'a key that is not a string',
      { client: { clientId: 'a', privateKey: {}, issuer: 'https://c.example' } },
      'auth.client.privateKey',
      /PEM/,
    ],
    [
      'the algorithm none',
      { client: { clientId: 'a', privateKey: 'b', algorithm: 'none', issuer: 'https://c.example' } },
      'auth.client.algorithm',
      /RS256/,
    ],
    [
      'an unknown grant',
      { client: { clientId: 'a', grant: 'implicit' } },
      'auth.client.grant',
      /authorization-code, client-credentials, jwt-bearer/,
    ],
    [
      'an assertion without an issuer',
      { client: { clientId: 'a', grant: 'jwt-bearer', assertion: () => 'word' } },
      'auth.client.issuer',
      /issuer|meant for/,
    ],
    [
      'the grant jwt-bearer without an assertion',
      { client: { clientId: 'a', grant: 'jwt-bearer' } },
      'auth.client.assertion',
      /function/,
    ],
    [
      'an assertion with another grant',
      { client: { clientId: 'a', issuer: 'https://c.example', assertion: () => 'word' } },
      'auth.client.assertion',
      /'jwt-bearer'/,
    ],
  ])('must not be %s.', (_, auth, field, message) => {
    expect(authProblems(auth)).toEqual([{ field, message: expect.stringMatching(message) }]);
    expect(() => createTroupe({ auth: auth as never })).toThrow(ConfigError);
  });
});

describe('a challenge', () => {
  it.each([
    [undefined, { scopes: [] }],
    ['Basic realm="harbor"', { scopes: [] }],
    ['Bearer', { scopes: [] }],
    ['bearer error=invalid_token', { error: 'invalid_token', scopes: [] }],
    [
      'Basic realm="a, b", Bearer scope="look sail  look", error="insufficient_scope", resource_metadata="https://a.example/m"',
      {
        error: 'insufficient_scope',
        scopes: ['look', 'sail'],
        resourceMetadata: 'https://a.example/m',
      },
    ],
    ['Bearer error="a \\"quoted\\" word"', { error: 'a "quoted" word', scopes: [] }],
  ])('is parsed: %s', (header, challenge) => {
    expect(parseChallenge(header)).toEqual(challenge);
  });
});
