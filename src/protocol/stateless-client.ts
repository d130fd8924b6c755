/**
 * The protocol client for MCP 2026-07-28, which has no sessions: every request carries the version and the capabilities,
 * servers ask by answering with questions (`input-rounds.ts`), and changes come on a stream that is asked for.
 *
 * Requests of the old era that have another form here are accepted all the same, so that the rest of the runtime need not
 * know the era: a ping becomes `server/discover`, a log level goes into the `_meta` of later requests, and a subscription
 * becomes part of what `listen` asks for. Longer than 300 lines because of these translations.
 */
import type { RequestId } from '../mcp/messages.js';
import type { ServerCapabilities } from '../mcp/session.js';
import type { ServerIdentity } from '../../machines/connection/connection.events.js';
import { NEW_VERSION } from '../../machines/policy/protocol-era.js';
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { cutText } from '../text/visible-text.js';
import { toError } from '../text/error-message.js';
import type { SendOptions, SessionTransport } from '../transports/session-transport.js';
import { UNSUPPORTED_PROTOCOL_VERSION } from '../transports/json-rpc.js';
import type { RawFailure } from '../failures/transport-error.js';
import type { AbortListener, AbortSignalLike } from '../async/abort.js';
import { resultWithoutNulls } from './absent-nulls.js';
import type { Inbound, InboundRequest } from './inbound-message.js';
import { checked, inRounds } from './input-rounds.js';
import { followTask, isTask, taskIn, TASKS, type Task } from './tasks.js';
import { cancellationOf, MessageClient, ownId, withMeta, type Answer } from './message-client.js';
import { mirroredArguments, requestHeaders, type MirroredArgument } from './mirrored-headers.js';
import {
  METHOD_NOT_FOUND,
  ProtocolFailure,
  RequestLostError,
  RpcError,
  type Listening,
  type ProtocolClient,
  type ProtocolClientOptions,
  type RequestOptions,
} from './protocol-client.js';
import { systemClock, type Clock } from '../ports.js';
import { withinLimit } from '../async/timers.js';
import { META_PREFIX, parseDiscoverResult, versionRefusal } from './server-identity.js';
import { asText } from '../text/as-text.js';

const DISCOVER = 'server/discover';
const LISTEN = 'subscriptions/listen';
/** MCP 2026-07-28, "Error Codes": the headers of a request differ from its body. */
const HEADER_MISMATCH = -32_020;
/** The requests that say that the client follows tasks. */
const OF_TASKS: ReadonlySet<string> = new Set(['tools/call', 'tasks/get', 'tasks/update', 'tasks/cancel']);
/** Milliseconds for the answer to a cancellation, which nobody waits for. */
const CANCEL_MS = 10_000;
const CLOSED: RawFailure = { code: 'connection-lost', message: 'The stream of changes was closed.' };
const ENDED: RawFailure = { code: 'connection-lost', message: 'The server ended the stream of changes.' };

/** A request for changes that is open. */
interface Open {
  readonly id: number;
  /** `honoured`: the part of the request that the server honours; all of it if it does not say. */
  acknowledged(honoured: unknown): void;
  end(): void;
}

class StatelessClient extends MessageClient {
  readonly #meta: JsonObject;
  /** The same for requests that may become tasks; undefined if the server runs none. */
  #metaOfTasks: JsonObject | undefined;
  #capabilities: ServerCapabilities = {};
  #logLevel: unknown;
  /** URIs of resources whose changes are wanted. */
  readonly #watched = new Set<string>();
  /** Arguments that go into headers, by tool; from the last complete list. */
  #mirrored: ReadonlyMap<string, readonly MirroredArgument[]> = new Map();
  /** The same for the list that is being read. */
  #coming = new Map<string, readonly MirroredArgument[]>();
  #open: Open | undefined;
  /** Questions of servers that are being answered. */
  readonly #asking = new Set<AbortController>();

