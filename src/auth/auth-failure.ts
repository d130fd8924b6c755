/**
 * Turns errors between Troupe and an authorization server into failures. A failure never holds a token, a code or a
 * body.
 */
import {
  InvalidClientError,
  OAuthError,
  ServerError,
  TemporarilyUnavailableError,
  TooManyRequestsError,
  UnauthorizedClientError,
} from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { Mask } from '../secrets/secrets.js';
import { messageOf } from '../text/error-message.js';
import { clean } from '../transports/http/http-refusal.js';
import { TransportError } from '../failures/transport-error.js';

const MAX_REASON = 200;

/** Whether the authorization server refused with a permanent OAuth error. */
export function isRefusal(error: unknown): error is OAuthError {
  const isPassing =
    error instanceof ServerError ||
    error instanceof TemporarilyUnavailableError ||
    error instanceof TooManyRequestsError;
  return error instanceof OAuthError && !isPassing;
}

/** Whether it refused the client itself, not the request. */
export function isClientRefusal(error: unknown): boolean {
  return error instanceof InvalidClientError || error instanceof UnauthorizedClientError;
}

/** Why tokens could not be renewed this time. It may work later without a person. */
export function toPassingFailure(error: unknown, server: string, mask: Mask): TransportError {
  if (error instanceof TransportError) return error;
  const message = `The sign-in to ${server} could not be renewed: ${reasonOf(error, mask)}`;
  return new TransportError({ code: 'connection-lost', message }, { cause: error });
}

const ASK_AGAIN =
  'Retry it to be asked again. If the authorization server does not register clients, configure a registered one.';
const TAKES_TOKENS_ONLY = `It publishes no OAuth metadata, so it probably offers no sign-in: put its token into 'headers' of the entry, such as "Authorization": "Bearer \${TOKEN}".`;

/** Why a sign-in could not be started or completed. `hasMetadata` is false if the server publishes none. */
export function toSignInFailure(
  error: unknown,
  server: string,
  mask: Mask,
  hasMetadata = true,
): TransportError {
  if (error instanceof TransportError) return error;
  return new TransportError(
    {
      code: 'auth-required',
      message: `The sign-in to ${server} failed: ${reasonOf(error, mask)}`,
      hint: hasMetadata ? ASK_AGAIN : TAKES_TOKENS_ONLY,
    },
    { cause: error },
  );
}

/**
 * The result of the host's own code. The error names that code if it throws, so that the authorization server is not
 * blamed.
 */
export async function askHost<T>(what: string, ask: () => T): Promise<Awaited<T>> {
  try {
    return await ask();
  } catch (cause) {
    const why = messageOf(cause);
    throw new Error(`${what} threw: ${why}`, { cause });
  }
}

/** The reason, as far as it is safe to show: an answer that is not OAuth may be any page. */
function reasonOf(error: unknown, mask: Mask): string {
  if (error instanceof ServerError) return 'the authorization server failed.';
  if (error instanceof OAuthError) {
    const detail = error.message === '' ? '' : ` (${error.message})`;
    return mask(clean(`${error.errorCode}${detail}`, [])).slice(0, MAX_REASON);
  }
  if (error instanceof Error && error.constructor === Error) {
    return mask(clean(error.message, [])).slice(0, MAX_REASON);
  }
  return `the authorization server gave an answer that cannot be understood${flawOf(error)}.`;
}

/** What is wrong with an answer, in brackets, without any of its content. */
export function flawOf(error: unknown): string {
  if (error instanceof SyntaxError) return ' (it is not JSON)';
  if (!isUnfit(error)) return '';
  const fields = new Set(error.issues.map(({ path }) => path.join('.')));
  return ` (${[...fields].join(', ') || 'all of it'})`;
}

/** The error that the SDK throws if an answer does not fit its schema. */
function isUnfit(
  error: unknown,
): error is { readonly issues: readonly { readonly path: readonly string[] }[] } {
  return error instanceof Error && error.name === 'ZodError' && 'issues' in error;
}
