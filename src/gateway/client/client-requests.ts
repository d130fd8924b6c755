/**
 * The requests of a client: finds the server for each, forwards it under the server's own names, and returns the answer
 * unchanged.
 *
 * Longer than 300 lines because it handles every MCP method; each handler is short.
 */
import { stateInWords } from '../../lifecycle/state-in-words.js';
import type { Tool } from '../../mcp/server-offers.js';
import { JsonRpcError, NotReadyError, UnsupportedError } from '../../errors.js';
import { failureError } from '../../failures/failure-error.js';
import type { Connection } from '../../servers/connection.js';
import { isJsonObject, type JsonObject } from '../../json/json-object.js';
import type { Clock } from '../../ports.js';
import { RpcError, type Progress } from '../../protocol/protocol-client.js';
import { settlesWithin } from '../../async/timers.js';
import { unknownTool, whyLeftOut } from '../../requests/unknown-tool.js';
import type { InternalCallOptions } from '../../calls/call.js';
import { argumentsIn } from '../../calls/call-problem.js';
import { ADMIN_TOOLS, GatewayTools, SEARCH_TOOLS } from './gateway-tools.js';
import { RPC } from './client-message.js';
import { invalidParams, toToolAnswer, unknownMethod, unknownResource } from './error-answer.js';
import type { Named, ClientCatalog } from './client-catalog.js';
import { pageOf } from './pages.js';
import type { ServerResource } from './resource-addresses.js';
import { RequestOfClient, type AskedClient } from './questions.js';
import type { ClientRequest } from './rpc-link.js';
import {
  notWorking,
  outcomesOf,
  SERVERS_META,
  whyNotAll,
  readStatus,
  STATUS_RESOURCE,
  STATUS_URI,
  type ServerOutcome,
} from './server-outcomes.js';
import type { ServerView } from '../upstream/server-view.js';
import type { ClientLock } from '../upstream/client-lock.js';
import type { Subscriptions } from './subscriptions.js';

/** MCP specification 2025-11-25, "Elicitation", URL elicitation required. */
const ELICITATION_NEEDED = -32042;

export interface ClientRequestsParts {
  readonly clock: Clock;
  readonly client: AskedClient;
  readonly view: ServerView;
  readonly offering: ClientCatalog;
  readonly subscriptions: Subscriptions;
  /** The lock of a server; undefined if it takes any number of requests at the same time. */
  readonly turnsOf: (server: string) => ClientLock | undefined;
  readonly reportProgress: (token: string | number, progress: Progress, request: ClientRequest) => void;
  readonly hasAdminTools: boolean;
  /** The client sees the tools for searching instead of the tools of the servers. */
  readonly isSearched: boolean;
  readonly isFailClosed: boolean;
  /** Maximum wait for lists that are being read, milliseconds. */
  readonly listGateMs: number;
  /** Maximum number of list entries in one answer. */
  readonly pageSize: number;
  /** The instructions of the server that the client got with the answer to `initialize`. */
  readonly instructed: (server: string) => string | undefined;
}

type Handler = (request: ClientRequest) => Promise<JsonObject>;

const NAME = ({ name }: { readonly name: string }): string => name;

export class ClientRequests {
  readonly #parts: ClientRequestsParts;
  readonly #handlers: ReadonlyMap<string, Handler>;
  readonly #own: GatewayTools;
  #isStarted = false;

