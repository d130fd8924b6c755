/** One failure for each verdict, as the effects of the runtime reject with it. */
import type { Failure, FailureCode, FailurePhase, Verdict } from '../../machines/policy/failure.js';

const CODES: Readonly<Record<Verdict, FailureCode>> = {
  retry: 'connection-lost',
  renew: 'session-expired',
  authorize: 'auth-required',
  permanent: 'command-not-found',
};

export const VERDICTS = Object.keys(CODES) as readonly Verdict[];

/** A failure with the verdict; `details` replaces any part of it. */
export function sampleFailure(
  verdict: Verdict,
  phase: FailurePhase,
  at: number,
  details: Partial<Failure> = {},
): Failure {
  return { code: CODES[verdict], message: `A sample of '${verdict}'.`, phase, at, ...details };
}
