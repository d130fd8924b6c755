/**
 * A part of a troupe, for a sub-agent: some servers, some tools. It reads and calls; it cannot start, stop, close, or
 * change what is told of.
 */
import type { Observable } from 'rxjs';
import type { CallToolResult, GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/sdk/types.js';
import { distinctUntilChanged, filter, map } from './lifecycle/rx.js';
import type { CallOptions } from './calls/call.js';
import type { RenderedResult } from './calls/result/render.js';
import type { ResultOptions } from './calls/result/results.js';
import { isAllowed } from './catalog/filter.js';
import type { CatalogPrompt } from './catalog/prompt.js';
import type { CatalogTool } from './catalog/registry.js';
import { resourceIn, type CatalogResource, type CatalogResourceTemplate } from './catalog/resource.js';
import { isSameList } from './catalog/same-list.js';
import type { Vanished } from './catalog/vanished.js';
import { UnknownToolError, type NotReadyError, type ToolHeldError } from './errors.js';
import type { LifecycleEvent } from './lifecycle/event.js';
import type { ServerStatus } from './lifecycle/status.js';
import type {
  Completion,
  CompletionArgument,
  CompletionOptions,
  CompletionRef,
} from './requests/connection-requests.js';
import type { RequestOptions } from './requests/request.js';
import type { OfServer, ResourceOptions, TroupeRequests } from './requests/troupe-requests.js';
import { goneTool } from './unknown-tool.js';

export interface ViewOptions {
  /** Names of the servers that are seen. Default: all. */
  readonly servers?: readonly string[];
  /** Names for the model of the tools that are seen; `*` is a wildcard. Default: all of these servers. */
  readonly tools?: readonly string[];
}

/**
 * What a view looks at.
 *
 * @internal
 */
export interface Viewed {
  readonly tools: readonly CatalogTool[];
  readonly tools$: Observable<readonly CatalogTool[]>;
  readonly resources: readonly CatalogResource[];
  readonly resources$: Observable<readonly CatalogResource[]>;
  readonly resourceTemplates: readonly CatalogResourceTemplate[];
  readonly resourceTemplates$: Observable<readonly CatalogResourceTemplate[]>;
  readonly prompts: readonly CatalogPrompt[];
  readonly prompts$: Observable<readonly CatalogPrompt[]>;
  readonly status: readonly ServerStatus[];
  readonly events$: Observable<LifecycleEvent>;
  readonly whyIdle: NotReadyError | undefined;
  vanished(name: string): Vanished | undefined;
  whyHeld(name: string): ToolHeldError | undefined;
  callTool(name: string, args?: object, options?: CallOptions): Promise<CallToolResult>;
  renderResult(result: CallToolResult, options: ResultOptions): Promise<RenderedResult>;
}

/** The part of a list that is seen: the same object as long as nothing in it changed. */
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

  /** As the whole list gives it. */
  live(whole$: Observable<readonly T[]>): Observable<readonly T[]> {
    return whole$.pipe(
      map(() => this.entries),
      distinctUntilChanged(),
    );
  }
}

export class View {
  readonly tools$: Observable<readonly CatalogTool[]>;
  readonly resources$: Observable<readonly CatalogResource[]>;
  readonly resourceTemplates$: Observable<readonly CatalogResourceTemplate[]>;
  readonly prompts$: Observable<readonly CatalogPrompt[]>;
  /** The events of the servers that are seen. */
  readonly events$: Observable<LifecycleEvent>;
  readonly #whole: Viewed;
  readonly #options: ViewOptions;
  readonly #tools: SeenList<CatalogTool>;
  readonly #resources: SeenList<CatalogResource>;
  readonly #templates: SeenList<CatalogResourceTemplate>;
  readonly #prompts: SeenList<CatalogPrompt>;
  readonly #requests: TroupeRequests;

  /** @internal */
  constructor(whole: Viewed, options: ViewOptions, requests: TroupeRequests) {
    this.#whole = whole;
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
      filter(
        (event) => 'connection' in event && event.connection !== undefined && this.#sees(event.connection),
      ),
    );
  }

  /** The same object as long as nothing that is seen changed. */
  get tools(): readonly CatalogTool[] {
    return this.#tools.entries;
  }

  get resources(): readonly CatalogResource[] {
    return this.#resources.entries;
  }

  get resourceTemplates(): readonly CatalogResourceTemplate[] {
    return this.#templates.entries;
  }

  get prompts(): readonly CatalogPrompt[] {
    return this.#prompts.entries;
  }

  get status(): readonly ServerStatus[] {
    return this.#whole.status.filter(({ name }) => this.#sees(name));
  }

  tool(name: string): CatalogTool | undefined {
    return this.tools.find((tool) => tool.name === name);
  }

  callTool(name: string, args: object = {}, options: CallOptions = {}): Promise<CallToolResult> {
    if (this.tool(name) === undefined) return Promise.reject(this.#unknown(name));
    return this.#whole.callTool(name, args, options);
  }

  renderResult(result: CallToolResult, options: ResultOptions): Promise<RenderedResult> {
    return this.#whole.renderResult(result, options);
  }

  /** As `Troupe.resource`, among the servers that are seen. */
  resource(uri: string, server?: string): CatalogResource | undefined {
    return resourceIn(this.resources, uri, server);
  }

  prompt(name: string): CatalogPrompt | undefined {
    return this.prompts.find((prompt) => prompt.name === name);
  }

  /** As `Troupe.readResource`, among the servers that are seen; so are the following. */
  readResource(uri: string, options: ResourceOptions = {}): Promise<ReadResourceResult> {
    return this.#requests.readResource(uri, options);
  }

  getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: RequestOptions = {},
  ): Promise<GetPromptResult> {
    return this.#requests.getPrompt(name, args, options);
  }

  complete(
    ref: CompletionRef,
    argument: CompletionArgument,
    options: CompletionOptions & OfServer = {},
  ): Promise<Completion> {
    return this.#requests.complete(ref, argument, options);
  }

  /** A tool that is held back is no secret from whoever would see it. */
  #unknown(name: string): Error {
    const { whyIdle } = this.#whole;
    if (whyIdle !== undefined) return whyIdle;
    const held = this.#whole.whyHeld(name);
    if (held?.server !== undefined && this.#offers({ name, server: held.server })) return held;
    const vanished = this.#whole.vanished(name);
    if (vanished !== undefined && this.#offers({ name, server: vanished.server })) {
      return goneTool(name, vanished);
    }
    return new UnknownToolError(name, `No tool called '${name}' is offered here.`);
  }

  #sees(server: string): boolean {
    return this.#options.servers === undefined || this.#options.servers.includes(server);
  }

  #offers(tool: Pick<CatalogTool, 'name' | 'server'>): boolean {
    const { tools } = this.#options;
    return this.#sees(tool.server) && isAllowed(tool.name, tools === undefined ? {} : { allow: tools });
  }
}
