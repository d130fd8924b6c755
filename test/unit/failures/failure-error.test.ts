import { describe, expect, it } from 'vitest';
import type { Failure, FailureCode, FailurePhase } from '../../../machines/policy/failure.js';
import { TroupeError } from '../../../src/errors.js';
import { failureError } from '../../../src/failures/failure-error.js';

const failure = (code: FailureCode, phase: FailurePhase): Failure => ({ code, phase, message: 'why', at: 1 });

describe('the error of a failure', () => {
  it.each([
    ['config-invalid', 'configure', 'CONFIG_ERROR'],
    ['variable-missing', 'configure', 'CONFIG_ERROR'],
    ['trust-denied', 'configure', 'TRUST_REQUIRED'],
    ['spawn-failed', 'launch', 'LAUNCH_FAILED'],
    ['http-status', 'launch', 'LAUNCH_FAILED'],
    ['handshake-timeout', 'handshake', 'HANDSHAKE_FAILED'],
    ['list-timeout', 'list', 'HANDSHAKE_FAILED'],
    ['process-exited', 'session', 'CONNECTION_LOST'],
    ['crash-loop', 'session', 'CONNECTION_LOST'],
    ['not-released', 'release', 'CONNECTION_LOST'],
    ['auth-required', 'launch', 'AUTH_REQUIRED'],
    ['auth-required', 'session', 'AUTH_REQUIRED'],
  ] as const)('%s in %s is %s, with the server and the sentence', (code, phase, expected) => {
    const error = failureError(failure(code, phase), 'a');
    expect(error).toBeInstanceOf(TroupeError);
    expect(error).toMatchObject({ code: expected, server: 'a', message: 'why' });
    expect(error.name).toBe(error.constructor.name);
  });

  it('keeps the whole record', () => {
    const record = {
      ...failure('process-exited', 'launch'),
      exit: { code: 3, signal: null },
      stderrTail: ['x'],
    };
    expect(failureError(record, 'a')).toMatchObject({ failure: record });
  });
});
