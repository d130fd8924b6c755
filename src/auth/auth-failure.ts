/** What went wrong between Troupe and an authorization server, as a failure. Never holds a token, a code or a body. */
import {
  OAuthError,
  ServerError,
  TemporarilyUnavailableError,
  TooManyRequestsError,
} from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { Mask } from '../secrets.js';
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
  return 'the authorization server gave an answer that cannot be understood.';
}
