/**
 * The one live list of tools, as a model sees it. A subscriber of the lifecycle events like any other: an event says
 * that something changed, the list is then made anew from the catalogs.
 *
 * R1. Sorted by raw identity (server, then tool), so that its order never depends on who was faster.
 * R2. A list that did not change is the same object, and so is every tool that did not.
 * R3. Tools of a connection that is away stay, marked stale; they leave when it stops or is removed.
 * R4. What a server shows is worked out again only where something of that server changed.
 */
import type { Tool, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type { ConnectionState, LifecycleEvent } from '../lifecycle/event.js';
import type { Publisher } from '../lifecycle/publish.js';
import type { NamingTemplate, ToolInQuestion } from '../options.js';
import type { Catalog, Catalogs } from './catalogs.js';
import { isAllowed, type ToolFilter } from './filter.js';
import { exposedNames, rawKey, type ToolIdentity } from './naming.js';

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
  /** Whether a person is to be asked before each call: true for every tool, unless the host's policy says otherwise. */
  readonly requiresApproval: boolean;
  /** Its connection is away at the moment; a call waits for it or says why not. */
  readonly stale: boolean;
}

/** What the registry asks about a server. */
export interface ServerFacts {
  readonly source: string;
  readonly filter: ToolFilter;
  readonly state: ConnectionState;
  /** Names of tools that are held back; the same set until it changes. Default none. */
  readonly held?: ReadonlySet<string>;
}

const NOTHING: ReadonlySet<string> = new Set();
const NO_TOOLS: readonly Tool[] = [];

export class ToolRegistry {
  #tools: readonly CatalogTool[] = Object.freeze([]);
  #byName: ReadonlyMap<string, CatalogTool> = new Map();
  /** What each tool of the list was made from, by its name. */
  #madeFrom: ReadonlyMap<string, Shown> = new Map();
  /** What each server shows, in the order of their names. */
  #shares: readonly Share[] = [];
  #counts: ReadonlyMap<string, number> = new Map();
  #names: ReadonlyMap<string, string> = new Map();
  #isStale = false;
  /** Something may have gone, which is told when it happens and not when somebody looks. */
  #mayShrink = false;
  /** Hears of tools whose names are not in the list any more. */
  ongone: ((tools: readonly CatalogTool[]) => void) | undefined;

  constructor(
    private readonly catalogs: Catalogs,
    private readonly servers: () => Iterable<readonly [name: string, facts: ServerFacts]>,
    private readonly naming: NamingTemplate,
    private readonly requiresApproval: (tool: ToolInQuestion) => boolean = () => true,
  ) {}

