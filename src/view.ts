/**
 * A part of a troupe, for a sub-agent: some servers, some tools. It reads and calls; it cannot start, stop or close.
 */
import { distinctUntilChanged, filter, map, type Observable } from 'rxjs';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { CallOptions } from './calls/call.js';
import type { RenderedResult } from './calls/result/render.js';
import type { ResultOptions } from './calls/result/results.js';
import { isAllowed } from './catalog/filter.js';
import type { CatalogTool } from './catalog/registry.js';
import { UnknownToolError } from './errors.js';
import type { LifecycleEvent } from './lifecycle/event.js';
import type { ServerStatus } from './lifecycle/status.js';

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
  readonly status: readonly ServerStatus[];
  readonly events$: Observable<LifecycleEvent>;
  callTool(name: string, args?: object, options?: CallOptions): Promise<CallToolResult>;
  renderResult(result: CallToolResult, options: ResultOptions): Promise<RenderedResult>;
}

export class View {
  readonly tools$: Observable<readonly CatalogTool[]>;
  /** The events of the servers that are seen. */
  readonly events$: Observable<LifecycleEvent>;
  readonly #whole: Viewed;
  readonly #options: ViewOptions;
  #from: readonly CatalogTool[] | undefined;
  #tools: readonly CatalogTool[] = [];

  /** @internal */
  constructor(whole: Viewed, options: ViewOptions) {
    this.#whole = whole;
    this.#options = options;
    this.tools$ = whole.tools$.pipe(
      map(() => this.tools),
      distinctUntilChanged(),
    );
    this.events$ = whole.events$.pipe(
      filter(
        (event) => 'connection' in event && event.connection !== undefined && this.#sees(event.connection),
      ),
    );
  }

  /** The same object as long as nothing that is seen changed. */
  get tools(): readonly CatalogTool[] {
    if (this.#from === this.#whole.tools) return this.#tools;
    this.#from = this.#whole.tools;
    const seen = this.#from.filter((tool) => this.#offers(tool));
    const isSame =
      seen.length === this.#tools.length && seen.every((tool, index) => tool === this.#tools[index]);
    if (!isSame) this.#tools = Object.freeze(seen);
    return this.#tools;
  }

  get status(): readonly ServerStatus[] {
    return this.#whole.status.filter(({ name }) => this.#sees(name));
  }

  tool(name: string): CatalogTool | undefined {
    return this.tools.find((tool) => tool.name === name);
  }

  callTool(name: string, args: object = {}, options: CallOptions = {}): Promise<CallToolResult> {
    if (this.tool(name) === undefined) {
      return Promise.reject(new UnknownToolError(name, `No tool called '${name}' is offered here.`));
    }
    return this.#whole.callTool(name, args, options);
  }

  renderResult(result: CallToolResult, options: ResultOptions): Promise<RenderedResult> {
    return this.#whole.renderResult(result, options);
  }

  #sees(server: string): boolean {
    return this.#options.servers === undefined || this.#options.servers.includes(server);
  }

  #offers(tool: CatalogTool): boolean {
    const { tools } = this.#options;
    return this.#sees(tool.server) && isAllowed(tool.name, tools === undefined ? {} : { allow: tools });
  }
}
