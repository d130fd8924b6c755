/**
 * The clients that are registered before a scenario starts. `given` is the data of the scenario; the rest is what an
 * operator would have in the configuration.
 */

export const withSecret = async (url, { client_id: clientId, client_secret: clientSecret }) => ({
  clientId,
  clientSecret,
  issuer: await issuerOf(url),
});

export const robotWithSecret = async (url, given) => ({
  ...(await withSecret(url, given)),
  grant: 'client-credentials',
});

export const robotWithKey = async (url, given) => ({
  clientId: given.client_id,
  privateKey: given.private_key_pem,
  algorithm: given.signing_algorithm ?? 'ES256',
  issuer: await issuerOf(url),
  grant: 'client-credentials',
});

export const employee = async (url, given) => ({
  ...(await withSecret(url, given)),
  grant: 'jwt-bearer',
  assertion: (request) => vouchFor(given, request),
});

export const workload = async (url, given) => ({
  clientId: given.client_id,
  issuer: await issuerOf(url),
  grant: 'jwt-bearer',
  assertion: () => given.valid_jwt,
});

async function issuerOf(url) {
  const { origin, pathname } = new URL(url);
  const response = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const { authorization_servers: servers } = await response.json();
  return servers[0];
}

/** Gets an assertion about the user for an authorization server from the identity provider (RFC 8693, SEP-990). */
async function vouchFor(given, { issuer, resource }) {
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    requested_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
    subject_token: given.idp_id_token,
    subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    audience: issuer,
    resource,
    client_id: given.idp_client_id,
  });
  const response = await fetch(given.idp_token_endpoint, { method: 'POST', body });
  const { access_token: assertion } = await response.json();
  return assertion;
}
