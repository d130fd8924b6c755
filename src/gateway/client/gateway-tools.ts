/** Tools that the gateway itself offers, in addition to the tools of the servers. */
import type { Tool } from '../../mcp/server-offers.js';
import { freeName } from '../../search/search-tools.js';
import type { JsonObject } from '../../json/json-object.js';
import type { ServerView } from '../upstream/server-view.js';

/** What a tool of the gateway gets when it runs. */
export interface GatewayToolContext {
  readonly view: ServerView;
  readonly signal: AbortSignal;
  /** Calls a tool of a server for the client. */
  readonly callTool: (name: string, args: JsonObject) => Promise<JsonObject>;
}

export interface GatewayTool {
  readonly definition: Tool;
  run(context: GatewayToolContext, args: JsonObject): Promise<JsonObject>;
}

/** The tools under names that are not taken: if a server has a tool of the same name, the gateway's tool gets another name. */
export class GatewayTools {
  readonly #tools: readonly GatewayTool[];
  readonly #isTaken: (name: string) => boolean;

  constructor(tools: readonly GatewayTool[], isTaken: (name: string) => boolean) {
    this.#tools = tools;
    this.#isTaken = isTaken;
  }

  get definitions(): readonly Tool[] {
    return this.#tools.map(({ definition }) => ({
      ...definition,
      name: freeName(definition.name, this.#isTaken),
    }));
  }

  find(name: string): GatewayTool | undefined {
    return this.#tools.find(({ definition }) => freeName(definition.name, this.#isTaken) === name);
  }
}
