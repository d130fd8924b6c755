/**
 * A part of a troupe, for a sub-agent: some servers, some tools. It reads and calls; it cannot start, stop, close or change
 * anything. Longer than 300 lines because it documents every public method of a view, with an example each.
 */
import type { Stream } from '../lifecycle/stream.js';
import type { CallToolResult, GetPromptResult, ReadResourceResult } from '../mcp/server-offers.js';
import { distinctUntilChanged, filter, map, type Observable } from '../lifecycle/rx.js';
import type { CallOptions } from '../calls/call.js';
import type { RenderedResult } from '../results/render-result.js';
import type { ResultOptions } from './results.js';
import { isAllowed } from '../config/entry/tool-filter.js';
import type { CatalogPrompt } from '../catalog/prompt.js';
import type { CatalogTool } from '../catalog/registry.js';
import { resourceIn, type CatalogResource, type CatalogResourceTemplate } from '../catalog/resource.js';
import { isSameList } from '../catalog/list-diff.js';
import type { RemovedTool } from '../catalog/vanished.js';
import { UnknownToolError, type NotReadyError, type ToolHeldError } from '../errors.js';
import type { LifecycleEvent } from '../lifecycle/event.js';
import type { ServerStatus } from '../lifecycle/status.js';
import type {
  Completion,
  CompletionArgument,
  CompletionOptions,
  CompletionRef,
} from '../requests/connection-requests.js';
import type { RequestOptions } from '../requests/request.js';
import type { ServerScope, ResourceOptions, TroupeRequests } from '../requests/troupe-requests.js';
import type { FoundTool, ToolSearch, ToolSearchOptions } from '../search/tool-search.js';
import { goneTool, whyLeftOut } from '../requests/unknown-tool.js';
import {
  typedTools,
  type MethodScope,
  type ResultOf,
  type ToolTypes,
  type TypedTools,
} from './typed-tools.js';

/** Which servers and tools a view shows. */
export interface ViewOptions {
  /** Names of the servers in the view. Default: all. */
  readonly servers?: readonly string[];
  /** Names for the model of the tools in the view; `*` is a wildcard. Default: all tools of these servers. */
  readonly tools?: readonly string[];
}

/**
 * The part of a troupe that a view reads.
 *
 * @internal
 */
export interface Viewed {
  readonly tools: readonly CatalogTool[];
  readonly tools$: Stream<readonly CatalogTool[]>;
  readonly resources: readonly CatalogResource[];
  readonly resources$: Stream<readonly CatalogResource[]>;
  readonly resourceTemplates: readonly CatalogResourceTemplate[];
  readonly resourceTemplates$: Stream<readonly CatalogResourceTemplate[]>;
  readonly prompts: readonly CatalogPrompt[];
  readonly prompts$: Stream<readonly CatalogPrompt[]>;
  readonly status: readonly ServerStatus[];
  readonly events$: Stream<LifecycleEvent>;
  readonly whyIdle: NotReadyError | undefined;
  tool(name: string): CatalogTool | undefined;
  serversToCome(name: string): readonly string[];
  vanished(name: string): RemovedTool | undefined;
  whyHeld(name: string): ToolHeldError | undefined;
  callTool(name: string, args?: object, options?: CallOptions): Promise<CallToolResult>;
  callMethod(
    scope: MethodScope,
    server: string,
    method: string,
    args: object | undefined,
    options: CallOptions | undefined,
  ): Promise<CallToolResult>;
  renderResult(result: CallToolResult, options: ResultOptions): Promise<RenderedResult>;
}

/**
 * The parts of a troupe that a view shares.
 *
 * @internal
 */
export interface ViewedParts {
  readonly requests: TroupeRequests;
  readonly search: ToolSearch;
}

/** The part of a list that is in the view: the same object until something in it changes. */
class SeenList<T> {
  #from: readonly T[] | undefined;
  #seen: readonly T[] = Object.freeze([]);

  constructor(
    private readonly whole: () => readonly T[],
    private readonly sees: (entry: T) => boolean,
  ) {}

