/**
 * Runs a callback of whoever listens to a transport. What it throws is told to `onerror` and goes no further; where that
 * throws as well, there is nobody left to tell.
 */
import { toError } from '../thrown.js';

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