  constructor(parts: ClientRequestsParts) {
    this.#parts = parts;
    const { offering, hasAdminTools, isSearched } = parts;
    this.#own = new GatewayTools(
      [...(isSearched ? SEARCH_TOOLS : []), ...(hasAdminTools ? ADMIN_TOOLS : [])],
      (name) => offering.tool(name) !== undefined,
    );
    this.#handlers = new Map<string, Handler>([
      ['tools/call', (request) => this.#callTool(request)],
      ['tools/list', (request) => this.#list(request, 'tools', () => this.#tools(), NAME)],
      [
        'resources/list',
        (request) =>
          this.#listExtras(
            request,
            'resources',
            () => [STATUS_RESOURCE, ...offering.addresses.resources.filter(({ uri }) => uri !== STATUS_URI)],
            ({ uri }) => uri,
          ),
      ],
      [
        'resources/templates/list',
        (request) =>
          this.#listExtras(
            request,
            'resourceTemplates',
            () => offering.addresses.resourceTemplates,
            ({ uriTemplate }) => uriTemplate,
          ),
      ],
      ['prompts/list', (request) => this.#listExtras(request, 'prompts', () => offering.lists.prompts, NAME)],
      ['resources/read', (request) => this.#readResource(request)],
      ['resources/subscribe', (request) => this.#subscribe(request)],
      ['resources/unsubscribe', (request) => this.#unsubscribe(request)],
      ['prompts/get', (request) => this.#getPrompt(request)],
      ['completion/complete', (request) => this.#complete(request)],
    ]);
  }

  /** Rejects with an `RpcError`, or with an error of Troupe. */
  answer(request: ClientRequest): Promise<JsonObject> {
    const handler = this.#handlers.get(request.method);
    return handler === undefined ? Promise.reject(unknownMethod(request.method)) : handler(request);
  }

  async #callTool(request: ClientRequest): Promise<JsonObject> {
    const { name } = request.params;
    const args = argumentsIn(request.params['arguments']);
    if (typeof name !== 'string') throw invalidParams("'name' is not a string");
    if (args === undefined) throw invalidParams("'arguments' is not an object");
    const { offering, view } = this.#parts;
    if (offering.tool(name) === undefined) await this.#started();
    const own = this.#own.find(name);
    if (own === undefined) return this.#callServer(request, name, args);
    const callTool = (called: string, given: JsonObject): Promise<JsonObject> =>
      this.#callServer(request, called, given);
    return own.run({ view, tools: offering.lists.tools, signal: request.signal, callTool }, args);
  }

  async #callServer(request: ClientRequest, name: string, args: JsonObject): Promise<JsonObject> {
    const { offering } = this.#parts;
    try {
      const tool = offering.tool(name) ?? (await this.#onceWorking(name, request.signal));
      if (tool === undefined) throw this.#unknownTool(name);
      return await this.#sendCall(request, name, tool, args);
    } catch (error) {
      this.#awaitElicitations(error);
      return toToolAnswer(error);
    }
  }

  #sendCall(request: ClientRequest, exposed: string, tool: Named, args: object): Promise<JsonObject> {
    const { offering } = this.#parts;
    const meta = metaOf(request.params);
    const options: InternalCallOptions = {
      ...this.#optionsOf(request),
      signal: request.givenUp,
      ...(meta && { meta }),
    };
    const refusal = (): Error | undefined => {
      const now = offering.tool(exposed);
      return now?.server === tool.server && now.name === tool.name ? undefined : this.#unknownTool(exposed);
    };
    return this.#inTurn(tool.server, request, (connection) =>
      connection.callOffered(tool.name, args, options, refusal),
    );
  }

