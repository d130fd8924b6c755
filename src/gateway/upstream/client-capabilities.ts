/** The client capabilities that concern requests of servers. Pure. */
import type { ClientCapabilities } from '../../mcp/session.js';
import { isJsonObject } from '../../json/json-object.js';

/** The kinds of server requests that a client answers. */
export type Answers = Pick<ClientCapabilities, 'roots' | 'sampling' | 'elicitation'>;

/** The capability that each server request needs. */
export const ASKED_OF = {
  'roots/list': 'roots',
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
} as const satisfies Readonly<Record<string, keyof Answers>>;

/** The part of a client's declared capabilities that it answers with. Nothing else is declared to a server. */
export function answersOf(declared: unknown): Answers {
  const { roots, sampling, elicitation } = isJsonObject(declared) ? declared : {};
  return {
    ...(isJsonObject(roots) && { roots }),
    ...(isJsonObject(sampling) && { sampling }),
    ...(isJsonObject(elicitation) && { elicitation }),
  };
}

/** The same without what makes no difference to a server, so that clients of one kind can share connections. */
export function kindOf({ roots, sampling, elicitation }: Answers): Answers {
  const isForm = elicitation?.form !== undefined || elicitation?.url === undefined;
  return {
    ...(roots && { roots: {} }),
    ...(sampling && {
      sampling: { ...(sampling.context && { context: {} }), ...(sampling.tools && { tools: {} }) },
    }),
    ...(elicitation && { elicitation: { ...(isForm && { form: {} }), ...(elicitation.url && { url: {} }) } }),
  };
}
