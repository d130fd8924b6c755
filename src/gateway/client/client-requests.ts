/**
 * The requests of a client: finds the server for each, forwards it under the server's own names, and returns the answer
 * unchanged.
 *
 * Longer than 300 lines because it handles every MCP method; each handler is short.
 */
import { eraOf } from '../../../machines/policy/protocol-era.js';
import { stateInWords } from '../../lifecycle/state-in-words.js';
import type { Tool } from '../../mcp/server-offers.js';
import { JsonRpcError, NotReadyError, UnsupportedError } from '../../errors.js';
import { failureError } from '../../failures/failure-error.js';
import type { Connection, WaitOptions } from '../../servers/connection.js';
import { isJsonObject, type JsonObject } from '../../json/json-object.js';
import type { Clock } from '../../ports.js';
import { RpcError } from '../../protocol/protocol-client.js';
import { settlesWithin } from '../../async/timers.js';
import { unknownTool, whyLeftOut } from '../../requests/unknown-tool.js';
import type { InternalCallOptions } from '../../calls/call.js';
import { argumentsIn } from '../../json/json-arguments.js';
import { ADMIN_TOOLS, GatewayTools } from './gateway-tools.js';
import { RPC } from './client-message.js';
import { invalidParams, toToolAnswer, unknownMethod, unknownResource } from './error-answer.js';
import type { Named, ClientCatalog } from './client-catalog.js';
import { pageOf } from './pages.js';
import type { ServerResource } from './resource-addresses.js';
import type { AskedClient, ClientRequest } from './client-request.js';
import { metaForServer } from './envelope.js';
import { RequestOfClient } from './questions.js';
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
import type { Offer } from '../../search/offer.js';
import { ClientOffer } from './client-offer.js';
import type { Subscriptions } from './subscriptions.js';

/** MCP specification 2025-11-25, "Elicitation", URL elicitation required. */
export const ELICITATION_NEEDED = -32042;

export interface ClientRequestsParts {
  readonly clock: Clock;
  readonly client: AskedClient;
  readonly view: ServerView;
  readonly offering: ClientCatalog;
  readonly subscriptions: Subscriptions;
  /** The lock of a server; undefined if it takes any number of requests at the same time. */
  readonly turnsOf: (server: string) => ClientLock | undefined;
  readonly hasAdminTools: boolean;
  /** Which tools the client is offered at once. Undefined: all. */
  readonly offer: Offer | undefined;
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
  readonly #offer: ClientOffer;
  #isStarted = false;

  constructor(parts: ClientRequestsParts) {
    this.#parts = parts;
    const { offering, hasAdminTools, offer, view } = parts;
    this.#offer = new ClientOffer(offering, view, offer);
    this.#own = new GatewayTools(
      hasAdminTools ? ADMIN_TOOLS : [],
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
    const own = this.#own.find(name) ?? this.#offer.find(name);
    if (own === undefined) return this.#callServer(request, name, args);
    const callTool = (called: string, given: JsonObject): Promise<JsonObject> =>
      this.#callServer(request, called, given);
    return own.run({ view, signal: request.signal, callTool }, args);
  }

