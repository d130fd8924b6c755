/**
 * Parses the `WWW-Authenticate` header of a server that requires a bearer token (RFC 6750 section 3, RFC 9728 section
 * 5.1). Pure.
 */
import { parseUrl } from '../text/parse-url.js';

export interface Challenge {
  readonly error?: string;
  /** The scopes that suffice. */
  readonly scopes: readonly string[];
  /** Where the metadata of the protected resource is; not checked. */
  readonly resourceMetadata?: string;
}

const NO_CHALLENGE: Challenge = { scopes: [] };

/** The bearer challenge of a header that may hold others. */
export function parseChallenge(header: string | undefined): Challenge {
  const bearer = /(?:^|[\s,])bearer\s+(.*)$/is.exec(header ?? '')?.[1];
  if (bearer === undefined) return NO_CHALLENGE;
  const params = new Map<string, string>();
  for (const [, name = '', quoted, bare] of bearer.matchAll(
    /([a-z0-9_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi,
  )) {
    const key = name.toLowerCase();
    if (!params.has(key)) params.set(key, quoted?.replace(/\\(.)/g, '$1') ?? bare ?? '');
  }
  const error = params.get('error');
  const resourceMetadata = params.get('resource_metadata');
  return {
    scopes: toScopes(params.get('scope')),
    ...(error === undefined ? {} : { error }),
    ...(resourceMetadata === undefined ? {} : { resourceMetadata }),
  };
}

/** Where the metadata of the protected resource is; undefined if the challenge gives no valid address. */
export function metadataAddress(
  { resourceMetadata: address }: Challenge,
  serverUrl: string,
): string | undefined {
  if (address === undefined || !/^(?:https?:)?\//i.test(address)) return undefined;
  return parseUrl(address, serverUrl)?.href;
}

/** Splits a list of scopes at its spaces (RFC 6749 section 3.3). */
export function toScopes(text: string | undefined): readonly string[] {
  return [...new Set((text ?? '').split(' ').filter((scope) => scope !== ''))];
}
