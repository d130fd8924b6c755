/** The key with which a client signs for itself, checked before anything is asked of anybody. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { TransportError } from '../transports/session-transport.js';
import type { OAuthClient } from './auth-options.js';

/** Keys by the algorithm they sign for: their type, or their curve (RFC 7518 section 3.1). */
const KINDS: Readonly<Record<string, string>> = {
  RS: 'rsa',
  PS: 'rsa',
  ES256: 'prime256v1',
  ES384: 'secp384r1',
  ES512: 'secp521r1',
};

/** As PKCS #8 in PEM, in whatever form of PEM it was given. Throws a `TransportError` where it cannot be used. */
export function signingKey(client: OAuthClient, pem: string, algorithm: string): string {
  const expected = KINDS[algorithm] ?? KINDS[algorithm.slice(0, 2)];
  // A shared secret has no form.
  if (expected === undefined) return pem;
  const key = readKey(client, pem);
  const kind = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? 'nothing';
  if (kind !== expected) throw unusable(client, `is for '${kind}' and cannot sign as ${algorithm}.`);
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function readKey(client: OAuthClient, pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw unusable(client, `cannot be read (${code}).`);
  }
}

function unusable({ clientId }: OAuthClient, why: string): TransportError {
  return new TransportError({
    code: 'config-invalid',
    message: `The privateKey of client '${clientId}' ${why}`,
    hint: "Give a private key in PEM, unencrypted and with its line breaks, and its 'algorithm'.",
  });
}
