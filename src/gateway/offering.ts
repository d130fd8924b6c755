/**
 * The lists that a client is given: those of every server it sees, with names that no two share. Made anew where a server
 * lists something else; definitions pass as the server gave them, but for the name.
 */
import type { Prompt, Resource, ResourceTemplate, Tool } from '@modelcontextprotocol/sdk/types.js';
import { exposedNames, rawKey } from '../catalog/naming.js';
import { fitsTemplate } from '../catalog/uri-template.js';
import { ToolRegistry } from '../catalog/registry.js';
import { isSameList } from '../catalog/same-list.js';
import type { LifecycleEvent } from '../lifecycle/event.js';
import type { NamingTemplate } from '../options.js';
import type { ServerOffer } from '../seams.js';
import { serverNamedBy } from './named-server.js';
import type { ServerView } from './server-view.js';

/** A tool or a prompt, by the server's own name for it. */
export interface Named {
  readonly server: string;
  readonly name: string;
}

/** The lists of which a client is told that they are others. */
export type ToldList = 'tools' | 'resources' | 'prompts';

interface Lists {
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplate[];
  readonly prompts: readonly Prompt[];
}

/** What one server offers, and what the lists were made from. */
type Share = readonly [server: string, offer: ServerOffer];

const NO_LISTS: Lists = { tools: [], resources: [], resourceTemplates: [], prompts: [] };

export class Offering {
  readonly #view: ServerView;
  readonly #namingNow: () => NamingTemplate | undefined;
  /** By which the lists were made. Undefined: names stay as the server gives them. */
  #naming: NamingTemplate | undefined;
  #shares: readonly Share[] = [];
  #lists: Lists = NO_LISTS;
  #tools: ReadonlyMap<string, Named> = new Map();
  #prompts: ReadonlyMap<string, Named> = new Map();
  #isStale = true;
  /** What is to be told of: an event came. */
  #isMoved = false;
  readonly #told = new Set<(changed: readonly ToldList[]) => void>();
  #untold = new Set<ToldList>();
  #stop: (() => void)[] = [];

  constructor(view: ServerView, naming: () => NamingTemplate | undefined) {
    this.#view = view;
    this.#namingNow = naming;
  }

  get lists(): Lists {
    this.#bringUpToDate();
    return this.#lists;
  }

  /** The tool of that name; undefined where none is offered. */
  tool(name: string): Named | undefined {
    this.#bringUpToDate();
    return this.#tools.get(name);
  }

  /** Whose a tool of that name would be, of those servers; undefined where its name does not tell. */
  serverNamedBy(name: string, servers: readonly string[]): string | undefined {
    return serverNamedBy(name, servers, this.#namingNow());
  }

  prompt(name: string): Named | undefined {
    this.#bringUpToDate();
    return this.#prompts.get(name);
  }

  /** Servers that list the resource, else those with that template, else those with one that fits it. */
  serversOf(uri: string): readonly string[] {
    this.#bringUpToDate();
    const having = (has: (offer: ServerOffer) => boolean): string[] =>
      this.#shares.filter(([, offer]) => has(offer)).map(([server]) => server);
    const ways = [
      ({ resources }: ServerOffer) => resources.some((resource) => resource.uri === uri),
      ({ resourceTemplates }: ServerOffer) =>
        resourceTemplates.some(({ uriTemplate }) => uriTemplate === uri),
      ({ resourceTemplates }: ServerOffer) =>
        resourceTemplates.some(({ uriTemplate }) => fitsTemplate(uri, uriTemplate)),
    ];
    for (const way of ways) {
      const found = having(way);
      if (found.length > 0) return found;
    }
    return [];
  }

  /**
   * Calls `told` after something happened to the servers, with the lists that are others by that, until the returned
   * function is called.
   */
  follow(told: (changed: readonly ToldList[]) => void): () => void {
    if (this.#told.size === 0) this.#listen();
    this.#told.add(told);
    return () => {
      this.#told.delete(told);
      if (this.#told.size === 0) for (const stop of this.#stop.splice(0)) stop();
    };
  }

  #listen(): void {
    this.#isStale = true;
    this.#bringUpToDate();
    this.#untold.clear();
    for (const { events$, inside } of this.#view.troupes) {
      const events = events$.subscribe((event) => {
        if (!ToolRegistry.concerns(event) && event.type !== 'connection.state' && !isReload(event)) return;
        this.#isStale = true;
        this.#isMoved = true;
      });
      this.#stop.push(
        () => events.unsubscribe(),
        inside.onflushed(() => this.#tell()),
      );
    }
  }

  #tell(): void {
    if (!this.#isMoved) return;
    this.#isMoved = false;
    this.#bringUpToDate();
    const changed = [...this.#untold];
    this.#untold = new Set();
    for (const told of [...this.#told]) told(changed);
  }

  #bringUpToDate(): void {
    // Without a listener nobody says when it is outdated.
    if (!this.#isStale && this.#told.size > 0) return;
    this.#isStale = false;
    const shares = this.#view.servers.map((server): Share => [server, this.#view.offer(server)]);
    const before = this.#shares;
    const isSame = (list: keyof ServerOffer): boolean => isSameList(parts(shares, list), parts(before, list));
    const naming = this.#namingNow();
    const isRenamed = naming !== this.#naming;
    this.#naming = naming;
    this.#shares = shares;
    if (isRenamed || !isSame('tools')) this.#takeTools(shares);
    if (isRenamed || !isSame('prompts')) this.#takePrompts(shares);
    if (isSame('resources') && isSame('resourceTemplates')) return;
    this.#untold.add('resources');
    const resources = shares.flatMap(([, offer]) => offer.resources);
    const resourceTemplates = shares.flatMap(([, offer]) => offer.resourceTemplates);
    this.#lists = { ...this.#lists, resources, resourceTemplates };
  }

  #takeTools(shares: readonly Share[]): void {
    this.#untold.add('tools');
    const [tools, names] = this.#named(shares, 'tools');
    this.#lists = { ...this.#lists, tools };
    this.#tools = names;
  }

  #takePrompts(shares: readonly Share[]): void {
    this.#untold.add('prompts');
    const [prompts, names] = this.#named(shares, 'prompts');
    this.#lists = { ...this.#lists, prompts };
    this.#prompts = names;
  }

  #named<K extends 'tools' | 'prompts'>(
    shares: readonly Share[],
    list: K,
  ): [entries: Lists[K], names: ReadonlyMap<string, Named>] {
    const entries = shares.flatMap(([server, offer]) => offer[list].map((entry) => ({ server, entry })));
    const identities = entries.map(({ server, entry }) => ({ server, tool: entry.name }));
    const exposed = this.#naming === undefined ? undefined : exposedNames(identities, this.#naming);
    const names = new Map<string, Named>();
    const renamed = entries.map(({ server, entry }) => {
      const name = exposed?.get(rawKey({ server, tool: entry.name })) ?? entry.name;
      names.set(name, { server, name: entry.name });
      return name === entry.name ? entry : { ...entry, name };
    });
    return [renamed as unknown as Lists[K], names];
  }
}

/** Who sees a server may be another by that, though nothing happens to the server itself. */
function isReload(event: LifecycleEvent): boolean {
  return event.type === 'diagnostic' && event.kind === 'config-reloaded';
}

/** What a list consists of, server by server; each part is the same one until it changes. */
function parts(shares: readonly Share[], list: keyof ServerOffer): readonly unknown[] {
  return shares.flatMap(([server, offer]) => (offer[list].length === 0 ? [] : [server, offer[list]]));
}
