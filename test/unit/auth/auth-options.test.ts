import { describe, expect, it } from 'vitest';
import { authProblems } from '../../../src/auth/auth-options.js';
import { parseChallenge } from '../../../src/auth/challenge.js';
import { createMemoryTokenStore } from '../../../src/auth/stores/token-store.js';
import { ConfigError } from '../../../src/errors.js';
import { createTroupe } from '../../../src/runtime/troupe.js';

describe('the auth option', () => {
  it.each<readonly [string, unknown]>([
    ['nothing', undefined],
    ['a function', () => undefined],
    ['an empty object', {}],
    ['a store', { store: createMemoryTokenStore(), interactive: false }],
    ['a public client', { client: { clientId: 'harbor' } }],
    [
      'a secret with the issuer it is for',
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
    ['a document', { clientMetadataUrl: 'https://host.example/client.json' }],
  ])('may be %s.', (_, auth) => {
    expect(authProblems(auth)).toEqual([]);
  });

  it.each<readonly [string, unknown, string, RegExp]>([
    ['a text', 'yes', 'auth', /an object or a function/],
    ['an unknown field', { clientID: 'a' }, 'auth.clientID', /is not an option/],
    ['half a store', { store: { read: () => {} } }, 'auth.store', /read, write and forget/],
    ['a port that is none', { redirectPort: 70_000 }, 'auth.redirectPort', /between 0 and 65535/],
    [
      'a document without https',
      { clientMetadataUrl: 'http://a.example/b' },
      'auth.clientMetadataUrl',
      /https/,
    ],
    ['a client without id', { client: {} }, 'auth.client.clientId', /a string/],
    [
      'a secret for anybody',
      { client: { clientId: 'a', clientSecret: 'b' } },
      'auth.client.issuer',
      /meant for/,
    ],
    [
      'credentials without a secret',
      { client: { clientId: 'a', grant: 'client-credentials' } },
      'auth.client.grant',
      /needs a clientSecret or a privateKey/,
    ],
    [
      'a secret that is empty, as of a variable that is',
      {
        client: { clientId: 'a', clientSecret: '', issuer: 'https://c.example', grant: 'client-credentials' },
      },
      'auth.client.clientSecret',
      /a text of printable ASCII/,
    ],
    [
      'a secret that no request can hold',
      { client: { clientId: 'a', clientSecret: 'пароль', issuer: 'https://c.example' } },
      'auth.client.clientSecret',
      /a text of printable ASCII/,
    ],
    [
      'a key that is no text',
      { client: { clientId: 'a', privateKey: {}, issuer: 'https://c.example' } },
      'auth.client.privateKey',
      /PEM/,
    ],
    [
      'an algorithm that signs nothing',
      { client: { clientId: 'a', privateKey: 'b', algorithm: 'none', issuer: 'https://c.example' } },
      'auth.client.algorithm',
      /RS256/,
    ],
    [
      'a grant that is none',
      { client: { clientId: 'a', grant: 'implicit' } },
      'auth.client.grant',
      /expected authorization-code, client-credentials, jwt-bearer/,
    ],
    [
      'an assertion for anybody',
      { client: { clientId: 'a', grant: 'jwt-bearer', assertion: () => 'word' } },
      'auth.client.issuer',
      /meant for/,
    ],
    [
      'the grant of an assertion without one',
      { client: { clientId: 'a', grant: 'jwt-bearer' } },
      'auth.client.assertion',
      /expected a function/,
    ],
    [
      'an assertion with another grant',
      { client: { clientId: 'a', issuer: 'https://c.example', assertion: () => 'word' } },
      'auth.client.assertion',
      /'jwt-bearer' and no other/,
    ],
  ])('may not be %s.', (_, auth, field, message) => {
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
  ])('%s is read.', (header, challenge) => {
    expect(parseChallenge(header)).toEqual(challenge);
  });
});
