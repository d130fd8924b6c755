import { describe, expect, it } from 'vitest';
import { isAnswerOf, type AuthorizationLocation } from '../../../src/auth/auth-server-discovery.js';

const ISSUER = 'https://as.example/tenant';

function locationOf(more: object | undefined, isAssumed = false): AuthorizationLocation {
  const metadata = more && {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: `${ISSUER}/token`,
    response_types_supported: ['code'],
    ...more,
  };
  return {
    issuer: ISSUER,
    isAssumed,
    resource: undefined,
    state: {
      authorizationServerUrl: ISSUER,
      ...(metadata && { authorizationServerMetadata: metadata }),
    },
  };
}

const NAMING = { authorization_response_iss_parameter_supported: true };

describe('An answer of the authorization endpoint', () => {
  it.each([
    ['its issuer', {}, ISSUER, true],
    ['its issuer, as announced', NAMING, ISSUER, true],
    ['another issuer', {}, 'https://evil.example', false],
    ['a slash more', NAMING, `${ISSUER}/`, false],
    ['the host in capitals', {}, 'https://AS.example/tenant', false],
    ['the default port', {}, 'https://as.example:443/tenant', false],
    ['no issuer', {}, null, true],
    ['no issuer, although it announced one', NAMING, null, false],
    ['a slash more, without metadata', undefined, `${ISSUER}/`, true],
    ['another issuer, without metadata', undefined, 'https://evil.example', false],
  ])('with %s is of that server: see the last column.', (_, metadata, named, expected) => {
    expect(isAnswerOf(locationOf(metadata), named)).toBe(expected);
  });

  it('is not judged by an issuer that is only assumed.', () => {
    expect(isAnswerOf(locationOf({}, true), 'https://other.example')).toBe(true);
  });
});
