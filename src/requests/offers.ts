/** What a server must have declared before it is asked for something (MCP specification, "Lifecycle", capabilities). */
import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { NotOfferedError } from '../errors.js';
import type { Session } from '../sessions.js';

export type RequestMethod =
  | 'resources/read'
  | 'resources/subscribe'
  | 'resources/unsubscribe'
  | 'prompts/get'
  | 'completion/complete'
  | 'logging/setLevel';

const DECLARED: Readonly<Record<RequestMethod, (capabilities: ServerCapabilities) => boolean>> = {
  'resources/read': ({ resources }) => resources !== undefined,
  'resources/subscribe': ({ resources }) => resources?.subscribe === true,
  'resources/unsubscribe': ({ resources }) => resources?.subscribe === true,
  'prompts/get': ({ prompts }) => prompts !== undefined,
  'completion/complete': ({ completions }) => completions !== undefined,
  'logging/setLevel': ({ logging }) => logging !== undefined,
};

/** The error of a request that the server of a session does not take; undefined where it does. */
export function whyNotOffered(method: RequestMethod, session: Session): NotOfferedError | undefined {
  if (DECLARED[method](session.capabilities)) return undefined;
  const { name } = session.key;
  return new NotOfferedError(`'${name}' does not offer ${method}, so it was not sent.`, { server: name });
}