  constructor(options: ProtocolClientOptions) {
    super(options);
    this.#meta = {
      [`${META_PREFIX}protocolVersion`]: NEW_VERSION,
      [`${META_PREFIX}clientInfo`]: options.clientInfo,
      [`${META_PREFIX}clientCapabilities`]: options.capabilities,
    };
  }

  async open(transport: SessionTransport, signal: AbortSignal): Promise<ServerIdentity> {
    this.attach(transport);
    const { meta } = this.options;
    const params = meta === undefined ? {} : { _meta: meta };
    const discover = (): Promise<JsonObject> =>
      this.#ask(DISCOVER, params, { signal }).catch((error: unknown) => {
        throw (error instanceof RpcError ? versionRefusal(error) : undefined) ?? error;
      });
    const discovered = await discover().catch((error: unknown) => {
      // It supports the very version that it refused: it may take it when it is named a second time.
      if (error instanceof ProtocolFailure && error.versions.includes(NEW_VERSION)) return discover();
      throw error;
    });
    const identity = parseDiscoverResult(discovered);
    this.#capabilities = identity.capabilities;
    if (identity.capabilities.extensions?.[TASKS] !== undefined) this.#takeTasks();
    return identity;
  }

  #takeTasks(): void {
    const { capabilities } = this.options;
    const extensions = { ...capabilities.extensions, [TASKS]: {} };
    const declared = { ...capabilities, extensions };
    this.#metaOfTasks = { ...this.#meta, [`${META_PREFIX}clientCapabilities`]: declared };
    this.follow = (task, options = {}) => this.#follow(task, undefined, options);
  }

  async request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    switch (method) {
      case 'ping':
        return this.#ask(DISCOVER, {}, options);
      case 'logging/setLevel':
        this.#logLevel = params['level'];
        return {};
      case 'resources/subscribe':
        return this.#watch(asText(params['uri']), true);
      case 'resources/unsubscribe':
        return this.#watch(asText(params['uri']), false);
      default:
        return this.#complete(method, params, options);
    }
  }

  /** There are no notifications of the client but cancellations: they would belong to a session. */
  override async notify(): Promise<void> {}

  /** Set if the server runs tasks. */
  follow: ProtocolClient['follow'];

  override abandon(failure: RawFailure): void {
    super.abandon(failure);
    for (const asking of this.#asking) asking.abort(new RequestLostError(failure, true));
  }

  readonly listen = async (signal: AbortSignal): Promise<Listening | undefined> => {
    this.#open?.end();
    const notifications = this.#interest();
    if (Object.keys(notifications).length === 0) return undefined;
    const ending = new AbortController();
    const answer = this.#ask(LISTEN, { notifications }, { signal: ending.signal });
    const id = this.lastRequestId as number;
    const end = (): void => ending.abort(new RequestLostError(CLOSED, true));
    const over = answer.then(
      () => {},
      () => {},
    );
    const acknowledged = new Promise<unknown>((resolve) => {
      this.#open = { id, acknowledged: resolve, end };
    });
    signal.addEventListener('abort', end, { once: true });
    try {
      const early = answer.then(() => Promise.reject(new RequestLostError(ENDED, true)));
      const honoured = await Promise.race([acknowledged, early]);
      const heard = isJsonObject(honoured) ? honoured : notifications;
      return { over, hears: (list) => heard[`${list}ListChanged`] === true };
    } finally {
      signal.removeEventListener('abort', end);
    }
  };

  protected override read(method: string, result: JsonObject): JsonObject {
    return resultWithoutNulls(method, result);
  }

  /** Over HTTP, the end of the exchange is the cancellation. */
  override cancel(id: number): void {
    const { transport } = this;
    if (transport?.drop !== undefined) transport.drop(id);
    else void this.post(cancellationOf(id));
  }

  override mayGoOn(): void {}

  protected override receiveRequest({ method }: InboundRequest): void {
    this.owner?.onoddity?.(
      `The server sent the request ${cutText(method, 100)}, which ${NEW_VERSION} does not allow; it gets no answer.`,
    );
  }

  /** A call that was given up may have become a task in the meantime. */
  protected override receiveAnswer(answer: Answer): void {
    const { id, result } = answer;
    const isLate = this.follow !== undefined && result !== undefined && !this.sent.has(id);
    if (isLate && isTask(result)) this.#cancelTask(asText(result['taskId']));
    super.receiveAnswer(answer);
  }

  protected override receiveCancelled(id: RequestId): void {
    const sent = this.sent.get(ownId(id));
    if (sent?.method === LISTEN) sent.fail(new RequestLostError(ENDED, true));
  }

  protected override receiveNotification(
    came: Extract<Inbound, { kind: 'notification' }>,
    relatedTo: RequestId | undefined,
  ): void {
    if (came.method !== 'notifications/subscriptions/acknowledged') {
      return super.receiveNotification(came, relatedTo);
    }
    const meta = came.params['_meta'];
    const id = (isJsonObject(meta) ? meta[`${META_PREFIX}subscriptionId`] : undefined) ?? relatedTo;
    // Some servers do not say which request they mean.
    if (id === undefined || ownId(id) === this.#open?.id)
      this.#open?.acknowledged(came.params['notifications']);
  }

  async #complete(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    const { signal, round } = options;
    const further = method === 'tools/call' && this.follow !== undefined ? 'task' : undefined;
    const send = async (all: JsonObject): Promise<JsonObject> =>
      checked(method, await this.#askAgain(method, all, options), further);
    const answer = (question: string, about: JsonObject): Promise<JsonObject> =>
      this.#answering(signal, (over) => this.#answer(question, about, options, over));
    const result =
      round === undefined
        ? await inRounds(method, params, { send, answer })
        : await send({ ...params, ...round });
    if (!isTask(result)) return result;
    const task = taskIn(result, this.#clock.now());
    options.watcher?.begun(task);
    return this.#follow(task, result, options);
  }

  async #answer(
    method: string,
    params: JsonObject,
    { origin }: RequestOptions,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const { owner } = this;
    if (owner?.onrequest === undefined) throw new RpcError(METHOD_NOT_FOUND, 'Method not found', undefined);
    return owner.onrequest(method, params, { signal, origin, causes: [origin] });
  }

  async #follow(task: Task, first: JsonObject | undefined, options: RequestOptions): Promise<JsonObject> {
    const { headers, watcher } = options;
    const result = await this.#answering(options.signal, (signal) =>
      followTask(task, first, {
        clock: this.#clock,
        signal,
        watcher,
        ask: (method, params) => this.#ask(method, params, { signal, headers }),
        answer: (method, params) => this.#answer(method, params, options, signal),
        cancel: () => this.#cancelTask(task.id),
      }),
    );
    return checked('tools/call', this.read('tools/call', result));
  }

  /** Nothing depends on the answer. */
  #cancelTask(taskId: string): void {
    const cancel = (signal: AbortSignal): Promise<JsonObject> =>
      this.#ask('tasks/cancel', { taskId }, { signal });
    withinLimit(this.#clock, new AbortController().signal, CANCEL_MS, cancel).catch(() => {});
  }

  get #clock(): Clock {
    return this.options.clock ?? systemClock;
  }

  /** A call whose headers no longer fit is sent once more, with those of the present list of tools. */
  async #askAgain(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    try {
      return await this.#ask(method, params, options);
    } catch (error) {
      if (!(error instanceof RpcError) || error.rpcCode !== HEADER_MISMATCH || method !== 'tools/call')
        throw error;
      await this.#listTools(options.signal);
      return this.#ask(method, params, options);
    }
  }

  async #listTools(signal: AbortSignalLike | undefined): Promise<void> {
    const options = signal === undefined ? {} : { signal };
    const seen = new Set<unknown>();
    let cursor: unknown;
    do {
      seen.add(cursor);
      const page = await this.#ask('tools/list', cursor === undefined ? {} : { cursor }, options);
      cursor = page['nextCursor'];
    } while (typeof cursor === 'string' && !seen.has(cursor));
  }

  /** One exchange. */
  async #ask(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    const level = this.#logLevel === undefined ? undefined : { [`${META_PREFIX}logLevel`]: this.#logLevel };
    const given = params['_meta'] as JsonObject | undefined;
    const meta = OF_TASKS.has(method) ? (this.#metaOfTasks ?? this.#meta) : this.#meta;
    const all = given === undefined && level === undefined ? meta : { ...given, ...meta, ...level };
    const sent = withMeta(params, all);
    try {
      const result = await this.exchange(method, sent, options, this.#how(method, params, options));
      return method === 'tools/list' ? this.#heed(params, result) : result;
    } catch (error) {
      if (error instanceof RpcError && error.rpcCode === UNSUPPORTED_PROTOCOL_VERSION) {
        const refused = versionRefusal(error);
        if (refused !== undefined) this.owner?.onrefused?.(refused);
      }
      throw error;
    }
  }

  get #isOverHttp(): boolean {
    return this.transport?.kind === 'http';
  }

  #how(method: string, params: JsonObject, { headers }: RequestOptions): SendOptions | undefined {
    if (!this.#isOverHttp) return undefined;
    const mirrored = method === 'tools/call' ? this.#mirrored.get(asText(params['name'])) : undefined;
    return { headers, stateless: requestHeaders(NEW_VERSION, method, params, mirrored) };
  }

  /** Learns from a page of tools what goes into headers, and leaves out tools whose schema breaks the rules for that. */
  #heed({ cursor }: JsonObject, page: JsonObject): JsonObject {
    const { tools } = page;
    if (!this.#isOverHttp || !Array.isArray(tools)) return page;
    if (cursor === undefined) this.#coming = new Map();
    const coming = this.#coming;
    const usable = tools.filter((tool: unknown) => {
      if (!isJsonObject(tool)) return true;
      const mirrored = mirroredArguments(tool['inputSchema']);
      if (mirrored === undefined) {
        this.owner?.onoddity?.(
          `The tool '${cutText(asText(tool['name']), 100)}' was left out: its schema uses x-mcp-header wrongly.`,
        );
      } else if (mirrored.length > 0) coming.set(asText(tool['name']), mirrored);
      return mirrored !== undefined;
    });
    if (typeof page['nextCursor'] !== 'string') this.#mirrored = coming;
    return usable.length === tools.length ? page : { ...page, tools: usable };
  }

  #watch(uri: string, isWanted: boolean): JsonObject {
    if (this.#watched.has(uri) === isWanted) return {};
    if (isWanted) this.#watched.add(uri);
    else this.#watched.delete(uri);
    this.owner?.oninterest?.();
    return {};
  }

  /** What to listen to: the changes that the server declares, and the resources that are watched. */
  #interest(): JsonObject {
    const { tools, prompts, resources } = this.#capabilities;
    return {
      ...(tools?.listChanged === true && { toolsListChanged: true }),
      ...(prompts?.listChanged === true && { promptsListChanged: true }),
      ...(resources?.listChanged === true && { resourcesListChanged: true }),
      ...(resources?.subscribe === true &&
        this.#watched.size > 0 && { resourceSubscriptions: [...this.#watched] }),
    };
  }

  /** Runs an answer to a question until it is there, its request is given up, or the client is abandoned. */
  async #answering<T>(
    caller: AbortSignalLike | undefined,
    answer: (over: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const over = new AbortController();
    const listener: AbortListener = { handleEvent: () => over.abort(caller?.reason) };
    if (caller?.aborted === true) listener.handleEvent();
    this.#asking.add(over);
    caller?.addEventListener('abort', listener, { once: true });
    try {
      return await answer(over.signal);
    } catch (error) {
      throw over.signal.aborted ? toError(over.signal.reason) : error;
    } finally {
      caller?.removeEventListener('abort', listener);
      this.#asking.delete(over);
    }
  }
}

export function createStatelessClient(options: ProtocolClientOptions): ProtocolClient {
  return new StatelessClient(options);
}
