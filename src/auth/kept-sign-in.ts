/** What of a kept sign-in can be used: another version may have written it, or somebody who edits files. Pure. */
import { isObject } from '../config/read-shape.js';
import { isSendable } from './oauth-answer.js';
import type { StoredSignIn } from './token-store.js';

/** Leaves out what cannot be used, and keeps what it does not know. */
export function usableSignIn(kept: unknown): StoredSignIn {
  if (!isObject(kept)) return {};
  const { tokens, expiresAt, client, redirectUrl, ...unknown } = kept as StoredSignIn;
  const hasTokens = isObject(tokens) && isSendable(tokens.access_token);
  return {
    ...unknown,
    ...(hasTokens && { tokens: withoutUnfit(tokens, ['refresh_token', 'scope', 'issuer']) }),
    ...(hasTokens && typeof expiresAt === 'number' && { expiresAt }),
    ...(isObject(client) &&
      typeof client.client_id === 'string' && { client: withoutUnfit(client, ['client_secret', 'issuer']) }),
    ...(typeof redirectUrl === 'string' && URL.canParse(redirectUrl) && { redirectUrl }),
  };
}

/** Without those of the fields that are to be texts and are none. */
function withoutUnfit<T extends object>(fields: T, texts: readonly (keyof T & string)[]): T {
  const isFit = ([name, value]: readonly [string, unknown]): boolean =>
    typeof value === 'string' || !texts.some((text) => text === name);
  return Object.fromEntries(Object.entries(fields).filter(isFit)) as T;
}
