/**
 * Runs a callback of a transport's owner. `onerror` gets an error that it throws. If `onerror` throws as well, that error is
 * dropped.
 */
import { toError } from '../text/error-message.js';

export function runGuarded(
  transport: { readonly onerror?: ((error: Error) => void) | undefined },
  callback: () => void,
): void {
  try {
    callback();
  } catch (error) {
    try {
      transport.onerror?.(toError(error));
    } catch {
      // See above.
    }
  }
}
