/**
 * The one live list of tools, as a model sees it. A subscriber of the lifecycle events like any other: an event says
 * that something changed, the list is then made anew from the catalogs.
 *
 * R1. Sorted by raw identity (server, then tool), so that its order never depends on who was faster.
 * R2. A list that did not change is the same object, and so is every tool that did not.
 * R3. Tools of a connection that is away stay, marked stale; they leave when it stops or is removed.
 * R4. What a server shows is worked out again only where something of that server changed, or two tools share a name.
 */
import type { Tool, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type { ConnectionState, LifecycleEvent } from '../lifecycle/event.js';
import type { Publisher } from '../lifecycle/publish.js';
import type { NamingTemplate, ToolInQuestion } from '../options.js';
import type { Catalogs } from './catalogs.js';
import { compareText } from './compare-text.js';
import type { ToolFilter } from './filter.js';
import { NameClaims } from './name-claims.js';
import { exposedNames, lonelyNames, rawKey, type ToolIdentity } from './naming.js';
import { isSameList } from './same-list.js';
import { allowedOf, isMadeOf, toIdentities, type Share } from './share.js';

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
const NO_CATALOG_TOOLS: readonly CatalogTool[] = [];

export class ToolRegistry {
  #tools: readonly CatalogTool[] = Object.freeze([]);
  /** Made when somebody asks. */
  #byName: ReadonlyMap<string, CatalogTool> | undefined;
  #byIdentity: ReadonlyMap<string, string> | undefined;
  /** By server, in the order of their names. */
  #shown: ReadonlyMap<string, Shown> = new Map();
  readonly #claims = new NameClaims();
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
    return this.#named().get(name);
  }

  /** Tools of one server that are shown. */
  count(server: string): number {
    this.#bringUpToDate();
    return this.#shown.get(server)?.tools.length ?? 0;
  }

  /** What one server shows, as it was listed; the same list until that changes. */
  definitions(server: string): readonly Tool[] {
    this.#bringUpToDate();
    return this.#shown.get(server)?.share.definitions ?? NO_TOOLS;
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
      event.type === 'tool.approved' ||
      event.type === 'connection.removed' ||
      event.type === 'connection.stopped' ||
      (event.type === 'connection.state' && showing(event.from) !== showing(event.to))
    );
  }

  #named(): ReadonlyMap<string, CatalogTool> {
    return (this.#byName ??= new Map(this.#tools.map((tool) => [tool.name, tool])));
  }

  /** Makes the list anew where an event said so; what did not change stays the same object. */
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
    this.#tellGone(before);
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
    const names = lonelyNames(toIdentities({ server, definitions }), this.naming);
    return { server, catalog, filter, held, source, stale, definitions, names };
  }

  /** The tools as they were shown before, where nothing of them changed. */
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

  #tellGone(before: ReadonlyMap<string, Shown>): void {
    if (this.ongone === undefined) return;
    const gone = [...before].flatMap(([server, { names, tools }]) => {
      const now = this.#shown.get(server)?.names;
      if (now === names) return [];
      const left = new Set(now);
      return tools.filter(({ name }) => !left.has(name) && !this.#named().has(name));
    });
    if (gone.length > 0) this.ongone(gone);
  }

  #toCatalogTool({ server, source, stale }: Share, definition: Tool, name: string): CatalogTool {
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
      stale,
    });
    return Object.freeze({ ...inQuestion, requiresApproval: this.requiresApproval(inQuestion) });
  }
}

/** Of the states of a connection, all that makes a difference here. */
function showing(state: ConnectionState | null): 'present' | 'stale' | 'nothing' {
  if (state === 'ready') return 'present';
  return state === null || state === 'stopped' ? 'nothing' : 'stale';
}

/** What one server shows, with the names that it has for the model. */
interface Shown {
  readonly share: Share;
  readonly names: readonly string[];
  readonly tools: readonly CatalogTool[];
}
