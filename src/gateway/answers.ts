/** What a client answers when a server asks, of all that it declares. Pure. */
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject } from '../catalog/json-object.js';

/** What a client answers when a server asks. */
export type Answers = Pick<ClientCapabilities, 'roots' | 'sampling' | 'elicitation'>;

/** What each request of a server takes. */
export const ASKED_OF = {
  'roots/list': 'roots',
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
} as const satisfies Readonly<Record<string, keyof Answers>>;

/** Of what a client declares, what it answers. Nothing else of it is declared to a server. */
export function answersOf(declared: unknown): Answers {
  const { roots, sampling, elicitation } = isJsonObject(declared) ? declared : {};
  return {
    ...(isJsonObject(roots) && { roots }),
    ...(isJsonObject(sampling) && { sampling }),
    ...(isJsonObject(elicitation) && { elicitation }),
  };
}
