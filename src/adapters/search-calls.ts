/**
 * The tools for searching, for adapters: they are offered in addition to the tools of a source, under names that none of
 * those has.
 */
import type { CatalogTool } from '../catalog/registry.js';
import type { JsonObject } from '../json/json-object.js';
import type { CallToolResult } from '../mcp/server-offers.js';
import {
  callWithin,
  freeName,
  groupsOf,
  SEARCH_TOOL_NAMES,
  searchFor,
  searchToolDefinitions,
  toolToDescribe,
  type SearchedCatalogue,
  type SearchToolName,
  type WrittenCall,
} from '../search/search-tools.js';
import { chooseTools, type Offer, type OfferedTools } from '../search/offer.js';
import type { ToolSource } from './tool-source.js';

/** Whether the host has a tool of that name. */
export type IsTaken = (name: string) => boolean;

const NEVER: IsTaken = () => false;

/** The tools that a model is offered at once. With `hidden` tools, the tools for searching are needed as well. */
export function chooseFrom(source: ToolSource, offer: Offer | undefined): OfferedTools<CatalogTool> {
  return chooseTools(source.tools, offer, ({ pinned }) => pinned === true);
}

/** All tools that a model is offered at once, with those for searching. */
export function offeredTools(
  source: ToolSource,
  offer: Offer | undefined,
  isTaken: IsTaken = NEVER,
): readonly CatalogTool[] {
  const { shown, hidden } = chooseFrom(source, offer);
  return hidden.length === 0 ? shown : [...shown, ...searchToolsOf(source, isTaken)];
}

/** The tools for searching, in the form of the others. */
export function searchToolsOf(source: ToolSource, isTaken: IsTaken): readonly CatalogTool[] {
  const groups = groupsOf(catalogueOf(source));
  return searchToolDefinitions(groups, (name) => nameOf(source, name, isTaken)).map(
    ({ annotations, ...definition }) => ({
      ...definition,
      ...(annotations !== undefined && { annotations }),
      server: '',
      tool: definition.name,
      source: '',
      requiresConfirmation: false,
      stale: false,
    }),
  );
}

/** The tool for searching that has this name; undefined if it is the name of any other tool. */
export function searchToolNamed(
  source: ToolSource,
  name: string,
  isTaken: IsTaken = NEVER,
): SearchToolName | undefined {
  return SEARCH_TOOL_NAMES.find(
    (wanted) => name.startsWith(wanted) && nameOf(source, wanted, isTaken) === name,
  );
}

/** The call itself, or the call that it stands for. Throws a `SearchArgumentsError`. */
export function innerCall(source: ToolSource, call: WrittenCall, isTaken?: IsTaken): WrittenCall {
  return searchToolNamed(source, call.name, isTaken) === 'call_tool' ? callWithin(call.args) : call;
}

/** The result of `search_tools` or `describe_tool`; undefined for any other tool. Throws a `SearchArgumentsError`. */
export async function searchResult(
  source: ToolSource,
  { name, args }: WrittenCall,
  isTaken?: IsTaken,
): Promise<CallToolResult | undefined> {
  switch (searchToolNamed(source, name, isTaken)) {
    case 'search_tools':
      return asText(await searchFor(catalogueOf(source), args));
    case 'describe_tool':
      return asText(JSON.stringify(definitionOf(toolToDescribe(source.tools, args))));
    default:
      return undefined;
  }
}

function catalogueOf(source: ToolSource): SearchedCatalogue<CatalogTool> {
  return {
    tools: source.tools,
    groupOf,
    find: async (query, limit, group) => {
      const servers = source.tools.filter((tool) => groupOf(tool) === group).map(({ server }) => server);
      const options = { limit, ...(group !== undefined && { servers: [...new Set(servers)] }) };
      return (await source.searchTools(query, options)).map(({ tool }) => tool);
    },
  };
}

export function groupOf({ group, server }: CatalogTool): string {
  return group ?? server;
}

function nameOf(source: ToolSource, wanted: string, isTaken: IsTaken): string {
  return freeName(wanted, (name) => isTaken(name) || source.tool(name) !== undefined);
}

function definitionOf({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: CatalogTool): JsonObject {
  return { name, title, description, inputSchema, outputSchema, annotations };
}

function asText(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}
