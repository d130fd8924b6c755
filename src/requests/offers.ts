/** The capability that a server must have declared for each request (MCP specification, "Lifecycle", capabilities). */
import type { ServerCapabilities } from '../mcp/session.js';
import { UnsupportedError } from '../errors.js';
import type { Session } from '../sessions/sessions.js';

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

/** The error of a request that the server of a session does not support; undefined if it does. */
export function whyUnsupported(method: RequestMethod, session: Session): UnsupportedError | undefined {
  if (DECLARED[method](session.capabilities)) return undefined;
  const { name } = session.key;
  return new UnsupportedError(`'${name}' does not offer ${method}, so it was not sent.`, { server: name });
}
