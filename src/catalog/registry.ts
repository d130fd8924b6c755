/**
 * The one live list of tools, as a model sees it. A subscriber of the lifecycle events like any other: an event marks
 * the list as changed, and the next read rebuilds it from the catalogs. Longer than 300 lines because the
 * public type of a tool is documented here.
 *
 * R1. Sorted by raw identity (server, then tool), so that its order never depends on which server was faster.
 * R2. A list that did not change is the same object, and so is each unchanged tool.
 * R3. Tools of a connection that is away stay, marked stale; they are removed when it stops or is removed.
 * R4. The tools of a server are rebuilt only if something about that server changed, or if two tools share a name.
 */
import type { Tool, ToolAnnotations } from '../mcp/server-offers.js';
import type { ConnectionState } from '../../machines/connection/connection.states.js';
import type { LeftOutTool } from '../lifecycle/status.js';
import type { LifecycleEvent } from '../lifecycle/event.js';
import type { NamingTemplate } from '../config/entry/server-config.js';
import type { Catalogs, Catalog } from './catalogs.js';
import { compareText } from '../text/visible-text.js';
import { type ToolFilter, isAllowed, isPinned } from '../config/entry/tool-filter.js';
import { NameClaims, exposedNames, uncontestedNames, rawKey, type ToolIdentity } from './naming.js';
import { isSameList } from './list-diff.js';
import type { LeftOut } from './tool-check.js';

/** One tool as a model sees it. */
export interface CatalogTool {
  /** The name for the model, unique over all servers. */
  readonly name: string;
  /** Name of the server in the configuration. */
  readonly server: string;
  /** The server's own name for it; this is what is sent. */
  readonly tool: string;
  /** The file, or `options`, that names the server. */
  readonly source: string;
  /** Title for people. Absent if the server gives none. */
  readonly title?: string;
  /** The server's description: untrusted text. Absent if it gives none. */
  readonly description?: string;
  /** JSON Schema of the arguments, as the server gives it. */
  readonly inputSchema: Tool['inputSchema'];
  /** JSON Schema of the structured result. Absent if the server gives none. */
  readonly outputSchema?: NonNullable<Tool['outputSchema']>;
  /**
   * The server's own hints about the tool, such as `readOnlyHint`. They may be wrong. Absent if it gives
   * none.
   */
  readonly annotations?: ToolAnnotations;
  /** Whether a person must confirm each call: the answer of the host's policy; null if the host has none. */
  readonly requiresConfirmation: boolean | null;
  /** True if its entry pins it: a model is always offered it. Absent otherwise. */
  readonly pinned?: true;
  /** The group of its server, if its entry names one. A model can search in it. */
  readonly group?: string;
  /** True while its connection is away; a call then waits for it or says why it cannot. */
  readonly stale: boolean;
}

/** The part of the publisher that the registry follows. */
interface Followed {
  onevent(fn: (event: LifecycleEvent) => void): () => void;
  onflushed(fn: () => void): () => void;
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
const NO_CATALOG_TOOLS: readonly CatalogTool[] = [];

export class ToolRegistry {
  #tools: readonly CatalogTool[] = Object.freeze([]);
  /** Made on the first look-up. */
  #byName: ReadonlyMap<string, CatalogTool> | undefined;
  #byIdentity: ReadonlyMap<string, string> | undefined;
  /** By server, in the order of their names. */
  #shown: ReadonlyMap<string, Shown> = new Map();
  readonly #claims = new NameClaims();
  readonly #leftOut = new WeakMap<readonly LeftOut[], readonly LeftOutTool[]>();
  #isStale = false;
  /** Tools may be gone: the list is then rebuilt at once and not at the next read, so that this is reported in time. */
  #mayShrink = false;
  /** Called with tools whose names are no longer in the list. */
  ongone: ((tools: readonly CatalogTool[]) => void) | undefined;

  constructor(
    private readonly catalogs: Catalogs,
    private readonly servers: () => Iterable<readonly [name: string, facts: ServerFacts]>,
    private readonly naming: NamingTemplate,
    private readonly requiresConfirmation: (tool: ToolInfo) => boolean | null = () => null,
  ) {}

  get tools(): readonly CatalogTool[] {
    this.#bringUpToDate();
    return this.#tools;
  }

