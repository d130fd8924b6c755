/** Which tools a client of the gateway is offered, and the tools with which it searches for the others. */
import { ToolIndex } from '../../search/tool-index.js';
import { isPinned } from '../../config/entry/tool-filter.js';
import { chooseTools, type Offer } from '../../search/offer.js';
import {
  callWithin,
  freeName,
  groupsOf,
  SEARCH_TOOL_NAMES,
  SearchArgumentsError,
  searchFor,
  searchToolDefinitions,
  toolToDescribe,
  type SearchToolName,
  type SearchedCatalogue,
} from '../../search/search-tools.js';
import type { JsonObject } from '../../json/json-object.js';
import type { Tool } from '../../mcp/server-offers.js';
import type { ServerView } from '../upstream/server-view.js';
import type { ClientCatalog } from './client-catalog.js';
import { invalidParams } from './error-answer.js';
import type { GatewayTool, GatewayToolContext } from './gateway-tools.js';

/** Keyed by the list that was indexed: a list of a client stays the same object until it changes. */
const indexes = new WeakMap<readonly Tool[], ToolIndex<Tool>>();

export class ClientOffer {
  readonly #offering: ClientCatalog;
  readonly #view: ServerView;
  readonly #offer: Offer | undefined;

  constructor(offering: ClientCatalog, view: ServerView, offer: Offer | undefined) {
    this.#offering = offering;
    this.#view = view;
    this.#offer = offer;
  }

  /** The tools of the servers that the client is offered, and the tools for searching, if it is not offered all. */
  get tools(): readonly Tool[] {
    const { shown, hidden } = chooseTools(this.#offering.lists.tools, this.#offer, (tool) =>
      this.#isPinned(tool),
    );
    if (hidden.length === 0) return shown;
    const groups = groupsOf(this.#catalogue());
    return [...shown, ...searchToolDefinitions(groups, (name) => this.#nameOf(name))];
  }

  /** Runs the tool for searching that has this name; undefined if it is the name of no such tool. */
  find(name: string): Pick<GatewayTool, 'run'> | undefined {
    const isOffered = this.#offer !== undefined && this.#offer !== 'all';
    const wanted = SEARCH_TOOL_NAMES.find((each) => isOffered && this.#nameOf(each) === name);
    if (wanted === undefined) return undefined;
    return { run: (context, args) => this.#run(wanted, context, args).catch(toInvalidParams) };
  }

  async #run(name: SearchToolName, { callTool }: GatewayToolContext, args: JsonObject): Promise<JsonObject> {
    switch (name) {
      case 'search_tools':
        return asText(await searchFor(this.#catalogue(), args));
      case 'describe_tool':
        return asText(JSON.stringify(toolToDescribe(this.#offering.lists.tools, args)));
      case 'call_tool': {
        const call = callWithin(args);
        return callTool(call.name, call.args);
      }
    }
  }

  #catalogue(): SearchedCatalogue<Tool> {
    const { tools } = this.#offering.lists;
    return {
      tools,
      groupOf: (tool) => this.#groupOf(tool),
      find: async (query, limit, group) => {
        const accepts = (tool: Tool): boolean => group === undefined || this.#groupOf(tool) === group;
        return (await indexOf(tools).search(tools, query, { limit, accepts })).map(({ tool }) => tool);
      },
    };
  }

  #groupOf({ name }: Tool): string {
    const server = this.#offering.tool(name)?.server ?? '';
    return this.#view.filter(server).group ?? server;
  }

  #isPinned(tool: Tool): boolean {
    const named = this.#offering.tool(tool.name);
    return named !== undefined && isPinned(named.name, this.#view.filter(named.server));
  }

  #nameOf(wanted: SearchToolName): string {
    return freeName(wanted, (name) => this.#offering.tool(name) !== undefined);
  }
}

function indexOf(tools: readonly Tool[]): ToolIndex<Tool> {
  const known = indexes.get(tools) ?? new ToolIndex();
  indexes.set(tools, known);
  return known;
}

function asText(text: string): JsonObject {
  return { content: [{ type: 'text', text }] };
}

function toInvalidParams(error: unknown): never {
  throw error instanceof SearchArgumentsError ? invalidParams(error.message) : error;
}
