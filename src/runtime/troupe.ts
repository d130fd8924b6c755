/**
 * The façade: what a host calls. `composition.ts` creates the parts and connects them; the charts decide about the lifecycle
 * of a connection.
 *
 * Longer than 300 lines because it documents every method of the public API, with an example each; the methods are short.
 */
import type { CallToolResult, GetPromptResult, ReadResourceResult } from '../mcp/server-offers.js';
import type { LoggingLevel } from '../mcp/session.js';
import { hasTag } from '../../machines/connection/connection.states.js';
import { filter, type Observable } from '../lifecycle/rx.js';
import { CALL_OPTIONS, type CallOptions } from '../calls/call.js';
import { callProblem } from '../calls/call-problem.js';
import { Deadline, limitsOf } from '../calls/deadline.js';
import { mayBeOf, uncontestedNames } from '../catalog/naming.js';
import { serverMeant, toolMeant } from '../catalog/tool-methods.js';
import type { RenderedResult } from '../results/render-result.js';
import type { ResultOptions } from './results.js';
import { abortable } from '../async/abort.js';
import type { CatalogPrompt } from '../catalog/prompt.js';
import type { CatalogTool } from '../catalog/registry.js';
import type { RemovedTool } from '../catalog/vanished.js';
import { resourceIn, type CatalogResource, type CatalogResourceTemplate } from '../catalog/resource.js';
import { checkOptions, checkViewOptions } from './check-options.js';
import { WAIT_OPTIONS, type Connection, type WaitOptions } from '../servers/connection.js';
import { optionProblem, requireKnown, requireKnownName, type OptionNames } from '../text/option-names.js';
import { CallAbortedError, ConfigError, NotReadyError, type ToolHeldError } from '../errors.js';
import { messageOf } from '../text/error-message.js';
import type { RecordTarget, Recording } from '../event-log/record/record-options.js';
import {
  EVENTS_OPTIONS,
  EventFeed,
  nextEvent,
  ONCE_OPTIONS,
  requireEventType,
  type EventOf,
  type EventsOptions,
  type OnceOptions,
} from '../lifecycle/event-feed.js';
import type { Stream } from '../lifecycle/stream.js';
import {
  isDiagnostic,
  type DiagnosticEvent,
  type LifecycleEvent,
  type LifecycleEventType,
} from '../lifecycle/event.js';
import type { ServerStatus } from '../lifecycle/status.js';
import type { TroupeOptions } from '../options.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import type { Inspection, InspectOptions } from '../inspector/inspection.js';
import { closedError } from '../lifecycle/lifetime.js';
import { settlesWithin } from '../async/timers.js';
import { describeProblem } from '../config/entry/problem.js';
import type { LoadedConfig } from '../servers/load-config.js';
import type { Server } from '../servers/server.js';
import type { ReloadReport } from '../servers/reload-report.js';
import type { Review } from '../review/tool-review.js';
import { toStartReport, type StartReport } from './start-report.js';
import type { TroupeAccess, TroupeInternals } from './internals.js';
import { notifySessions } from '../server-requests/server-requests.js';
import { atExit } from '../async/exit-hook.js';
import type {
  Completion,
  CompletionArgument,
  CompletionOptions,
  CompletionRef,
} from '../requests/connection-requests.js';
import type { RequestOptions } from '../requests/request.js';
import type { ServerScope, ResourceOptions } from '../requests/troupe-requests.js';
import { unknownTool, whyReplaced } from '../requests/unknown-tool.js';
import type { FoundTool, ToolSearchOptions } from '../search/tool-search.js';
import {
  typedTools,
  type MethodScope,
  type ResultOf,
  type ToolTypes,
  type TypedTools,
} from './typed-tools.js';
import { untilSettled } from './wait-settled.js';
import { compose, type TroupeParts } from './composition.js';
import { View, type ViewOptions } from './view.js';

/** Longest time `close()` waits for the charts before it kills what is left. */
const CLOSE_LIMIT_MS = 10_000;
/** Longest time it waits for the kill. */
const KILL_LIMIT_MS = 2_000;

/** A list of a troupe that changes. */
export type TroupeList = 'status' | 'tools' | 'resources' | 'resourceTemplates' | 'prompts';

const LISTS: { readonly [L in TroupeList]: true } = {
  status: true,
  tools: true,
  resources: true,
  resourceTemplates: true,
  prompts: true,
};

/** The supervised MCP connections of one host. Made by `createTroupe`. */
export class Troupe {
  /** Everything that happens. Hot; never replays. */
  readonly events$: Stream<LifecycleEvent>;
  /** The `diagnostic` events among them. */
  readonly diagnostics$: Stream<DiagnosticEvent>;
  /** One row per server: replays the present rows and emits when one has changed. The others stay the same objects. */
  readonly status$: Stream<readonly ServerStatus[]>;
  /** The tools as a model sees them; replays the present list. */
  readonly tools$: Stream<readonly CatalogTool[]>;
  /** The resources of all servers; replays the present list. They come a moment after a server is ready: see `settled`. */
  readonly resources$: Stream<readonly CatalogResource[]>;
  /** The resource templates of all servers; replays the present list. */
  readonly resourceTemplates$: Stream<readonly CatalogResourceTemplate[]>;
  /** The prompts of all servers; replays the present list. */
  readonly prompts$: Stream<readonly CatalogPrompt[]>;
  /** The tools that are held back because they differ from what was accepted; see the option of that name. */
  readonly review: Review;
  /** @internal */
  readonly inside: TroupeAccess;
  readonly #parts: TroupeParts;
  readonly #hasRoots: boolean;
  #started: Promise<StartReport> | undefined;
  #closed: Promise<void> | undefined;
  #forgetExit: (() => void) | undefined;

