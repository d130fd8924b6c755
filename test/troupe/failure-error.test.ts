import { describe, expect, it } from 'vitest';
import type { Failure, FailureCode, FailurePhase } from '../../machines/policy/failure.js';
import { TroupeError } from '../../src/errors.js';
import { failureError } from '../../src/failure-error.js';

const failure = (code: FailureCode, phase: FailurePhase): Failure => ({ code, phase, message: 'why', at: 1 });

describe('the error of a failure', () => {
  it.each([
    ['config-invalid', 'configure', 'CONFIG'],
    ['variable-missing', 'configure', 'CONFIG'],
    ['trust-denied', 'configure', 'TRUST_REQUIRED'],
    ['spawn-failed', 'launch', 'LAUNCH'],
    ['http-status', 'launch', 'LAUNCH'],
    ['handshake-timeout', 'handshake', 'HANDSHAKE'],
    ['list-timeout', 'list', 'HANDSHAKE'],
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
