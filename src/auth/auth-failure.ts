/** What went wrong between Troupe and an authorization server, as a failure. Never holds a token, a code or a body. */
import {
  InvalidClientError,
  OAuthError,
  ServerError,
  TemporarilyUnavailableError,
  TooManyRequestsError,
  UnauthorizedClientError,
} from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { Mask } from '../secrets.js';
import { messageOf } from '../thrown.js';
import { clean } from '../transports/http/http-refusal.js';
import { TransportError } from '../transports/session-transport.js';

const LONGEST_REASON = 200;

/** The authorization server has refused with an OAuth error that will be the same next time. */
export function isRefusal(error: unknown): error is OAuthError {
  const isPassing =
    error instanceof ServerError ||
    error instanceof TemporarilyUnavailableError ||
    error instanceof TooManyRequestsError;
  return error instanceof OAuthError && !isPassing;
}

/** It is the client that is refused, and not what it asked for. */
export function isClientRefusal(error: unknown): boolean {
  return error instanceof InvalidClientError || error instanceof UnauthorizedClientError;
}

/** Why tokens could not be renewed this time: it may work later, and nobody has to be asked. */
export function toPassingFailure(error: unknown, server: string, mask: Mask): TransportError {
  if (error instanceof TransportError) return error;
  const message = `The sign-in to ${server} could not be renewed: ${reasonOf(error, mask)}`;
  return new TransportError({ code: 'connection-lost', message }, { cause: error });
}

/** Why a sign-in could not be begun or completed. */
export function toSignInFailure(error: unknown, server: string, mask: Mask): TransportError {
  if (error instanceof TransportError) return error;
  return new TransportError(
    {
      code: 'auth-required',
      message: `The sign-in to ${server} failed: ${reasonOf(error, mask)}`,
      hint: 'Retry it to be asked again. Where the authorization server registers nobody, give a client of your own.',
    },
    { cause: error },
  );
}

/** What the host's own code gives; what it throws is told as its own, and no authorization server's. */
export async function askHost<T>(what: string, ask: () => T): Promise<Awaited<T>> {
  try {
    return await ask();
  } catch (cause) {
    const why = messageOf(cause);
    throw new Error(`${what} threw: ${why}`, { cause });
  }
}

/** What was said, as far as it is fit to be told: an answer that is no OAuth may be a page of any kind. */
function reasonOf(error: unknown, mask: Mask): string {
  if (error instanceof ServerError) return 'the authorization server gave no proper answer.';
  if (error instanceof OAuthError) {
    const said = error.message === '' ? '' : ` (${error.message})`;
    return mask(clean(`${error.errorCode}${said}`, [])).slice(0, LONGEST_REASON);
  }
  if (error instanceof Error && error.constructor === Error) {
    return mask(clean(error.message, [])).slice(0, LONGEST_REASON);
  }
  return `the authorization server gave an answer that cannot be understood${flawOf(error)}.`;
}

/** What is wrong with an answer, in brackets, without anything that stands in it. */
export function flawOf(error: unknown): string {
  if (error instanceof SyntaxError) return ' (it is no JSON)';
  if (!isUnfit(error)) return '';
  const fields = new Set(error.issues.map(({ path }) => path.join('.')));
  return ` (${[...fields].join(', ') || 'all of it'})`;
}

/** Thrown where the SDK's schema does not fit. */
function isUnfit(
  error: unknown,
): error is { readonly issues: readonly { readonly path: readonly string[] }[] } {
  return error instanceof Error && error.name === 'ZodError' && 'issues' in error;
}
