/** Whether what a host brings is a provider: one without types may bring anything. */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { TransportError } from '../transports/session-transport.js';
import type { AuthServer } from './auth-options.js';

/** What every grant needs of it. */
const NEEDED = ['tokens', 'saveTokens', 'clientInformation'] as const;

/** Throws a `TransportError` that says what is wrong with it. */
export function requireProvider(given: OAuthClientProvider, { name }: AuthServer): void {
  if (isPromise(given)) {
    throw wrong(`The 'auth' option gave a promise for '${name}': it has to give the provider itself.`);
  }
  const missing = NEEDED.find((member) => typeof given[member] !== 'function');
  if (missing !== undefined) throw wrong(`What the 'auth' option gave for '${name}' has no '${missing}'.`);
}

export function isPromise(given: unknown): given is Promise<unknown> {
  return given instanceof Promise;
}

function wrong(message: string): TransportError {
  const hint = "Give an object that implements the SDK's OAuthClientProvider, or undefined for none.";
  return new TransportError({ code: 'config-invalid', message, hint });
}