  /** @param options As in `createTroupe`, which checks them; the constructor does not. */
  constructor(options: TroupeOptions);
  /** @internal */
  constructor(options: TroupeOptions, internals: TroupeInternals);
  constructor(options: TroupeOptions, internals: TroupeInternals = {}) {
    this.#parts = compose(options, internals);
    this.#hasRoots = options.handlers?.roots !== undefined;
    const { publisher, access, review } = this.#parts;
    this.inside = access;
    this.review = review;
    this.events$ = publisher.events$;
    this.diagnostics$ = this.events$.pipe(filter(isDiagnostic));
    this.tools$ = publisher.live(() => this.tools);
    this.status$ = publisher.live(() => this.status);
    this.resources$ = publisher.live(() => this.resources);
    this.resourceTemplates$ = publisher.live(() => this.resourceTemplates);
    this.prompts$ = publisher.live(() => this.prompts);
  }

  /**
   * The events from now on, for `for await`. The loop ends when the troupe is closed; leaving it unsubscribes. If it is so
   * slow that events are left out, `seq` shows the gap, and a `diagnostic` of the kind `events-left-out` says so.
   *
   * @param options A signal that ends the loop, and how many events may wait. Default: no signal, and 1,000 events.
   *
   * @throws `TypeError` for an option that makes no sense.
   * @throws The reason of the signal in the loop, if it aborts.
   *
   * @example
   * ```ts
   * for await (const event of troupe.events()) {
   *   if (event.type === 'connection.failed') console.warn(event.server, event.failure.message);
   * }
   * ```
   */
  events(options: EventsOptions = {}): AsyncIterableIterator<LifecycleEvent, undefined> {
    requireKnown('events', options, EVENTS_OPTIONS);
    const { publisher } = this.#parts;
    const message =
      "A loop over events() is slower than the events: the oldest are left out, as 'seq' shows.";
    return new EventFeed(publisher.events$, options, () =>
      publisher.publish({ type: 'diagnostic', kind: 'events-left-out', message }),
    );
  }

  /**
   * Resolves with the next event of that type.
   *
   * @typeParam T The type of the event.
   * @param type The type, for instance `connection.ready`.
   * @param options Which event of the type, and a signal that ends the wait. Default: the next one, and no signal.
   *
   * @throws {@link NotReadyError} if the troupe closes before.
   * @throws `TypeError` if no event has that type.
   * @throws The reason of the signal, if it aborts.
   *
   * @example
   * ```ts
   * const { generation } = await troupe.once('connection.ready', { filter: ({ server }) => server === 'fs' });
   * ```
   */
  async once<T extends LifecycleEventType>(type: T, options: OnceOptions<T> = {}): Promise<EventOf<T>> {
    requireEventType('once', type);
    requireKnown('once', options, ONCE_OPTIONS as OptionNames<OnceOptions<T>>);
    return nextEvent(this.#parts.publisher.events$, type, options);
  }

  /**
   * Calls a function for every event of that type until the returned function is called, or the troupe is closed.
   *
   * @typeParam T The type of the event.
   * @param type The type, for instance `connection.ready`.
   * @param listener Its errors are logged and have no other effect.
   *
   * @throws `TypeError` if no event has that type.
   *
   * @example
   * ```ts
   * const stop = troupe.on('connection.failed', ({ server, failure }) => console.warn(server, failure.message));
   * ```
   */
  on<T extends LifecycleEventType>(type: T, listener: (event: EventOf<T>) => void): () => void {
    requireEventType('on', type);
    const subscription = this.#parts.publisher.events$.subscribe((event) =>
      event.type === type ? listener(event as EventOf<T>) : undefined,
    );
    return () => subscription.unsubscribe();
  }

  /**
   * Calls a function with a list of the troupe now, and whenever the list has changed, until the returned function is
   * called or the troupe is closed.
   *
   * @typeParam L The name of the list.
   * @param list Name of the list, such as `status` or `tools`.
   * @param listener Its errors are logged and have no other effect.
   *
   * @throws `TypeError` if there is no such list.
   *
   * @example
   * ```ts
   * const stop = troupe.onChange('status', (rows) => console.table(rows, ['server', 'state']));
   * ```
   */
  onChange<L extends TroupeList>(list: L, listener: (value: Troupe[L]) => void): () => void {
    requireKnownName('onChange', 'list', list, LISTS);
    const live = this[`${list}$`] as Observable<Troupe[L]>;
    const subscription = live.subscribe(listener);
    return () => subscription.unsubscribe();
  }