  get tools(): readonly CatalogTool[] {
    this.#bringUpToDate();
    return this.#tools;
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

  /** What one server shows, as it was listed; the same list until that changes. */
  definitions(server: string): readonly Tool[] {
    this.#bringUpToDate();
    return this.#shares.find((share) => share.server === server)?.definitions ?? NO_TOOLS;
  }

  /** Keeps the list up to date from the events of a publisher: once for every batch of them. */
  follow(publisher: Publisher): void {
    publisher.onevent((event) => {
      this.#isStale ||= ToolRegistry.concerns(event);
      this.#mayShrink ||= ToolRegistry.canTakeAway(event);
    });
    publisher.onflushed(() => {
      if (this.#mayShrink && this.ongone !== undefined) this.#bringUpToDate();
    });
  }

  /** Something of what was asked about the servers has changed, which no event tells. */
  outdated(): void {
    this.#isStale = true;
    this.#mayShrink = true;
  }

  /** The present name of a tool; undefined where it is not shown. */
  nameOf(tool: ToolIdentity): string | undefined {
    return this.#names.get(rawKey(tool));
  }

  private static canTakeAway(event: LifecycleEvent): boolean {
    return (
      event.type === 'tool.held' ||
      (event.type === 'catalog.changed' && event.removed.length > 0) ||
      event.type === 'connection.removed' ||
      event.type === 'connection.stopped'
    );
  }

  /** Whether an event can have changed the list. */
  static concerns(event: LifecycleEvent): boolean {
    return (
      event.type === 'catalog.changed' ||
      event.type === 'tool.held' ||
      event.type === 'tool.approved' ||
      event.type === 'connection.removed' ||
      event.type === 'connection.stopped' ||
      (event.type === 'connection.state' && event.from !== event.to)
    );
  }

  /** Makes the list anew where an event said so; what did not change stays the same object. */
  #bringUpToDate(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#mayShrink = false;
    const shares = this.#collect();
    if (isSameList(shares, this.#shares)) return;
    const names = this.#namesOf(shares);
    const shown = shares.flatMap(toShown);
    const named = new Map(shown.map((entry) => [names.get(rawKey(entry)) ?? entry.tool, entry]));
    const tools = [...named].map(([name, entry]) => this.#toTool(entry, name));
    this.#shares = shares;
    this.#counts = new Map(shares.map(({ server, definitions }) => [server, definitions.length]));
    this.#names = names;
    this.#madeFrom = named;
    if (isSameList(tools, this.#tools)) return;
    const before = this.#tools;
    this.#tools = Object.freeze(tools);
    this.#byName = new Map(tools.map((tool) => [tool.name, tool]));
    const gone = before.filter(({ name }) => !this.#byName.has(name));
    if (gone.length > 0) this.ongone?.(gone);
  }

  /** The names depend on nothing but which tools there are. */
  #namesOf(shares: readonly Share[]): ReadonlyMap<string, string> {
    const definitions = shares.map((share) => share.definitions);
    const before = this.#shares.map((share) => share.definitions);
    if (isSameList(definitions, before)) return this.#names;
    return exposedNames(shares.flatMap(toIdentities), this.naming);
  }

  #collect(): Share[] {
    const facts = [...this.servers()].filter(([, { state }]) => state !== 'stopped');
    facts.sort(([a], [b]) => compare(a, b));
    const before = new Map(this.#shares.map((share) => [share.server, share]));
    return facts.map(([server, each]) => this.#shareOf(server, each, before.get(server)));
  }

  #shareOf(server: string, facts: ServerFacts, before: Share | undefined): Share {
    const { source, filter, held = NOTHING } = facts;
    const catalog = this.catalogs.get(server);
    const stale = facts.state !== 'ready';
    const isSame = before?.catalog === catalog && before?.filter === filter && before.held === held;
    if (isSame && before.source === source && before.stale === stale) return before;
    const definitions = isSame ? before.definitions : allowedOf(catalog, filter, held);
    return { server, catalog, filter, held, source, stale, definitions };
  }

  /** The tool as it was shown before, where nothing of it changed. */
  #toTool(entry: Shown, name: string): CatalogTool {
    const before = this.#byName.get(name);
    const isSame = before !== undefined && isSameEntry(entry, this.#madeFrom.get(name));
    return isSame ? before : this.#toCatalogTool(entry, name);
  }

  #toCatalogTool({ server, tool, definition, source, stale }: Shown, name: string): CatalogTool {
    const { title, description, inputSchema, outputSchema, annotations } = definition;
    const inQuestion = Object.freeze({
      name,
      server,
      tool,
      source,
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
      inputSchema,
      ...(outputSchema === undefined ? {} : { outputSchema }),
      ...(annotations === undefined ? {} : { annotations }),
      stale,
    });
    return Object.freeze({ ...inQuestion, requiresApproval: this.requiresApproval(inQuestion) });
  }
}

/** What one server shows, and what that was made from. */
interface Share {
  readonly server: string;
  readonly catalog: Catalog | undefined;
  readonly filter: ToolFilter;
  readonly held: ReadonlySet<string>;
  readonly source: string;
  readonly stale: boolean;
  /** Sorted by name. */
  readonly definitions: readonly Tool[];
}

function allowedOf(
  catalog: Catalog | undefined,
  filter: ToolFilter,
  held: ReadonlySet<string>,
): readonly Tool[] {
  const allowed = (catalog?.tools ?? []).filter(({ name }) => isAllowed(name, filter) && !held.has(name));
  return allowed.toSorted((a, b) => compare(a.name, b.name));
}

function toIdentities({ server, definitions }: Share): ToolIdentity[] {
  return definitions.map(({ name }) => ({ server, tool: name }));
}

function toShown({ server, source, stale, definitions }: Share): Shown[] {
  return definitions.map((definition) => ({ server, tool: definition.name, definition, source, stale }));
}

/** A tool that passed its filter, before it has a name for the model. */
interface Shown extends ToolIdentity {
  readonly definition: Tool;
  readonly source: string;
  readonly stale: boolean;
}

/** Catalogs keep the objects of equal tools, so identity tells whether a definition changed. */
function isSameEntry(a: Shown, b: Shown | undefined): boolean {
  return (
    a.definition === b?.definition && a.server === b.server && a.stale === b.stale && a.source === b.source
  );
}

function isSameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((each, index) => each === b[index]);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