  tool(name: string): CatalogTool | undefined {
    this.#bringUpToDate();
    return this.#named().get(name);
  }

  /** Number of shown tools of one server. */
  count(server: string): number {
    this.#bringUpToDate();
    return this.#shown.get(server)?.tools.length ?? 0;
  }

  /** Whether a list of that server is known, from this run or an earlier one. */
  hasListOf(server: string): boolean {
    return this.catalogs.get(server) !== undefined;
  }

  /** The tools that a server lists but that cannot be offered. Returns the same array until it changes. */
  leftOut(server: string): readonly LeftOutTool[] {
    const entries = this.catalogs.leftOut(server);
    const known = this.#leftOut.get(entries);
    if (known !== undefined) return known;
    const named = entries.map(({ tool, why }) => ({
      name: tool === null ? null : this.#uncontestedName(server, tool),
      tool,
      why,
    }));
    this.#leftOut.set(entries, named);
    return named;
  }

  /** The definitions of one server's shown tools; the same list until they change. */
  definitions(server: string): readonly Tool[] {
    this.#bringUpToDate();
    return this.#shown.get(server)?.share.definitions ?? NO_TOOLS;
  }

  /** Keeps the list up to date from the events of a publisher: once for every batch of them. */
  follow(publisher: Followed): void {
    publisher.onevent((event) => {
      this.#isStale ||= ToolRegistry.concerns(event);
      this.#mayShrink ||= ToolRegistry.canTakeAway(event);
    });
    publisher.onflushed(() => {
      if (this.#mayShrink && this.ongone !== undefined) this.#bringUpToDate();
    });
  }

  /** Marks the list as changed for a reason that no event reports. */
  outdated(): void {
    this.#isStale = true;
    this.#mayShrink = true;
  }

  /** The present name of a tool; undefined if it is not shown. */
  nameOf(tool: ToolIdentity): string | undefined {
    this.#byIdentity ??= new Map(this.#tools.map((each) => [rawKey(each), each.name]));
    return this.#byIdentity.get(rawKey(tool));
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
      event.type === 'tool.accepted' ||
      event.type === 'connection.removed' ||
      event.type === 'connection.stopped' ||
      (event.type === 'connection.state' && showing(event.from) !== showing(event.to))
    );
  }

  #uncontestedName(server: string, tool: string): string | null {
    return uncontestedNames([{ server, tool }], this.naming)[0] ?? null;
  }

  #named(): ReadonlyMap<string, CatalogTool> {
    return (this.#byName ??= new Map(this.#tools.map((tool) => [tool.name, tool])));
  }