  /** One row per server, in the order of the configuration. A row that has not changed is the same object as before. */
  get status(): readonly ServerStatus[] {
    return this.#parts.servers.statuses;
  }

  /** The tools as a model sees them, sorted by server and name, without those that are held back. The same list until it changes. */
  get tools(): readonly CatalogTool[] {
    return this.#parts.registry.tools;
  }

  /**
   * The tool of that name for the model; undefined if there is none.
   *
   * @param name The name for the model, as in `tools`, for instance `mcp__fs__read_file`.
   *
   * @example
   * ```ts
   * const tool = troupe.tool('mcp__fs__read_file');
   * ```
   */
  tool(name: string): CatalogTool | undefined {
    return this.#parts.registry.tool(name);
  }

  /**
   * Finds tools by words of their names, titles, descriptions and parameters: the best matches first, with their scores.
   * Matches beginnings and other forms of English words, and tolerates typing errors. Tools of a server that is not started, or
   * known only from an earlier run, are found as well; only a call starts it. The answer depends only on the tools and the
   * query. The ranking is BM25+ ({@link https://github.com/lucaong/minisearch | MiniSearch}).
   *
   * @param query Words that describe what the tool does.
   * @param options Maximum number of tools, and the servers to search. Default: five tools of all servers.
   *
   * @throws `TypeError` for a query that is not a string, or an invalid limit.
   *
   * @example
   * ```ts
   * const [best] = await troupe.searchTools('create an issue', { limit: 3 });
   * console.log(best?.tool.name, best?.score);
   * ```
   */
  searchTools(query: string, options: ToolSearchOptions = {}): Promise<readonly FoundTool[]> {
    return this.#parts.search.search(query, options);
  }

  /** Sorted by server and URI. Those of a connection that is away stay, marked stale. */
  get resources(): readonly CatalogResource[] {
    return this.#parts.lists.resources;
  }

  /** Sorted by server and URI template. */
  get resourceTemplates(): readonly CatalogResourceTemplate[] {
    return this.#parts.lists.resourceTemplates;
  }

  /** Sorted by server and the server's own name for them. */
  get prompts(): readonly CatalogPrompt[] {
    return this.#parts.lists.prompts;
  }

  /**
   * The listed resource with that URI, of that server if one is given; undefined if there is none or more than one.
   *
   * @param uri The resource's URI, exactly as the server lists it.
   * @param server Name of the server. Default: any server, if only one lists the URI.
   *
   * @example
   * ```ts
   * const resource = troupe.resource('file:///README.md', 'fs');
   * ```
   */
  resource(uri: string, server?: string): CatalogResource | undefined {
    return resourceIn(this.resources, uri, server);
  }

  /**
   * The prompt of that exposed name; undefined if there is none.
   *
   * @param name The exposed name, as in `prompts`, for instance `mcp__git__commit_message`.
   *
   * @example
   * ```ts
   * const prompt = troupe.prompt('mcp__git__commit_message');
   * ```
   */
  prompt(name: string): CatalogPrompt | undefined {
    return this.#parts.lists.prompt(name);
  }

  /**
   * The handle of a configured server; undefined if there is no such server.
   *
   * @param name The server's name in the configuration.
   *
   * @example
   * ```ts
   * await troupe.connection('fs')?.restart();
   * ```
   */
  connection(name: string): Connection | undefined {
    return this.#parts.servers.get(name)?.connection;
  }

