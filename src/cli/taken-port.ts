/** A port in use is no mistake in the configuration, so the command fails with `EXIT.failed`. */
import { codeOf } from '../text/error-message.js';

/** Like the promise, but if the port is in use, rejects with an error that is not a `ConfigError`. */
export async function opened<T>(service: Promise<T>): Promise<T> {
  return service.catch((error: unknown) => {
    throw isPortTaken(error) ? new Error(error.message, { cause: error }) : error;
  });
}

function isPortTaken(error: unknown): error is Error {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return codeOf(cause) === 'EADDRINUSE';
}
