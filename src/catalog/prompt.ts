/** Prompts as a host sees them, each under a name that is unique over all servers. */
import type { Prompt, PromptArgument } from '../mcp/server-offers.js';
import type { NamingTemplate } from '../config/entry/server-config.js';
import type { Shown } from './live-list.js';
import { exposedNames, rawKey, type ToolIdentity } from './naming.js';

/** One prompt that a server lists. */
export interface CatalogPrompt {
  /** Unique over all servers; made as the names of tools are, in a namespace of its own. */
  readonly name: string;
  /** Name of the server in the configuration. */
  readonly server: string;
  /** The server's own name for it; this is what is sent. */
  readonly prompt: string;
  /** The file, or `options`, that names the server. */
  readonly source: string;
  /** Title for people. Absent if the server gives none. */
  readonly title?: string;
  /** The server's description. Absent if it gives none. */
  readonly description?: string;
  /** Arguments that the prompt takes. Absent if it takes none. */
  readonly arguments?: readonly PromptArgument[];
  /** True while its connection is away; a request then waits for it or says why it cannot. */
  readonly stale: boolean;
}

/** The exposed names of prompts, in their order. */
export function promptNames(shown: readonly Shown<Prompt>[], naming: NamingTemplate): string[] {
  const identities = shown.map(toIdentity);
  const names = exposedNames(identities, naming);
  return identities.map((identity) => names.get(rawKey(identity)) ?? identity.tool);
}

function toIdentity({ server, id }: Shown<Prompt>): ToolIdentity {
  return { server, tool: id };
}

export function toCatalogPrompt(
  { server, source, stale, definition }: Shown<Prompt>,
  name: string,
): CatalogPrompt {
  const { title, description, arguments: args } = definition;
  return {
    name,
    server,
    prompt: definition.name,
    source,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(args === undefined ? {} : { arguments: args }),
    stale,
  };
}
