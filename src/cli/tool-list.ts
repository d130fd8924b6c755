/** A list of tools: for a person grouped by server, for a program as the documented JSON. */
import type { CatalogTool } from '../catalog/registry.js';
import type { Colors } from './colors.js';
import { countOf } from './count-of.js';
import { oneLine } from './safe-text.js';

/** Every field is there; what a tool does not say is null. */
export function toJsonTool(tool: CatalogTool) {
  return {
    name: tool.name,
    server: tool.server,
    tool: tool.tool,
    title: tool.title ?? null,
    description: tool.description ?? null,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema ?? null,
    annotations: tool.annotations ?? null,
    requiresApproval: tool.requiresApproval,
  };
}

/** Every server that was asked has its group, even an empty one. */
export function renderTools(
  tools: readonly CatalogTool[],
  servers: readonly string[],
  colors: Colors,
): string {
  return servers
    .map((server) =>
      renderGroup(
        server,
        tools.filter((tool) => tool.server === server),
        colors,
      ),
    )
    .join('\n\n');
}

function renderGroup(server: string, tools: readonly CatalogTool[], colors: Colors): string {
  const title = `${colors.bold(oneLine(server))} ${colors.dim(`(${countOf(tools.length, 'tool')})`)}`;
  return [title, ...tools.map((tool) => `  ${colors.cyan(tool.name)}${describe(tool, colors)}`)].join('\n');
}

function describe({ title, description }: CatalogTool, colors: Colors): string {
  const text = firstSentence(oneLine(description ?? title ?? ''));
  return text === '' ? '' : `  ${colors.dim(text)}`;
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?= |$)/.exec(text)?.[0] ?? text;
}
