/** What a model can do about a call that brought no result, by the kind of error. Nothing here is a server's word. */
import {
  AuthRequiredError,
  ConfigError,
  NotReadyError,
  ServerError,
  TrustRequiredError,
  type TroupeError,
} from '../errors.js';

export const ARGUMENTS_ADVICE =
  'The arguments are not what the tool takes, and nothing was sent. Correct them and call it again.';
export const FAILED_ADVICE =
  'The tool failed; what it said follows. Do not repeat the same call unchanged: correct the arguments or go another way.';
export const REFUSED_ADVICE =
  'This call was not allowed, and nothing was sent. Do not try it again, nor the same thing in another way; go on without it or ask the user.';
export const REPLACED_ADVICE =
  'The tool has become another one while somebody was asked about it, and nothing was sent. Look at its description, and call it again if it is still what you want.';

const INVALID_PARAMS = -32602;

export function adviceFor(error: TroupeError): string {
  switch (error.code) {
    case 'UNKNOWN_TOOL':
      return 'There is no such tool, or it is gone. Use one of the tools that you are offered now.';
    case 'INVALID_ARGUMENTS':
      return ARGUMENTS_ADVICE;
    case 'NOT_READY':
      return notReadyAdvice(error);
    case 'TOOL_HELD':
      return personAdvice('somebody has to approve the tool again, because it has changed');
    case 'CALL_TIMEOUT':
      return 'The tool did not answer in time and was told to stop. It may have done part of the work: check before you repeat the call, or ask for less at once.';
    case 'OUTCOME_UNKNOWN':
      return 'No answer came that can be read, so the call may or may not have been done. Check what is so now before you repeat it.';
    case 'SERVER_ERROR':
      return error instanceof ServerError && error.rpcCode === INVALID_PARAMS
        ? 'The server did not accept the arguments. Correct them and call the tool again.'
        : 'The server answered with an error. Repeating the same call is unlikely to help: change it or go on without it.';
    default:
      return 'The call could not be made. Go on without it, or tell the user what is said here.';
  }
}

/** Not sent, so that it can be repeated; but what waits for a person does not come by waiting. */
function notReadyAdvice({ cause }: TroupeError): string {
  if (cause instanceof AuthRequiredError) return personAdvice('somebody has to sign in first');
  if (cause instanceof TrustRequiredError) return personAdvice('somebody has to approve the server first');
  if (cause instanceof ConfigError)
    return personAdvice('the configuration of the server has to be corrected first');
  const why = cause instanceof NotReadyError || cause === undefined ? 'is not ready' : 'cannot be reached';
  return `The server ${why}, and nothing was sent. The call can be repeated safely: try it again later, or go on without it.`;
}

function personAdvice(what: string): string {
  return `Nothing was sent: ${what}. Tell the user, and do not try again until that is done.`;
}
