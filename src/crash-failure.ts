/** What a person is told of a connection whose actor died of an error of ours. */
import type { Failure } from '../machines/policy/failure.js';

export function crashFailure(message: string, at: number): Failure {
  return {
    code: 'internal',
    message: `The connection's actor died of an error in the runtime: ${message}`,
    phase: 'session',
    at,
    hint: 'Retry it, and report this.',
  };
}
