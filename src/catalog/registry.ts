/**
 * The one live list of tools, as a model sees it. A subscriber of the lifecycle events like any other: an event says
 * that something changed, the list is then made anew from the catalogs.
 *
 * R1. Sorted by raw identity (server, then tool), so that its order never depends on who was faster.
 * R2. A list that did not change is the same object.
 * R3. Tools of a connection that is away stay, marked stale; they leave when it stops or is removed.
 */
import { BehaviorSubject, type Observable } from 'rxjs';
import type { Tool, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type { ConnectionState, LifecycleEvent } from '../lifecycle/event.js';
import type { Publisher } from '../lifecycle/publish.js';
import type { NamingTemplate } from '../options.js';
import type { Catalogs } from './catalogs.js';
import { isAllowed, type ToolFilter } from './filter.js';
import { exposedNames, rawKey } from './naming.js';

/** One tool as a model sees it. */
export interface CatalogTool {
  /** The name for the model, unique over all servers. */
  readonly name: string;
  readonly server: string;
  /** The server's own name for it; this is what is sent. */
  readonly tool: string;
  /** The file, or `options`, that names the server. */
  readonly source: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Tool['inputSchema'];
  readonly outputSchema?: NonNullable<Tool['outputSchema']>;
  readonly annotations?: ToolAnnotations;
  /** True for every MCP tool: whether a person is asked is the host's decision. */
  readonly requiresApproval: boolean;
  /** Its connection is away at the moment; a call waits for it or says why not. */
  readonly stale: boolean;
}

/** What the registry asks about a server. */
export interface ServerFacts {
  readonly source: string;
  readonly filter: ToolFilter;
  readonly state: ConnectionState;
}

const EMPTY: readonly CatalogTool[] = Object.freeze([]);

export class ToolRegistry {
  readonly #tools = new BehaviorSubject<readonly CatalogTool[]>(EMPTY);
  #byName: ReadonlyMap<string, CatalogTool> = new Map();
  #isStale = false;
  #shown: readonly Shown[] = [];
  readonly #counts = new Map<string, number>();

  constructor(
    private readonly catalogs: Catalogs,
    private readonly servers: () => Iterable<readonly [name: string, facts: ServerFacts]>,
    private readonly naming: NamingTemplate,
  ) {}

  /** Replays the current list. */
  get tools$(): Observable<readonly CatalogTool[]> {
    return this.#tools;
  }

  get tools(): readonly CatalogTool[] {
    this.#bringUpToDate();
    return this.#tools.value;
  }

  tool(name: string): CatalogTool | undefined {
    this.#bringUpToDate();
    return this.#byName.get(name);
  }

  /** Tools of one server that are shown. */
  count(server: string): number {
    this.#bringUpToDate();
    return this.#counts.get(server) ?? 0;
  }

  /** Keeps the list up to date from the events of a publisher: once for every batch of them. */
  follow(publisher: Publisher): void {
    publisher.events$.subscribe((event) => {
      this.#isStale ||= ToolRegistry.concerns(event);
    });
    publisher.onflushed(() => this.#bringUpToDate());
  }

  /** Whether an event can have changed the list. */
  static concerns(event: LifecycleEvent): boolean {
    return (
      event.type === 'catalog.changed' ||
      event.type === 'connection.removed' ||
      event.type === 'connection.stopped' ||
      (event.type === 'connection.state' && event.from !== event.to)
    );
  }

  /** Makes the list anew, where an event said so, and publishes it if it differs. */
  #bringUpToDate(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    const shown = this.#collect();
    const isSame =
      shown.length === this.#shown.length &&
      shown.every((entry, index) => isSameEntry(entry, this.#shown[index]));
    if (isSame) return;
    this.#shown = shown;
    const names = exposedNames(shown, this.naming);
    const tools = shown.map((entry) => toCatalogTool(entry, names.get(rawKey(entry)) ?? entry.tool));
    this.#counts.clear();
    for (const { server } of tools) this.#counts.set(server, (this.#counts.get(server) ?? 0) + 1);
    this.#byName = new Map(tools.map((tool) => [tool.name, tool]));
    this.#tools.next(Object.freeze(tools));
  }

  complete(): void {
    this.#tools.complete();
  }

  #collect(): Shown[] {
    const shown: Shown[] = [];
    for (const [server, facts] of this.servers()) {
      if (facts.state === 'stopped') continue;
      for (const definition of this.catalogs.get(server)?.tools ?? []) {
        if (isAllowed(definition.name, facts.filter)) {
          shown.push({
            server,
            tool: definition.name,
            definition,
            source: facts.source,
            stale: facts.state !== 'ready',
          });
        }
      }
    }
    return shown.sort((a, b) => compare(a.server, b.server) || compare(a.tool, b.tool));
  }
}

/** A tool that passed its filter, before it has a name for the model. */
interface Shown {
  readonly server: string;
  readonly tool: string;
  readonly definition: Tool;
  readonly source: string;
  readonly stale: boolean;
}

/** Catalogs keep the objects of an equal list, so identity tells whether a definition changed. */
function isSameEntry(a: Shown, b: Shown | undefined): boolean {
  return (
    a.definition === b?.definition && a.server === b.server && a.stale === b.stale && a.source === b.source
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function toCatalogTool({ server, tool, definition, source, stale }: Shown, name: string): CatalogTool {
  const { title, description, inputSchema, outputSchema, annotations } = definition;
  return Object.freeze({
    name,
    server,
    tool,
    source,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
    requiresApproval: true,
    stale,
  });
}