  get entries(): readonly T[] {
    const whole = this.whole();
    if (this.#from === whole) return this.#seen;
    this.#from = whole;
    const seen = whole.filter((entry) => this.sees(entry));
    if (!isSameList(seen, this.#seen)) this.#seen = Object.freeze(seen);
    return this.#seen;
  }

  /** The live part of a live list. */
  live(whole$: Observable<readonly T[]>): Observable<readonly T[]> {
    return whole$.pipe(
      map(() => this.entries),
      distinctUntilChanged(),
    );
  }
}

/** A part of a troupe: some servers, some tools. Made by `Troupe.view`. It cannot start, stop or close anything. */
export class View {
  /** The tools of the view; replays the present list. */
  readonly tools$: Stream<readonly CatalogTool[]>;
  /** The resources of the view; replays the present list. */
  readonly resources$: Stream<readonly CatalogResource[]>;
  /** The resource templates of the view; replays the present list. */
  readonly resourceTemplates$: Stream<readonly CatalogResourceTemplate[]>;
  /** The prompts of the view; replays the present list. */
  readonly prompts$: Stream<readonly CatalogPrompt[]>;
  /** The events of the servers in the view. */
  readonly events$: Stream<LifecycleEvent>;
  readonly #whole: Viewed;
  readonly #options: ViewOptions;
  readonly #tools: SeenList<CatalogTool>;
  readonly #resources: SeenList<CatalogResource>;
  readonly #templates: SeenList<CatalogResourceTemplate>;
  readonly #prompts: SeenList<CatalogPrompt>;
  readonly #requests: TroupeRequests;
  readonly #search: ToolSearch;

  /** @internal */
  constructor(whole: Viewed, options: ViewOptions, { requests, search }: ViewedParts) {
    this.#whole = whole;
    this.#search = search;
    this.#options = options;
    const isOfSeen = ({ server }: { readonly server: string }): boolean => this.#sees(server);
    this.#tools = new SeenList(
      () => whole.tools,
      (tool) => this.#offers(tool),
    );
    this.#resources = new SeenList(() => whole.resources, isOfSeen);
    this.#templates = new SeenList(() => whole.resourceTemplates, isOfSeen);
    this.#prompts = new SeenList(() => whole.prompts, isOfSeen);
    this.#requests = requests.among(this, (server) => this.#sees(server));
    this.tools$ = this.#tools.live(whole.tools$);
    this.resources$ = this.#resources.live(whole.resources$);
    this.resourceTemplates$ = this.#templates.live(whole.resourceTemplates$);
    this.prompts$ = this.#prompts.live(whole.prompts$);
    this.events$ = whole.events$.pipe(
      filter((event) => 'server' in event && event.server !== undefined && this.#sees(event.server)),
    );
  }

  /** The tools of the view. The same object until something in it changes. */
  get tools(): readonly CatalogTool[] {
    return this.#tools.entries;
  }

  /** The resources of the servers in the view. The same object until something in it changes. */
  get resources(): readonly CatalogResource[] {
    return this.#resources.entries;
  }

  /** The resource templates of the servers in the view. The same object until something in it changes. */
  get resourceTemplates(): readonly CatalogResourceTemplate[] {
    return this.#templates.entries;
  }

  /** The prompts of the servers in the view. The same object until something in it changes. */
  get prompts(): readonly CatalogPrompt[] {
    return this.#prompts.entries;
  }

  /** One row for each server in the view, as in `Troupe.status`. */
  get status(): readonly ServerStatus[] {
    return this.#whole.status.filter(({ server }) => this.#sees(server));
  }

  /**
   * The tool of that name for the model; undefined if the view has none.
   *
   * @param name The name for the model, as in `tools`, for instance `mcp__fs__read_file`.
   *
   * @example
   * ```ts
   * const tool = view.tool('mcp__fs__read_file');
   * ```
   */
  tool(name: string): CatalogTool | undefined {
    return this.tools.find((tool) => tool.name === name);
  }

  /**
   * As `Troupe.searchTools`, among the tools of the view.
   *
   * @param query Words that describe what the tool does.
   * @param options Maximum number of tools, and the servers to search. Default: five tools of all servers in the view.
   *
   * @throws What `Troupe.searchTools` throws.
   *
   * @example
   * ```ts
   * const found = await view.searchTools('read a file');
   * ```
   */
  searchTools(query: string, options: ToolSearchOptions = {}): Promise<readonly FoundTool[]> {
    return this.#search.search(query, options, (tool) => this.#offers(tool));
  }

  /**
   * As `Troupe.callTool`, among the tools of the view.
   *
   * @typeParam T The types of the tool. Default: any arguments, and a result of any kind.
   * @param name The name for the model, as in `tools`, for instance `mcp__fs__read_file`.
   * @param args The tool's arguments. Default: an empty object.
   * @param options Limits of this call, and its signal. Default: no signal, and the limits of the server.
   *
   * @throws What `Troupe.callTool` throws; {@link UnknownToolError} also for a tool that is not in the view.
   *
   * @example
   * ```ts
   * const result = await view.callTool('mcp__fs__read_file', { path: 'README.md' });
   * ```
   */
  callTool<T extends ToolTypes = { readonly args: object }>(
    name: string,
    args?: T['args'],
    options?: CallOptions,
  ): Promise<ResultOf<T>>;
  callTool(name: string, args: object = {}, options: CallOptions = {}): Promise<CallToolResult> {
    if (this.tool(name) === undefined && !this.#mayCome(name)) return Promise.reject(this.#unknown(name));
    return this.#whole.callTool(name, args, options);
  }

  /**
   * As `Troupe.typed`, among the tools of the view.
   *
   * @typeParam T The types of the tools, by server and tool.
   *
   * @example
   * ```ts
   * type Tools = { memory: { read_graph: { args: object } } };
   *
   * const result = await view.typed<Tools>().memory.readGraph();
   * ```
   */
  typed<T extends object>(): TypedTools<T> {
    return typedTools<T>((...call) => this.#whole.callMethod(this, ...call));
  }

  /**
   * As `Troupe.renderResult`.
   *
   * @param result The untouched result of `callTool`.
   * @param options Where the result comes from, and how to render it.
   *
   * @throws What `Troupe.renderResult` throws.
   *
   * @example
   * ```ts
   * const result = await view.callTool('mcp__fs__read_file', { path: 'README.md' });
   * const { text } = await view.renderResult(result, { server: 'fs', tool: 'read_file' });
   * ```
   */
  renderResult(result: CallToolResult, options: ResultOptions): Promise<RenderedResult> {
    return this.#whole.renderResult(result, options);
  }

  /**
   * As `Troupe.resource`, among the servers of the view.
   *
   * @param uri The resource's URI, exactly as the server lists it.
   * @param server Name of a server in the view. Default: any of them, if only one lists the URI.
   *
   * @example
   * ```ts
   * const resource = view.resource('file:///README.md');
   * ```
   */
  resource(uri: string, server?: string): CatalogResource | undefined {
    return resourceIn(this.resources, uri, server);
  }

  /**
   * The prompt with that exposed name; undefined if the view has none.
   *
   * @param name The exposed name, as in `prompts`, for instance `mcp__git__commit_message`.
   *
   * @example
   * ```ts
   * const prompt = view.prompt('mcp__git__commit_message');
   * ```
   */
  prompt(name: string): CatalogPrompt | undefined {
    return this.prompts.find((prompt) => prompt.name === name);
  }

  /**
   * As `Troupe.readResource`, among the servers of the view.
   *
   * @param uri A URI that a server in the view lists, or that one of its templates can produce.
   * @param options The server, the limits and the signal. Default: the only server that matches, with that server's
   *   limits.
   *
   * @throws What `Troupe.readResource` throws.
   *
   * @example
   * ```ts
   * const { contents } = await view.readResource('file:///README.md');
   * ```
   */
  readResource(uri: string, options: ResourceOptions = {}): Promise<ReadResourceResult> {
    return this.#requests.readResource(uri, options);
  }

  /**
   * As `Troupe.getPrompt`, among the servers of the view.
   *
   * @param name The exposed name, as in `prompts`, for instance `mcp__git__commit_message`.
   * @param args Values of the arguments, by name. Default: none.
   * @param options Limits of this request, and its signal. Default: no signal, and the limits of the server.
   *
   * @throws What `Troupe.getPrompt` throws.
   *
   * @example
   * ```ts
   * const { messages } = await view.getPrompt('mcp__git__commit_message');
   * ```
   */
  getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: RequestOptions = {},
  ): Promise<GetPromptResult> {
    return this.#requests.getPrompt(name, args, options);
  }

  /**
   * As `Troupe.complete`, among the servers of the view.
   *
   * @param ref The prompt, by its exposed name, or the resource template, by its URI template.
   * @param argument The argument or variable to complete, and the beginning of its value.
   * @param options The server, values of other arguments, limits and the signal. Default: the only server that
   *   matches.
   *
   * @throws What `Troupe.complete` throws.
   *
   * @example
   * ```ts
   * const ref = { type: 'ref/prompt', name: 'mcp__git__commit_message' } as const;
   * const { values } = await view.complete(ref, { name: 'style', value: 's' });
   * ```
   */
  complete(
    ref: CompletionRef,
    argument: CompletionArgument,
    options: CompletionOptions & ServerScope = {},
  ): Promise<Completion> {
    return this.#requests.complete(ref, argument, options);
  }

  /** The error says that a tool is held back if the view would otherwise have it. */
  #unknown(name: string): Error {
    const { whyIdle } = this.#whole;
    if (whyIdle !== undefined) return whyIdle;
    const held = this.#whole.whyHeld(name);
    if (held?.server !== undefined && this.#offers({ name, server: held.server })) return held;
    const leftOut = whyLeftOut(
      name,
      this.#whole.status.filter(({ server }) => this.#offers({ name, server })),
    );
    if (leftOut !== undefined) return leftOut;
    const vanished = this.#whole.vanished(name);
    if (vanished !== undefined && this.#offers({ name, server: vanished.server })) {
      return goneTool(name, vanished);
    }
    return new UnknownToolError(name, `No tool called '${name}' is offered here.`);
  }

  /** Whether a server of the view that is still connecting may list the tool. */
  #mayCome(name: string): boolean {
    if (this.#whole.tool(name) !== undefined) return false;
    const servers = this.#whole.serversToCome(name);
    return servers.length > 0 && servers.every((server) => this.#offers({ name, server }));
  }

  #sees(server: string): boolean {
    return this.#options.servers === undefined || this.#options.servers.includes(server);
  }

  #offers(tool: Pick<CatalogTool, 'name' | 'server'>): boolean {
    const { tools } = this.#options;
    return this.#sees(tool.server) && isAllowed(tool.name, tools === undefined ? {} : { allow: tools });
  }
}
