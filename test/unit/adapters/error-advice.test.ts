import { describe, expect, it } from 'vitest';
import { adviceFor } from '../../../src/adapters/tool-answer.js';
import { toFailure } from '../../../machines/policy/failure.js';
import {
  AuthRequiredError,
  CallTimeoutError,
  ConfigError,
  ConnectionLostError,
  InvalidArgumentsError,
  LaunchError,
  NotReadyError,
  OutcomeUnknownError,
  JsonRpcError,
  ToolHeldError,
  TrustRequiredError,
  UnknownToolError,
  type TroupeError,
} from '../../../src/errors.js';

const failure = toFailure(undefined);
const notSent = (cause?: unknown): TroupeError => new NotReadyError('not sent', { cause });

describe('the advice to a model', () => {
  it.each<[string, TroupeError, RegExp]>([
    ['an unknown tool', new UnknownToolError('x', ''), /offered now/],
    ['a server that is not ready', notSent(), /not ready, .*later/],
    ['a server that could not be started', notSent(new LaunchError(failure)), /cannot be reached, .*later/],
    ['a server that was lost', notSent(new ConnectionLostError(failure)), /cannot be reached/],
    ['a missing sign-in', notSent(new AuthRequiredError(failure)), /sign in.*user/],
    ['missing trust', notSent(new TrustRequiredError('')), /trust the server.*user/],
    ['a wrong configuration', notSent(new ConfigError('')), /configuration.*user/],
    [
      'a call without an answer',
      new CallTimeoutError('', { kind: 'idle', limitMs: 1 }),
      /check before you repeat/,
    ],
    [
      'arguments that do not fit',
      new InvalidArgumentsError('x', [{ path: '/a', message: 'is missing' }]),
      /nothing was sent.*Correct/,
    ],
    [
      'a tool that is held for review',
      new ToolHeldError('', { server: 's', tool: 't', reason: 'changed', fields: [], fingerprint: '' }),
      /accept the tool.*changed.*user/,
    ],
    ['an unknown outcome', new OutcomeUnknownError(failure), /current state before you repeat/],
    ['refused arguments', new JsonRpcError(-32602, ''), /did not accept the arguments/],
    ['another error of a server', new JsonRpcError(-32000, ''), /unlikely to help/],
    ['anything else', new LaunchError(failure), /could not be made/],
  ])('for %s says what to do.', (_what, error, advice) => {
    expect(adviceFor(error)).toMatch(advice);
  });
});
