/** What is declared in a handshake: what there are handlers for, and what the host declares itself. */
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { ServerRequestHandlers } from './handlers.js';

/** A field of `given` adds to what its handler declares. */
export function clientCapabilities(
  { roots, sampling, elicitation }: ServerRequestHandlers = {},
  given: ClientCapabilities = {},
): ClientCapabilities {
  return {
    ...given,
    ...(roots !== undefined && { roots: { listChanged: true, ...given.roots } }),
    ...(sampling !== undefined && { sampling: { ...samplingModes(sampling), ...given.sampling } }),
    ...(elicitation !== undefined && {
      elicitation: { ...elicitationModes(elicitation), ...given.elicitation },
    }),
  };
}

function samplingModes(
  sampling: NonNullable<ServerRequestHandlers['sampling']>,
): NonNullable<ClientCapabilities['sampling']> {
  if (typeof sampling === 'function') return {};
  return {
    ...(sampling.tools === true && { tools: {} }),
    ...(sampling.context === true && { context: {} }),
  };
}

function elicitationModes(
  elicitation: NonNullable<ServerRequestHandlers['elicitation']>,
): NonNullable<ClientCapabilities['elicitation']> {
  if (typeof elicitation === 'function') return { form: {}, url: {} };
  return {
    ...(elicitation.form !== undefined && { form: {} }),
    ...(elicitation.url !== undefined && { url: {} }),
  };
}
