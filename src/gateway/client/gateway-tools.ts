/** Tools that the gateway itself offers, in addition to the tools of the servers. */
import type { Tool } from '../../mcp/server-offers.js';
import type { JsonObject } from '../../json/json-object.js';
import type { ServerView } from '../upstream/server-view.js';

/** What a tool of the gateway gets when it runs. */
export interface GatewayToolContext {
  readonly view: ServerView;
  /** The tools of the servers, as the client sees them. */
  readonly tools: readonly Tool[];
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
    return this.#tools.map(({ definition }) => ({ ...definition, name: this.#freeName(definition.name) }));
  }

  find(name: string): GatewayTool | undefined {
    return this.#tools.find(({ definition }) => this.#freeName(definition.name) === name);
  }

  #freeName(wanted: string): string {
    let name = wanted;
    while (this.#isTaken(name)) name = `${name}_`;
    return name;
  }
}
