/**
 * The resources, resource templates and prompts that each connection listed last, as the server gave them. The machines
 * hold only counts, the events only identities; the definitions are here.
 */
import type { ExtraCounts } from '../lifecycle/status.js';
import { EXTRA_KINDS, identityOf, type ExtraEntries, type ExtraKind } from './extra-check.js';
import { diffTexts, entryTexts, type CatalogDiff } from './list-diff.js';
import type { Prompt, ResourceTemplate } from '../mcp/server-offers.js';
import type { Resource } from '../mcp/content.js';
import type { Publisher } from '../lifecycle/publish.js';
import type { NamingTemplate } from '../config/entry/server-config.js';
import { LiveList, type ListedServer } from './live-list.js';
import { promptNames, toCatalogPrompt, type CatalogPrompt } from './prompt.js';
import { ToolRegistry } from './registry.js';
import {
  toCatalogResource,
  toCatalogResourceTemplate,
  type CatalogResource,
  type CatalogResourceTemplate,
} from './resource.js';

/** The lists other than tools. */
export type ExtraOffer = { readonly [K in ExtraKind]: readonly ExtraEntries[K][] };

/** Those that are known: a list that was never read is absent. */
export type KnownExtras = Partial<ExtraOffer>;

export type ExtraIds = { readonly [K in ExtraKind]: readonly string[] };

const NONE: ExtraOffer = { resources: [], resourceTemplates: [], prompts: [] };
const UNKNOWN: KnownExtras = {};

export class Extras {
  readonly #byConnection = new Map<string, KnownExtras>();

  /** The same list until it changes. */
  get<K extends ExtraKind>(connection: string, kind: K): ExtraOffer[K] {
    return this.#offer(connection)[kind];
  }

  /** The lists that were read, or are known from an earlier run. */
  known(connection: string): KnownExtras {
    return this.#byConnection.get(connection) ?? UNKNOWN;
  }

  /** Whether every list is known. */
  areKnown(connection: string): boolean {
    return EXTRA_KINDS.every((kind) => this.known(connection)[kind] !== undefined);
  }

  counts(connection: string): ExtraCounts {
    const { resources, resourceTemplates, prompts } = this.#offer(connection);
    return {
      resources: resources.length,
      resourceTemplates: resourceTemplates.length,
      prompts: prompts.length,
    };
  }

  /** Takes over lists of an earlier run. */
  restore(connection: string, lists: KnownExtras): void {
    this.#byConnection.set(connection, { ...this.known(connection), ...lists });
  }

  /** Replaces one list. Equal entries keep their old objects; an equal list stays, without a difference. */
  replace<K extends ExtraKind>(
    connection: string,
    kind: K,
    entries: readonly ExtraEntries[K][],
  ): CatalogDiff | undefined {
    const lists = this.known(connection);
    const before: readonly ExtraEntries[K][] = this.get(connection, kind);
    const idOf = (entry: ExtraEntries[K]): string => identityOf(kind, entry);
    const diff = diffTexts(entryTexts(before, idOf), entryTexts(entries, idOf));
    if (diff.added.length + diff.removed.length + diff.changed.length === 0) {
      if (lists[kind] === undefined) this.#byConnection.set(connection, { ...lists, [kind]: before });
      return undefined;
    }
    const isNew = new Set([...diff.added, ...diff.changed]);
    const old = new Map(before.map((entry) => [idOf(entry), entry]));
    const kept = entries.map((entry) => (isNew.has(idOf(entry)) ? entry : (old.get(idOf(entry)) ?? entry)));
    this.#byConnection.set(connection, { ...lists, [kind]: kept });
    return diff;
  }

  /** Deletes all lists of a connection and returns their identities. */
  delete(connection: string): ExtraIds {
    const ids = this.ids(connection);
    this.#byConnection.delete(connection);
    return ids;
  }

  ids(connection: string): ExtraIds {
    const { resources, resourceTemplates, prompts } = this.#offer(connection);
    return {
      resources: resources.map(({ uri }) => uri),
      resourceTemplates: resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      prompts: prompts.map(({ name }) => name),
    };
  }

  #offer(connection: string): ExtraOffer {
    return { ...NONE, ...this.known(connection) };
  }
}

// The live lists other than tools: resources, resource templates and prompts of all servers. A subscriber of the
// lifecycle events like any other: an event marks a list as changed, and the next read rebuilds it.

export class ExtraLists {
  readonly #resources: LiveList<Resource, CatalogResource>;
  readonly #templates: LiveList<ResourceTemplate, CatalogResourceTemplate>;
  readonly #prompts: LiveList<Prompt, CatalogPrompt>;
  #promptsByName: ReadonlyMap<string, CatalogPrompt> = new Map();
  #isStale = false;

  constructor(
    extras: Extras,
    private readonly servers: () => Iterable<readonly [name: string, listed: ListedServer]>,
    naming: NamingTemplate,
  ) {
    this.#resources = new LiveList({
      listed: (server) => extras.get(server, 'resources'),
      idOf: (resource) => identityOf('resources', resource),
      toEntry: toCatalogResource,
    });
    this.#templates = new LiveList({
      listed: (server) => extras.get(server, 'resourceTemplates'),
      idOf: (template) => identityOf('resourceTemplates', template),
      toEntry: toCatalogResourceTemplate,
    });
    this.#prompts = new LiveList({
      listed: (server) => extras.get(server, 'prompts'),
      idOf: (prompt) => identityOf('prompts', prompt),
      namesOf: (shown) => promptNames(shown, naming),
      toEntry: toCatalogPrompt,
    });
  }

  get resources(): readonly CatalogResource[] {
    this.#bringUpToDate();
    return this.#resources.entries;
  }

  get resourceTemplates(): readonly CatalogResourceTemplate[] {
    this.#bringUpToDate();
    return this.#templates.entries;
  }

  get prompts(): readonly CatalogPrompt[] {
    this.#bringUpToDate();
    return this.#prompts.entries;
  }

  prompt(name: string): CatalogPrompt | undefined {
    this.#bringUpToDate();
    return this.#promptsByName.get(name);
  }

  /** Keeps the lists up to date from the events of a publisher. */
  follow(publisher: Publisher): void {
    publisher.onevent((event) => {
      this.#isStale ||= ToolRegistry.concerns(event);
    });
  }

  #bringUpToDate(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    const servers = [...this.servers()];
    this.#resources.update(servers);
    this.#templates.update(servers);
    if (!this.#prompts.update(servers)) return;
    this.#promptsByName = new Map(this.#prompts.entries.map((prompt) => [prompt.name, prompt]));
  }
}