  async #readResource(request: ClientRequest): Promise<JsonObject> {
    const uri = uriOf(request);
    if (uri === STATUS_URI) return readStatus(this.#parts.view.statuses);
    const resource = await this.#resource(uri);
    return this.#pass('resources/read', resource.server, request, uri, { uri: resource.uri }).catch(
      this.#toUnknown(resource.server, uri),
    );
  }

  async #subscribe(request: ClientRequest): Promise<JsonObject> {
    const uri = uriOf(request);
    const { subscriptions } = this.#parts;
    if (uri === STATUS_URI) {
      subscriptions.toStatus = true;
      return {};
    }
    const resource = await this.#resource(uri);
    await subscriptions
      .add(uri, resource, { signal: request.signal })
      .catch(this.#toUnknown(resource.server, uri));
    return {};
  }

  async #unsubscribe(request: ClientRequest): Promise<JsonObject> {
    const uri = uriOf(request);
    const { subscriptions } = this.#parts;
    if (uri === STATUS_URI) subscriptions.toStatus = false;
    else await subscriptions.delete(uri, { signal: request.signal });
    return {};
  }

  async #getPrompt(request: ClientRequest): Promise<JsonObject> {
    const { server, name } = await this.#prompt(request.params['name']);
    return this.#pass('prompts/get', server, request, name, { name });
  }

  async #complete(request: ClientRequest): Promise<JsonObject> {
    const { ref } = request.params;
    if (!isJsonObject(ref)) throw invalidParams("'ref' is not an object");
    if (ref['type'] === 'ref/prompt') {
      const { server, name } = await this.#prompt(ref['name']);
      return this.#pass('completion/complete', server, request, name, { ref: { ...ref, name } });
    }
    const { uri } = ref;
    if (ref['type'] !== 'ref/resource' || typeof uri !== 'string') {
      throw invalidParams("'ref' names neither a prompt nor a resource");
    }
    const resource = await this.#resource(uri);
    const own = { ref: { ...ref, uri: resource.uri } };
    return this.#pass('completion/complete', resource.server, request, uri, own);
  }

  /** Forwards a request with these changes. */
  #pass(
    method: 'resources/read' | 'prompts/get' | 'completion/complete',
    server: string,
    request: ClientRequest,
    about: string,
    changes: JsonObject = {},
  ): Promise<JsonObject> {
    const { _meta: _, ...params } = request.params;
    const meta = metaOf(request.params);
    const sent = { ...params, ...changes, ...(meta === undefined ? {} : { _meta: meta }) };
    return this.#inTurn(server, request, (connection) =>
      connection.requests.pass(method, sent, about, { ...this.#optionsOf(request), signal: request.signal }),
    );
  }

  async #inTurn(
    server: string,
    request: ClientRequest,
    send: (connection: Connection) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const connection = this.#parts.view.connection(server);
    if (connection === undefined) throw invalidParams(`there is no server '${server}' any more`);
    const { client, offering, turnsOf } = this.#parts;
    const turns = turnsOf(server);
    const leave = await turns?.take(server, client, request.signal);
    try {
      return offering.addresses.addressed(server, await send(connection));
    } finally {
      leave?.();
    }
  }

  #optionsOf(request: ClientRequest): Pick<InternalCallOptions, 'context' | 'headers' | 'onProgress'> {
    const { client, reportProgress } = this.#parts;
    const { _meta: meta } = request.params;
    const token = isJsonObject(meta) ? meta['progressToken'] : undefined;
    const { headers } = request;
    const context = new RequestOfClient(client, request);
    if (typeof token !== 'string' && typeof token !== 'number') return { context, headers };
    return { context, headers, onProgress: (progress) => reportProgress(token, progress, request) };
  }

  async #list<T>(
    { params, signal }: ClientRequest,
    list: string,
    all: () => readonly T[],
    keyOf: (entry: T) => string,
  ): Promise<JsonObject> {
    const { view, isFailClosed, pageSize } = this.#parts;
    await (isFailClosed ? view.whenTried(signal) : this.#started());
    const { statuses } = view;
    const why = isFailClosed ? whyNotAll(statuses) : undefined;
    if (why !== undefined) throw why;
    const { entries, ...next } = pageOf({ list, entries: all(), keyOf, pageSize }, params['cursor']);
    return { [list]: entries, ...next, _meta: { [SERVERS_META]: this.#outcomes() } };
  }

  /** The outcomes, with the instructions that came too late for the answer to `initialize`. */
  #outcomes(): Readonly<Record<string, ServerOutcome>> {
    const { view, instructed } = this.#parts;
    const outcomes = Object.entries(outcomesOf(view.statuses)).map(([server, outcome]) => {
      const instructions = view.instructions(server) ?? '';
      const isNew = instructions !== '' && instructions !== instructed(server);
      return [server, isNew ? { ...outcome, instructions } : outcome];
    });
    return Object.fromEntries(outcomes) as Record<string, ServerOutcome>;
  }

  async #listExtras<T>(
    request: ClientRequest,
    list: string,
    all: () => readonly T[],
    keyOf: (entry: T) => string,
  ): Promise<JsonObject> {
    await this.#listed();
    return this.#list(request, list, all, keyOf);
  }

  #tools(): readonly Tool[] {
    const { offering, isSearched } = this.#parts;
    return [...(isSearched ? [] : offering.lists.tools), ...this.#own.definitions];
  }

  async #started(): Promise<void> {
    if (this.#isStarted) return;
    await this.#parts.view.whenToolsKnown();
    this.#isStarted = true;
  }

  /** Lists other than the tools arrive shortly after a server is ready, unless an earlier run has cached them. */
  async #listed(): Promise<void> {
    await this.#started();
    const { clock, listGateMs, view } = this.#parts;
    const waiting = new AbortController();
    await settlesWithin(clock, listGateMs, view.whenListed(waiting.signal));
    waiting.abort();
  }

  async #prompt(name: unknown): Promise<Named> {
    if (typeof name !== 'string') throw invalidParams('the name of the prompt is not a string');
    const { offering } = this.#parts;
    const found = offering.prompt(name) ?? (await this.#onceListed(() => offering.prompt(name)));
    if (found === undefined) throw invalidParams(`no server has a prompt called '${name.slice(0, 200)}'`);
    return found;
  }

  /**
   * The resource, or resource template, of that address. If only one server has resources, that one decides whether it
   * knows the address.
   */
  async #resource(uri: string): Promise<ServerResource> {
    const { offering, view } = this.#parts;
    const look = (): readonly ServerResource[] | undefined => {
      const found = offering.addresses.find(uri);
      return found.length === 0 ? undefined : found;
    };
    const [only, ...others] = look() ?? (await this.#onceListed(look)) ?? [];
    if (only !== undefined && others.length > 0) {
      const addresses = [only, ...others].map((resource) => offering.addresses.qualified(resource));
      throw invalidParams(`several servers have that resource: use one of ${addresses.join(', ')}`);
    }
    if (only !== undefined) return only;
    const [server, ...more] = view.servers;
    if (server !== undefined && more.length === 0) return { server, uri };
    const away = notWorking(view.statuses);
    const about = away.length === 0 ? {} : { servers: outcomesOf(away) };
    throw unknownResource(uri, 'No server lists that resource, and no template fits it.', about);
  }

  /**
   * The tool, if its presumed server becomes ready within the time for lists. Rejects with the cause if that server
   * fails.
   */
  async #onceWorking(name: string, signal: AbortSignal): Promise<Named | undefined> {
    const { clock, listGateMs, offering, view } = this.#parts;
    const away = notWorking(view.statuses);
    const server = offering.serverNamedBy(name, view.servers);
    const connection = away.some((status) => status.server === server)
      ? view.connection(server ?? '')
      : undefined;
    if (server === undefined || connection === undefined) return undefined;
    const waiting = new AbortController();
    const ready = connection.ready({ signal: AbortSignal.any([signal, waiting.signal]) });
    if (await settlesWithin(clock, listGateMs, ready)) {
      await ready;
      return offering.tool(name);
    }
    waiting.abort();
    const { error } = connection.status;
    throw error === null
      ? new NotReadyError(`'${server}' is still ${stateInWords(connection.status)}.`, { server })
      : failureError(error, server);
  }

  /** A server without resources cannot have this one: only the gateway itself reports resources. */
  #toUnknown(server: string, uri: string): (error: unknown) => never {
    return (error) => {
      const hasNone = this.#parts.view.connection(server)?.status.capabilities?.resources === undefined;
      if (!(error instanceof UnsupportedError) || !hasNone) throw error;
      throw unknownResource(uri, 'The server has no resources.');
    };
  }

  async #onceListed<T>(look: () => T | undefined): Promise<T | undefined> {
    await this.#listed();
    return look();
  }

  /** A server that does not work may be the one that has it. */
  #unknownTool(name: string): Error {
    const { view } = this.#parts;
    const tool = name.slice(0, 200);
    const away = notWorking(view.statuses);
    const { message } = whyLeftOut(tool, view.statuses) ?? unknownTool(tool, away);
    const data = { tool, ...(away.length === 0 ? {} : { servers: outcomesOf(away) }) };
    return view.whyHeld(name) ?? new RpcError(RPC.invalidParams, message, data);
  }

  /** A server may refuse a call until a person has visited an address, and report when that is done. */
  #awaitElicitations(error: unknown): void {
    if (!(error instanceof JsonRpcError) || error.rpcCode !== ELICITATION_NEEDED) return;
    const { elicitations } = isJsonObject(error.data) ? error.data : {};
    for (const each of Array.isArray(elicitations) ? elicitations : []) {
      const id: unknown = isJsonObject(each) ? each['elicitationId'] : undefined;
      if (typeof id === 'string') this.#parts.client.awaits(error.server ?? '', id);
    }
  }
}

function uriOf({ params }: ClientRequest): string {
  const { uri } = params;
  if (typeof uri === 'string' && uri !== '') return uri;
  throw invalidParams("'uri' is not a string");
}

/** The client's `_meta` without the progress token, which belongs to the client's request. */
function metaOf(params: JsonObject): JsonObject | undefined {
  if (!isJsonObject(params['_meta'])) return undefined;
  const { progressToken: _, ...meta } = params['_meta'];
  return Object.keys(meta).length === 0 ? undefined : meta;
}
