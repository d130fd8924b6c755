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
    ...(hasTokens && { tokens }),
    ...(hasTokens && typeof expiresAt === 'number' && { expiresAt }),
    ...(isObject(client) && typeof client.client_id === 'string' && { client }),
    ...(typeof redirectUrl === 'string' && URL.canParse(redirectUrl) && { redirectUrl }),
  };
}
