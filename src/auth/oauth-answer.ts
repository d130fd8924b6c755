/**
 * Corrects answers of authorization servers for the SDK: some refuse with HTTP 200 or with unknown error codes, some
 * write `null` for a missing field, and some issue a token that no header can hold. Pure.
 */
import {
  CustomOAuthError,
  OAUTH_ERRORS,
  type OAuthError,
} from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { isObject } from '../config/entry/read-shape.js';
import { parseJson } from '../json/parse-json.js';

/** The same answer without its `null` fields. An answer that is not an object stays as it is. */
export function withoutNulls(text: string): string {
  const answer = parse(text);
  if (answer === undefined) return text;
  return JSON.stringify(Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null)));
}

/** Throws if the answer to a token request is a refusal that the SDK would not recognize, or holds unusable tokens. */
export function requireUsable(status: number, text: string): void {
  const answer = parse(text) ?? {};
  const refusal = hiddenRefusal(status, answer);
  if (refusal !== undefined) throw refusal;
  if (status < 300 && 'access_token' in answer && !isSendable(answer['access_token'])) {
    throw new Error('the access token that was issued cannot be sent.');
  }
}

/** Whether a header can hold it (RFC 6749 appendix A.12). */
export function isSendable(token: unknown): token is string {
  return typeof token === 'string' && /^[\x20-\x7e]+$/.test(token);
}

/** The SDK takes an unknown error code for a server error, and HTTP 200 for success. */
function hiddenRefusal(status: number, answer: Readonly<Record<string, unknown>>): OAuthError | undefined {
  const { error, error_description: text, access_token: token } = answer;
  if (typeof error !== 'string' || (status < 300 && isSendable(token))) return undefined;
  const description = typeof text === 'string' ? text : '';
  const known = Object.hasOwn(OAUTH_ERRORS, error)
    ? OAUTH_ERRORS[error as keyof typeof OAUTH_ERRORS]
    : undefined;
  if (known === undefined) return new CustomOAuthError(error, description);
  return status < 300 ? new known(description) : undefined;
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}