  /** Rebuilds the list if it is marked as changed; unchanged parts stay the same objects. */
  #bringUpToDate(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#mayShrink = false;
    const before = this.#shown;
    const shares = this.#collect();
    const earlier = [...before.values()].map(({ share }) => share);
    if (isSameList(shares, earlier)) return;
    const names = this.#namesOf(shares);
    const shown = shares.map((share, index) =>
      this.#show(share, names[index] ?? [], before.get(share.server)),
    );
    this.#shown = new Map(shown.map((each) => [each.share.server, each]));
    const isSame = ({ share, tools }: Shown): boolean => before.get(share.server)?.tools === tools;
    if (shown.length === before.size && shown.every(isSame)) return;
    const tools = NO_CATALOG_TOOLS.concat(...shown.map((each) => each.tools));
    this.#tools = Object.freeze(tools);
    this.#byName = undefined;
    this.#byIdentity = undefined;
    this.#reportGone(before);
  }

  /** The names of the tools of each share. */
  #namesOf(shares: readonly Share[]): readonly (readonly string[])[] {
    this.#claims.become(shares.map((share) => share.names));
    if (!this.#claims.areContested) return shares.map((share) => share.names);
    const names = exposedNames(shares.flatMap(toIdentities), this.naming);
    return shares.map((share) =>
      toIdentities(share).map((identity) => names.get(rawKey(identity)) ?? identity.tool),
    );
  }

  #collect(): Share[] {
    const facts = [...this.servers()].filter(([, { state }]) => state !== 'stopped');
    facts.sort(([a], [b]) => compareText(a, b));
    return facts.map(([server, each]) => this.#shareOf(server, each, this.#shown.get(server)?.share));
  }

  #shareOf(server: string, facts: ServerFacts, before: Share | undefined): Share {
    const { source, filter, held = NOTHING } = facts;
    const catalog = this.catalogs.get(server);
    const stale = facts.state !== 'ready';
    const isSame = before?.catalog === catalog && before?.filter === filter && before.held === held;
    if (isSame && before.source === source && before.stale === stale) return before;
    if (isSame) return { ...before, source, stale };
    const definitions = allowedOf(catalog, filter, held);
    const names = uncontestedNames(toIdentities({ server, definitions }), this.naming);
    return { server, catalog, filter, held, source, stale, definitions, names };
  }

  /** The tools of a server; the same objects as before if nothing about them changed. */
  #show(share: Share, names: readonly string[], before: Shown | undefined): Shown {
    if (before?.share === share && isSameList(names, before.names)) return before;
    const known = new Map(before?.tools.map((tool) => [tool.name, tool]));
    const tools = share.definitions.map((definition, index) => {
      const name = names[index] ?? definition.name;
      const tool = known.get(name);
      return tool !== undefined && isMadeOf(tool, share, definition)
        ? tool
        : this.#toCatalogTool(share, definition, name);
    });
    const isSame = before !== undefined && isSameList(tools, before.tools);
    return { share, names, tools: isSame ? before.tools : tools };
  }

  #reportGone(before: ReadonlyMap<string, Shown>): void {
    if (this.ongone === undefined) return;
    const gone = [...before].flatMap(([server, { names, tools }]) => {
      const now = this.#shown.get(server)?.names;
      if (now === names) return [];
      const left = new Set(now);
      return tools.filter(({ name }) => !left.has(name) && !this.#named().has(name));
    });
    if (gone.length > 0) this.ongone(gone);
  }

  #toCatalogTool({ server, source, filter, stale }: Share, definition: Tool, name: string): CatalogTool {
    const { name: tool, title, description, inputSchema, outputSchema, annotations } = definition;
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
      ...(isPinned(tool, filter) && { pinned: true as const }),
      ...(filter.group !== undefined && { group: filter.group }),
      stale,
    });
    return Object.freeze({ ...inQuestion, requiresConfirmation: this.requiresConfirmation(inQuestion) });
  }
}

/** What a state of the connection means for the list. */
function showing(state: ConnectionState | null): 'present' | 'stale' | 'nothing' {
  if (state === 'ready') return 'present';
  return state === null || state === 'stopped' ? 'nothing' : 'stale';
}

/** The shown tools of one server, with their names for the model. */
interface Shown {
  readonly share: Share;
  readonly names: readonly string[];
  readonly tools: readonly CatalogTool[];
}

/** A tool, as a policy about confirmations sees it. */
export type ToolInfo = Omit<CatalogTool, 'requiresConfirmation'>;

interface Share {
  readonly server: string;
  readonly catalog: Catalog | undefined;
  readonly filter: ToolFilter;
  readonly held: ReadonlySet<string>;
  readonly source: string;
  readonly stale: boolean;
  /** Sorted by name. */
  readonly definitions: readonly Tool[];
  /** Their names if no two tools of the catalog share one. */
  readonly names: readonly string[];
}

function allowedOf(
  catalog: Catalog | undefined,
  filter: ToolFilter,
  held: ReadonlySet<string>,
): readonly Tool[] {
  const allowed = (catalog?.tools ?? []).filter(({ name }) => isAllowed(name, filter) && !held.has(name));
  return allowed.toSorted((a, b) => compareText(a.name, b.name));
}

function toIdentities({ server, definitions }: Pick<Share, 'server' | 'definitions'>): ToolIdentity[] {
  return definitions.map(({ name }) => ({ server, tool: name }));
}

/** Catalogs keep the objects of equal tools, so a comparison by identity detects a change. */
function isMadeOf(made: CatalogTool, share: Share, definition: Tool): boolean {
  const { server, source, filter, stale } = share;
  return (
    made.server === server &&
    made.tool === definition.name &&
    made.source === source &&
    made.stale === stale &&
    made.group === filter.group &&
    (made.pinned ?? false) === isPinned(made.tool, filter) &&
    made.title === definition.title &&
    made.description === definition.description &&
    made.inputSchema === definition.inputSchema &&
    made.outputSchema === definition.outputSchema &&
    made.annotations === definition.annotations
  );
}