  /**
   * Reads the configuration and starts every enabled server at the same time. Resolves when the first attempt of each
   * server is over, or after the start gate; what an earlier run has cached changes neither when nor what it reports. Cached
   * tools are in the list before any server is started: `listed` waits only for the list. Never rejects for a server. A
   * second call gives the first promise. The signal ends the wait, not the start.
   *
   * @param options A signal that ends the wait, but not the operation. Default: no signal.
   *
   * @throws {@link ConfigError} if a file that `config` names cannot be read and is not `optional`. Nothing was started, and
   *   the troupe is closed.
   * @throws {@link NotReadyError} after `close`.
   * @throws The reason of the signal, if it aborts.
   *
   * @example
   * ```ts
   * const report = await troupe.start();
   * for (const { server, failure } of report.failed) console.warn(server, failure.message);
   * ```
   */
  start(options: WaitOptions = {}): Promise<StartReport> {
    const problem = optionProblem('start', options, WAIT_OPTIONS);
    if (problem !== undefined) return Promise.reject(problem);
    const { signal } = options;
    if (this.#parts.lifetime.isClosed) return Promise.reject(closedError());
    this.#started ??= this.#start();
    return signal === undefined ? this.#started : abortable(this.#started, signal);
  }

  /**
   * Starts the troupe, and resolves with its tools as soon as there is something to offer for each server: its tools of an
   * earlier run or of this one, or the failure of its first attempt. A call of a tool waits for its server. Resolves after
   * the start gate at the latest.
   *
   * @param options A signal that ends the wait, but not the start. Default: no signal.
   *
   * @throws What `start` throws.
   *
   * @example
   * ```ts
   * const tools = await troupe.listed();
   * ```
   */
  async listed(options: WaitOptions = {}): Promise<readonly CatalogTool[]> {
    requireKnown('listed', options, WAIT_OPTIONS);
    const { cache, lifetime, publisher, servers } = this.#parts;
    const started = this.start(options);
    const waiting = new AbortController();
    const isOffered = ({ name, present }: Server): boolean =>
      cache?.hasRecalled(name) === true || hasTag(present, 'attempted');
    const areOffered = (): boolean =>
      lifetime.hasStarted && !lifetime.isClosed && servers.enabled.every(isOffered);
    try {
      await Promise.race([started, publisher.until(areOffered, waiting.signal)]);
    } finally {
      waiting.abort();
    }
    return this.tools;
  }

  /**
   * Starts the troupe, and resolves with its report when every server is ready with all its lists read, is stopped or
   * dormant, waits for a person, or has failed, even if it tries again by then.
   *
   * @param options A signal that ends the wait, but not the connections. Default: no signal.
   *
   * @throws {@link NotReadyError} if the troupe closes before.
   * @throws What `start` throws.
   *
   * @example
   * ```ts
   * const { failed } = await troupe.settled({ signal: AbortSignal.timeout(60_000) });
   * for (const { server, failure } of failed) console.warn(server, failure.message);
   * ```
   */
  async settled(options: WaitOptions = {}): Promise<StartReport> {
    requireKnown('settled', options, WAIT_OPTIONS);
    const first = await this.start(options);
    await untilSettled(
      { publisher: this.#parts.publisher, connections: () => this.#parts.servers.connections },
      options.signal,
    );
    return toStartReport(this.status, first);
  }

  /**
   * Adds a server, and starts it if the troupe has started.
   *
   * @param name Name of the new server. It must not be configured already.
   * @param config The entry, as in `servers` of `createTroupe`.
   *
   * @throws {@link ConfigError} for a known name or an entry that cannot be used.
   * @throws {@link NotReadyError} after `close`.
   *
   * @example
   * ```ts
   * const connection = await troupe.add('fs', { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] });
   * await connection.ready();
   * ```
   */
  add(name: string, config: ServerConfig): Promise<Connection> {
    return this.#parts.servers.add(name, config);
  }

  /**
   * Stops a server and forgets it; resolves when nothing of it is left. An unknown name is not an error. A server that a
   * source still names comes back with the next `reload`.
   *
   * @param name The server's name in the configuration.
   *
   * @example
   * ```ts
   * await troupe.remove('fs');
   * ```
   */
  remove(name: string): Promise<void> {
    return this.#parts.servers.remove(name);
  }

  /**
   * Reads the sources again and touches only what changed: an entry with the same meaning keeps its process. `servers`
   * replaces the option of that name; servers from `add` stay. Neither an unreadable source nor an unusable entry removes
   * a server. Resolves when every added or changed server has made its first attempt, or after the start gate. The signal
   * ends the wait, not the reload.
   *
   * @param servers Entries by name, which replace the option `servers`. Default: those from the last call that gave
   *   them.
   * @param options A signal that ends the wait, but not the operation. Default: no signal.
   *
   * @throws {@link NotReadyError} before `start` and after `close`.
   * @throws {@link ConfigError} if `servers` is not an object.
   * @throws The reason of the signal, if it aborts.
   *
   * @example
   * ```ts
   * const report = await troupe.reload();
   * console.log(report);
   * ```
   */
  reload(servers?: TroupeOptions['servers'], options: WaitOptions = {}): Promise<ReloadReport> {
    const problem = optionProblem('reload', options, WAIT_OPTIONS);
    if (problem !== undefined) return Promise.reject(problem);
    return this.#parts.configuration.reload(servers, options);
  }

  /**
   * Calls a tool by its name for the model and gives the server's untouched result, `isError` included (MCP 2025-11-25,
   * Tools, Error Handling). Waits for a connection that is on its way.
   *
   * @typeParam T The types of the tool, from a file of `troupe generate`. Default: any arguments, and a result of any kind.
   * @param name The name for the model, as in `tools`, for instance `mcp__fs__read_file`.
   * @param args The tool's arguments. Default: an empty object.
   * @param options Limits of this call, and its signal. Default: no signal, and the limits of the server.
   *
   * @throws {@link UnknownToolError} if no server offers a tool of that name. Nothing was sent.
   * @throws {@link ToolHeldError} if the tool is held back. Nothing was sent.
   * @throws {@link InvalidArgumentsError} if the arguments do not fit the input schema. Nothing was sent.
   * @throws {@link NotReadyError} if the server is not ready and does not become so in time, before `start`, and after `close`. Nothing was sent.
   * @throws {@link JsonRpcError} if the server answers with an error.
   * @throws {@link CallTimeoutError} if a limit of the call has passed.
   * @throws {@link CallAbortedError} if the signal aborts.
   * @throws {@link OutcomeUnknownError} if the connection was lost after the call may have reached the server.
   * @throws `TypeError` if the arguments are not an object that fits JSON, or an option has the wrong type. Nothing was sent.
   *
   * @example
   * ```ts
   * const result = await troupe.callTool('mcp__fs__read_file', { path: 'README.md' }, { timeoutMs: 10_000 });
   * if (result.isError) console.error(result.content);
   * ```
   */
  callTool<T extends ToolTypes = { readonly args: object }>(
    name: string,
    args?: T['args'],
    options?: CallOptions,
  ): Promise<ResultOf<T>>;
  callTool(name: string, args: object = {}, options: CallOptions = {}): Promise<CallToolResult> {
    const problem = optionProblem('callTool', options, CALL_OPTIONS);
    if (problem !== undefined) return Promise.reject(problem);
    const tool = this.#parts.registry.tool(name);
    const connection = tool === undefined ? undefined : this.#parts.servers.get(tool.server)?.connection;
    if (tool === undefined) return this.#callOnceListed(name, args, options);
    if (connection === undefined) return Promise.reject(this.#unknown(name));
    return connection.callOffered(tool.tool, args, options, () => {
      const now = this.#parts.registry.tool(name);
      if (now?.server !== tool.server || now.tool !== tool.tool) return this.#unknown(name);
      return options.expectedTool && whyReplaced(options.expectedTool, now);
    });
  }

  /**
   * The tools as methods, typed by a file of `troupe generate`. A method is the tool's own name, or the same in camel case;
   * the same holds for servers. It looks the tool up when it is called, and otherwise does what `callTool` does.
   *
   * @typeParam T The types of the tools, by server and tool.
   *
   * @example
   * ```ts
   * type Tools = { memory: { search_nodes: { args: { query: string } } } };
   *
   * const { memory } = troupe.typed<Tools>();
   * const result = await memory.searchNodes({ query: 'Ada' }, { timeoutMs: 10_000 });
   * ```
   */
  typed<T extends object>(): TypedTools<T> {
    return typedTools<T>((...call) => this.callMethod(this, ...call));
  }

  /**
   * Calls the tool that a method of `typed` stands for, among those in a scope: this troupe, or a view of it.
   *
   * @internal
   */
  async callMethod(
    scope: MethodScope,
    written: string,
    method: string,
    args: object = {},
    options: CallOptions = {},
  ): Promise<CallToolResult> {
    requireKnown('callTool', options, CALL_OPTIONS);
    const name = `${written}.${method}`;
    if (this.whyIdle !== undefined) throw this.whyIdle;
    const server = serverMeant(
      written,
      method,
      scope.status.map((each) => each.server),
    );
    const find = (): CatalogTool | undefined => toolMeant(server, method, scope.tools);
    const awaited = this.#parts.servers.get(server);
    if (find() !== undefined || awaited === undefined || !this.#isToCome(awaited))
      return scope.callTool(this.#nameFor(find(), server, method), args, options);
    const isAwaited = (): boolean => this.#isToCome(awaited);
    const left = await this.#untilListed(name, awaited, options, () => find() !== undefined, isAwaited);
    return scope.callTool(this.#nameFor(find(), server, method), args, { ...options, ...left });
  }

  /**
   * Why it accepts no requests: it has not started, or is closed. Undefined while it runs.
   *
   * @internal
   */
  get whyIdle(): NotReadyError | undefined {
    return this.#parts.lifetime.whyIdle;
  }

  /**
   * Names of the servers whose tools are not known and may include that name: they are still connecting, or could not be
   * started.
   *
   * @internal
   */
  serversToCome(name: string): readonly string[] {
    const { servers, naming } = this.#parts;
    if (this.whyIdle !== undefined) return [];
    const gone = this.vanished(name);
    if (gone !== undefined) return gone.isWithdrawn ? [gone.server] : [];
    // Every waiting call asks after each batch of events, so the name is compared first: a status costs far more.
    return [...servers.all]
      .filter((server) => mayBeOf(server.name, name, naming) && this.#isToCome(server))
      .map((server) => server.name);
  }

  /**
   * The record of a tool that is no longer shown under that name.
   *
   * @internal
   */
  vanished(name: string): RemovedTool | undefined {
    return this.#parts.registry.tool(name) === undefined ? this.#parts.removedTools.get(name) : undefined;
  }

  /**
   * Why the tool that has, or would have, that name is held back.
   *
   * @internal
   */
  whyHeld(name: string): ToolHeldError | undefined {
    const held = this.review.held.find((tool) => tool.name === name);
    return held && this.#parts.reviews.whyHeld(held.server, held.tool);
  }

  /**
   * Reads a resource of the server that lists it, or has a template that fits it, or is named. Gives the server's
   * untouched result (MCP 2025-11-25, Resources). Repeated once if the connection is lost meanwhile.
   *
   * @param uri A URI that a server lists, or that one of its templates can produce.
   * @param options The server, the limits and the signal. Default: the only server that matches, with that server's
   *   limits.
   *
   * @throws {@link NotFoundError} if no server matches, or several do.
   * @throws {@link NotReadyError} if the server is not ready and does not become so in time, before `start`, and after `close`. Nothing was sent.
   * @throws {@link JsonRpcError} if the server answers with an error.
   * @throws {@link CallTimeoutError} if a limit of the call has passed.
   * @throws {@link CallAbortedError} if the signal aborts.
   * @throws {@link ConnectionLostError} or {@link OutcomeUnknownError} if the connection is lost and the repetition as well.
   * @throws `TypeError` if an argument has the wrong type. Nothing was sent.
   *
   * @example
   * ```ts
   * const { contents } = await troupe.readResource('file:///README.md');
   * ```
   */
  readResource(uri: string, options: ResourceOptions = {}): Promise<ReadResourceResult> {
    return this.#parts.requests.readResource(uri, options);
  }

  /**
   * Subscribes to a resource: each change is published as `resource.updated`. Lasts across reconnects until `unsubscribe`
   * or `remove`. If it is refused or cannot be sent, nothing of it is left. A dormant server reports nothing until it is
   * started. Finds the server as `readResource` does.
   *
   * @param uri A URI that a server lists, or that one of its templates can produce.
   * @param options The server, the limits and the signal. Default: the only server that matches, with that server's
   *   limits.
   *
   * @throws What `readResource` throws.
   *
   * @example
   * ```ts
   * troupe.events$.subscribe((event) => {
   *   if (event.type === 'resource.updated') console.log(event.uri);
   * });
   * await troupe.subscribe('file:///README.md');
   * ```
   */
  subscribe(uri: string, options: ResourceOptions = {}): Promise<void> {
    return this.#parts.requests.subscribe(uri, options);
  }

  /**
   * Ends the subscriptions to a resource, at one server or at all. Without a subscription it does nothing.
   *
   * @param uri The URI that was given to `subscribe`.
   * @param options The server, the limits and the signal. Default: all servers.
   *
   * @throws {@link NotFoundError} if `server` is given and there is no such server.
   * @throws What `Connection.unsubscribe` throws.
   *
   * @example
   * ```ts
   * await troupe.unsubscribe('file:///README.md');
   * ```
   */
  unsubscribe(uri: string, options: ResourceOptions = {}): Promise<void> {
    return this.#parts.requests.unsubscribe(uri, options);
  }

  /**
   * Gets a prompt by its exposed name, filled in with `args` (MCP 2025-11-25, Prompts).
   *
   * @param name The exposed name, as in `prompts`, for instance `mcp__git__commit_message`.
   * @param args Values of the arguments, by name. Default: none.
   * @param options Limits of this request, and its signal. Default: no signal, and the limits of the server.
   *
   * @throws What `readResource` throws.
   *
   * @example
   * ```ts
   * const { messages } = await troupe.getPrompt('mcp__git__commit_message', { style: 'short' });
   * ```
   */
  getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: RequestOptions = {},
  ): Promise<GetPromptResult> {
    return this.#parts.requests.getPrompt(name, args, options);
  }

  /**
   * Asks for completions of a prompt's argument (by the prompt's exposed name) or a resource template's variable (MCP
   * 2025-11-25, Completion).
   *
   * @param ref The prompt, by its exposed name, or the resource template, by its URI template.
   * @param argument The argument or variable to complete, and the beginning of its value.
   * @param options The server, values of other arguments, limits and the signal. Default: the only server that
   *   matches.
   *
   * @throws What `readResource` throws.
   *
   * @example
   * ```ts
   * const { values } = await troupe.complete(
   *   { type: 'ref/prompt', name: 'mcp__git__commit_message' },
   *   { name: 'style', value: 's' },
   * );
   * ```
   */
  complete(
    ref: CompletionRef,
    argument: CompletionArgument,
    options: CompletionOptions & ServerScope = {},
  ): Promise<Completion> {
    return this.#parts.requests.complete(ref, argument, options);
  }

  /**
   * Sets the lowest level of log messages (`server.log`; levels of RFC 5424), now and in every later session: of one
   * server, or of all that support levels, including servers added later. For all it waits for no connection, and a server
   * that refuses is a `diagnostic` of the kind `log-level`.
   *
   * @param level The least severe level to send, for instance `warning`.
   * @param options The server, the limits and the signal. Default: all servers that support levels.
   *
   * @throws `TypeError` if the level is not one of RFC 5424.
   * @throws What `readResource` throws, if `server` is given.
   *
   * @example
   * ```ts
   * await troupe.setLogLevel('debug', { server: 'fs' });
   * ```
   */
  setLogLevel(level: LoggingLevel, options: ResourceOptions = {}): Promise<void> {
    return this.#parts.requests.setLogLevel(level, options);
  }

  /**
   * As the function `renderResult`; oddities are published as `diagnostic` events, and spilled files exist until `close`.
   *
   * @param result The untouched result of `callTool`.
   * @param options Where the result comes from, and how to render it.
   *
   * @throws `TypeError` for an option that makes no sense.
   *
   * @example
   * ```ts
   * const name = 'mcp__fs__read_file';
   * const result = await troupe.callTool(name, { path: 'README.md' });
   * const { text } = await troupe.renderResult(result, { server: 'fs', tool: 'read_file' });
   * ```
   */
  renderResult(result: CallToolResult, options: ResultOptions): Promise<RenderedResult> {
    return this.#parts.results.render(result, options);
  }

  /**
   * Notifies every connected server that the roots have changed, so that it requests them again (MCP 2025-11-25, Roots).
   * Resolves when the notifications are written; a session that is lost in the meantime is not an error.
   *
   * @throws `TypeError` if no handler for roots was given.
   *
   * @example
   * ```ts
   * await troupe.rootsChanged();
   * ```
   */
  async rootsChanged(): Promise<void> {
    if (!this.#hasRoots) throw new TypeError("rootsChanged() needs the option 'handlers.roots'.");
    await notifySessions(this.#parts.sessions.usable, 'notifications/roots/list_changed');
  }

  /**
   * A part of this troupe, for a sub-agent. It cannot start, stop or close anything.
   *
   * @param options The servers and tools to show. An empty object shows all.
   *
   * @throws {@link ConfigError} for an option that makes no sense.
   *
   * @example
   * ```ts
   * const view = troupe.view({ servers: ['fs'], tools: ['mcp__fs__read_*'] });
   * console.log(view.tools.map(({ name }) => name));
   * ```
   */
  view(options: ViewOptions): View {
    checkViewOptions(options);
    return new View(this, options, this.#parts);
  }

  /**
   * `false` stops the retries of remote servers. `true` allows them again and lets each server try once, spread out; it has
   * no effect unless `false` came before.
   *
   * @param online Whether the network can be used.
   *
   * @throws `TypeError` for anything but `true` or `false`.
   *
   * @example
   * ```ts
   * troupe.setOnline(false);
   * ```
   */
  setOnline(online: boolean): void {
    if (typeof online !== 'boolean') throw new TypeError('setOnline() takes true or false.');
    this.#parts.servers.supervisor.network(online);
  }

  /**
   * Ends all connections at the same time, within 12 s. Never rejects. Nothing is left when it resolves; otherwise there is
   * a `diagnostic` of the kind `not-released`. A second call gives the first promise.
   *
   * @example
   * ```ts
   * await troupe.close();
   * ```
   */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  /**
   * Speeds up `close()`: every server that is still closing is killed.
   *
   * @example
   * ```ts
   * process.once('SIGTERM', () => void troupe.kill());
   * ```
   */
  async kill(): Promise<void> {
    const closed = this.close();
    void this.#parts.sessions.killAll();
    await closed;
  }

  /**
   * Records from now on, as the option `record` does from the start, until the recording or the troupe is closed. A target
   * that cannot be written ends the recording with a `diagnostic` of the kind `record-failed`.
   *
   * @param target Path of a file, a sink, or options with either of them.
   *
   * @throws {@link ConfigError} for an invalid target.
   * @throws {@link NotReadyError} after `close`.
   *
   * @example
   * ```ts
   * const recording = await troupe.record('troupe.log');
   * await recording.close();
   * ```
   */
  async record(target: RecordTarget): Promise<Recording> {
    this.#parts.lifetime.refuseClosed();
    return this.#parts.recordings.begin(target);
  }

  /**
   * Serves a page on 127.0.0.1 that shows what every connection does and did, and can send it commands, until the
   * inspection or the troupe is closed. From this call on, a history is kept in memory, whether or not a page is open: call it
   * before `start` to see everything.
   *
   * @param options Port and title of the page, size of the history. Default: any free port, a title with the process id,
   *   and 32 MiB.
   *
   * @throws {@link ConfigError} for a port that is not available.
   * @throws {@link NotReadyError} after `close`.
   *
   * @example
   * ```ts
   * const inspection = await troupe.inspect();
   * console.log(inspection.url);
   * ```
   */
  async inspect(options: InspectOptions = {}): Promise<Inspection> {
    this.#parts.lifetime.refuseClosed();
    return this.#parts.inspections.begin(options);
  }

  /** Closes the troupe, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #start(): Promise<StartReport> {
    const {
      cache,
      configuration,
      lifetime,
      membership,
      publisher,
      recordings,
      registry,
      reviews,
      servers,
      sessions,
    } = this.#parts;
    this.#forgetExit = atExit(() => void sessions.killAll());
    servers.open();
    const [loaded] = await Promise.all([configuration.open(), recordings.open()]);
    if (loaded.missing.length > 0) {
      await this.close();
      throw missingFiles(loaded);
    }
    await cache?.warm(servers.enabled.map(({ name }) => name));
    // The cached tools are shown before the connections are created.
    registry.outdated();
    publisher.wake();
    await reviews.ready();
    if (!lifetime.isClosed) {
      void membership?.begin();
      servers.startAll();
      void configuration.watch(loaded);
      cache?.announce();
      reviews.begin();
    }
    await publisher.until(() => lifetime.isSettled);
    return toStartReport(this.status, loaded);
  }

  async #close(): Promise<void> {
    const {
      cache,
      clock,
      configuration,
      detachInspector,
      forgetTelemetry,
      inspections,
      lifetime,
      membership,
      once,
      publisher,
      recordings,
      registry,
      results,
      reviews,
      servers,
      sessions,
      signIns,
    } = this.#parts;
    // The list of tools is not rebuilt for every server that stops: no one asks for removed tools any more.
    registry.ongone = undefined;
    membership?.drains();
    const unfollowed = configuration.close();
    servers.close();
    const reviewed = reviews.close();
    const ending = publisher.until(() => lifetime.hasEnded).then(() => sessions.closeAll());
    const isDone =
      (await settlesWithin(clock, CLOSE_LIMIT_MS, ending)) ||
      (await settlesWithin(clock, KILL_LIMIT_MS, sessions.killAll()));
    if (!isDone) {
      const message = `${sessions.size} session(s) were not proven gone when the troupe closed.`;
      publisher.publish({ type: 'diagnostic', kind: 'not-released', message });
    }
    await Promise.all([signIns?.close(), once?.close()]);
    servers.supervisor.dispose();
    await Promise.all([
      unfollowed,
      results.close(),
      cache?.close(),
      membership?.end(),
      reviewed,
      // Before the recordings, so that pages learn why theirs ends.
      inspections.close(),
      recordings.close(),
    ]);
    this.#forgetExit?.();
    detachInspector?.();
    forgetTelemetry?.();
    publisher.complete();
  }

  /** Waits until a server that is still connecting lists the tool, then calls it. */
  async #callOnceListed(name: string, args: object, options: CallOptions): Promise<CallToolResult> {
    const problem = callProblem(args, options);
    if (problem !== undefined) throw problem;
    const { registry, servers } = this.#parts;
    const [server = ''] = this.serversToCome(name);
    const awaited = servers.get(server);
    if (awaited === undefined) throw this.#unknown(name);
    const isListed = (): boolean => registry.tool(name) !== undefined;
    const isWithdrawn = this.vanished(name)?.isWithdrawn === true;
    const isAwaited = (): boolean => !isWithdrawn && this.serversToCome(name).length > 0;
    const left = await this.#untilListed(name, awaited, options, isListed, isAwaited);
    if (!isListed()) throw this.#unknown(name);
    return this.callTool(name, args, { ...options, ...left });
  }

  /** Waits for a tool that a server may list, within the limits of the call. Returns what is left of them. */
  async #untilListed(
    name: string,
    { name: server, entry, connection }: Server,
    options: CallOptions,
    isListed: () => boolean,
    isAwaited: () => boolean,
  ): Promise<CallOptions> {
    const { clock, publisher } = this.#parts;
    const startedAt = clock.now();
    const limits = limitsOf(options.timeoutMs ?? entry.settings.callTimeoutMs, options.totalTimeoutMs);
    const deadline = new Deadline(clock, limits, options.signal);
    try {
      if (isAwaited()) await publisher.until(() => isListed() || !isAwaited(), deadline.signal);
      if (!isListed()) await connection.ready({ signal: deadline.signal });
    } catch (cause) {
      if (deadline.aborted && options.signal?.aborted === true) {
        throw new CallAbortedError(`The call of '${name}' was aborted.`, {
          server,
          cause: options.signal.reason,
        });
      }
      const why = deadline.aborted ? `'${server}' did not list it in time` : messageOf(cause);
      throw new NotReadyError(`'${name}' was not sent: ${why}`, { server, cause });
    } finally {
      deadline.end();
    }
    const { totalTimeoutMs } = options;
    const isLimited = totalTimeoutMs !== undefined && totalTimeoutMs > 0;
    return isLimited ? { totalTimeoutMs: Math.max(1, totalTimeoutMs - (clock.now() - startedAt)) } : {};
  }

  /** Whether its tools are not known and may still come. */
  #isToCome({ name, context, connection }: Server): boolean {
    const hasNoList = !this.#parts.registry.hasListOf(name);
    return hasNoList && context !== undefined && !connection.status.tags.includes('settled');
  }

  /** The name for the model of a tool, or the one that it would have. */
  #nameFor(tool: CatalogTool | undefined, server: string, method: string): string {
    return tool?.name ?? uncontestedNames([{ server, tool: method }], this.#parts.naming)[0] ?? method;
  }

  #unknown(name: string): Error {
    const why = this.whyIdle ?? this.whyHeld(name);
    return why ?? unknownTool(name, this.status, this.vanished(name), this.tools, this.#parts.naming);
  }
}

function missingFiles({ missing }: LoadedConfig): ConfigError {
  return new ConfigError(missing.map(describeProblem).join('; '), { problems: missing });
}

/**
 * Makes a troupe: the supervised MCP connections of one host. Starts nothing.
 *
 * @param options Where the servers are configured, and the policies and ports of the troupe. An empty object has no
 *   servers.
 *
 * @throws {@link ConfigError} for an option that makes no sense.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 *
 * const troupe = createTroupe({ config: '.mcp.json' });
 * await troupe.start();
 * const result = await troupe.callTool('mcp__fs__read_file', { path: 'README.md' });
 * await troupe.close();
 * ```
 */
export function createTroupe(options: TroupeOptions): Troupe {
  checkOptions(options);
  return new Troupe(options);
}