  async #callServer(request: ClientRequest, name: string, args: JsonObject): Promise<JsonObject> {
    const { offering } = this.#parts;
    try {
      const tool = offering.tool(name) ?? (await this.#onceWorking(name, request.signal));
      if (tool === undefined) throw this.#unknownTool(name);
      return await this.#sendCall(request, name, tool, args);
    } catch (error) {
      this.#awaitElicitations(this.#askedBy(request), error);
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
    await this.watch(uriOf(request), this.#parts.subscriptions, { signal: request.signal });
    return {};
  }

  /** Subscribes to the resource with that address. Rejects as a request does. */
  async watch(uri: string, subscriptions: Subscriptions, options: WaitOptions): Promise<void> {
    if (uri === STATUS_URI) {
      subscriptions.toStatus = true;
      return;
    }
    const resource = await this.#resource(uri);
    await subscriptions.add(uri, resource, options).catch(this.#toUnknown(resource.server, uri));
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
    const { _meta: _m, inputResponses: _i, requestState: _s, ...params } = request.params;
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
    if (request.asked !== undefined && request.params['requestState'] !== undefined)
      await requireRounds(connection, request.signal);
    const { offering, turnsOf } = this.#parts;
    const leave = await turnsOf(server)?.take(server, this.#askedBy(request), request.signal);
    try {
      return offering.addresses.addressed(server, await send(connection));
    } finally {
      leave?.();
    }
  }

  #optionsOf(
    request: ClientRequest,
  ): Pick<InternalCallOptions, 'context' | 'headers' | 'onProgress' | 'round'> {
    const client = this.#askedBy(request);
    const { _meta: meta } = request.params;
    const token = isJsonObject(meta) ? meta['progressToken'] : undefined;
    const { headers } = request;
    const context = new RequestOfClient(client, request);
    const round = roundOf(request);
    if (typeof token !== 'string' && typeof token !== 'number') return { context, headers, round };
    return {
      context,
      headers,
      round,
      onProgress: (progress) => client.notifyProgress(token, progress, request.id),
    };
  }

  #askedBy({ asked }: ClientRequest): AskedClient {
    return asked ?? this.#parts.client;
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
    return [...this.#offer.tools, ...this.#own.definitions];
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
    const { view, offering } = this.#parts;
    const tool = name.slice(0, 200);
    const server = offering.serverNamedBy(name, view.unseen);
    if (server !== undefined) return needsSession(server, tool);
    const away = notWorking(view.statuses);
    const { message } = whyLeftOut(tool, view.statuses) ?? unknownTool(tool, away);
    const data = { tool, ...(away.length === 0 ? {} : { servers: outcomesOf(away) }) };
    return view.whyHeld(name) ?? new RpcError(RPC.invalidParams, message, data);
  }

  /** A server may refuse a call until a person has visited an address, and report when that is done. */
  #awaitElicitations(client: AskedClient, error: unknown): void {
    if (!(error instanceof JsonRpcError) || error.rpcCode !== ELICITATION_NEEDED) return;
    const { elicitations } = isJsonObject(error.data) ? error.data : {};
    for (const each of Array.isArray(elicitations) ? elicitations : []) {
      const id: unknown = isJsonObject(each) ? each['elicitationId'] : undefined;
      if (typeof id === 'string') client.awaits(error.server ?? '', id);
    }
  }
}

function needsSession(server: string, tool: string): RpcError {
  const message = `No server offers this client a tool called '${tool}'. '${server}' keeps something for each client (isolation: 'per-session'), so only clients with a session, or with a subject of their own, can use its tools.`;
  return new RpcError(RPC.invalidParams, message, { tool, server, reason: 'needs-session' });
}

function uriOf({ params }: ClientRequest): string {
  const { uri } = params;
  if (typeof uri === 'string' && uri !== '') return uri;
  throw invalidParams("'uri' is not a string");
}

/** The client's `_meta` without what belongs to the client's request alone. */
function metaOf({ _meta: meta }: JsonObject): JsonObject | undefined {
  return isJsonObject(meta) ? metaForServer(meta) : undefined;
}

/** What a request without a session adds for a server that makes its rounds with the client itself. */
function roundOf({ params, asked }: ClientRequest): JsonObject | undefined {
  if (asked === undefined) return undefined;
  const { inputResponses, requestState } = params;
  return {
    ...(inputResponses !== undefined && { inputResponses }),
    ...(requestState !== undefined && { requestState }),
  };
}

/** Only servers of the new era give states. Those for the questions of other servers are known to the gateway alone. */
async function requireRounds(connection: Connection, signal: AbortSignal): Promise<void> {
  if (connection.status.protocolVersion === null) await connection.ready({ signal });
  if (eraOf(connection.status.protocolVersion) === 'old') throw UNKNOWN_STATE;
}

const UNKNOWN_STATE = new RpcError(
  RPC.invalidParams,
  "'requestState' is unknown: it was used before, is too old, or belongs to another process of the gateway. Send the request without it.",
  { reason: 'unknown-request-state' },
);
