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
    [
      'a tool that is not there',
      new UnknownToolError('x', ''),
      /Use one of the tools that you are offered now/,
    ],
    ['a server that is not ready', notSent(), /is not ready, and nothing was sent\. .* try it again later/],
    [
      'one that could not be started',
      notSent(new LaunchError(failure)),
      /cannot be reached, and nothing was sent\. .* later/,
    ],
    [
      'one that was lost',
      notSent(new ConnectionLostError(failure)),
      /cannot be reached, and nothing was sent/,
    ],
    [
      'a sign-in that is missing',
      notSent(new AuthRequiredError(failure)),
      /has to sign in first\. Tell the user/,
    ],
    ['trust that is missing', notSent(new TrustRequiredError('')), /trust the server first\. Tell the user/],
    [
      'a wrong configuration',
      notSent(new ConfigError('')),
      /configuration .* corrected first\. Tell the user/,
    ],
    [
      'a call without an answer',
      new CallTimeoutError('', { kind: 'idle', limitMs: 1 }),
      /check before you repeat the call/,
    ],
    [
      'arguments that do not fit',
      new InvalidArgumentsError('x', [{ path: '/a', message: 'is missing' }]),
      /nothing was sent\. Correct them and call it again/,
    ],
    [
      'a tool that is held back',
      new ToolHeldError('', { server: 's', tool: 't', reason: 'changed', fields: [], fingerprint: '' }),
      /accept the tool again, because it has changed\. Tell the user/,
    ],
    ['an unknown outcome', new OutcomeUnknownError(failure), /Check the current state before you repeat it/],
    ['refused arguments', new JsonRpcError(-32602, ''), /did not accept the arguments\. Correct them/],
    [
      'another error of a server',
      new JsonRpcError(-32000, ''),
      /Repeating the same call is unlikely to help/,
    ],
    ['anything else', new LaunchError(failure), /could not be made\. Go on without it/],
  ])('for %s says what to do.', (_what, error, advice) => {
    expect(adviceFor(error)).toMatch(advice);
  });
});
