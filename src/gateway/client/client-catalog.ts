/**
 * The lists for a client: those of every server that it sees, with unique names. Rebuilt when a server's list changes;
 * definitions are passed on unchanged, except for the name, and for a URI that several servers use.
 */
import type { Prompt, Tool } from '../../mcp/server-offers.js';
import { exposedNames, rawKey } from '../../catalog/naming.js';
import { ToolRegistry } from '../../catalog/registry.js';
import { isSameList } from '../../catalog/list-diff.js';
import type { ToolFilter } from '../../config/entry/tool-filter.js';
import type { LifecycleEvent } from '../../lifecycle/event.js';
import type { NamingTemplate } from '../../config/entry/server-config.js';
import type { ServerOffer } from '../../runtime/internals.js';
import type { ServerView } from '../upstream/server-view.js';
import { ResourceAddresses, type Share } from './resource-addresses.js';

/** A tool or a prompt, by the name that its server uses. */
export interface Named {
  readonly server: string;
  readonly name: string;
}

/** The lists whose changes a client is notified of. */
export type NotifiedList = 'tools' | 'resources' | 'prompts';

interface Lists {
  readonly tools: readonly Tool[];
  readonly prompts: readonly Prompt[];
}

const NO_LISTS: Lists = { tools: [], prompts: [] };

export class ClientCatalog {
  readonly #view: ServerView;
  readonly #namingNow: () => NamingTemplate | undefined;
  /** The template of the present lists. Undefined: names stay as in the server. */
  #naming: NamingTemplate | undefined;
  #shares: readonly Share[] = [];
  /** What is pinned and grouped: it decides which tools are offered at once. */
  #filters: readonly ToolFilter[] = [];
  #lists: Lists = NO_LISTS;
  #addresses = new ResourceAddresses([]);
  #tools: ReadonlyMap<string, Named> = new Map();
  #prompts: ReadonlyMap<string, Named> = new Map();
  #isStale = true;
  /** An event came, so the lists must be compared. */
  #isMoved = false;
  readonly #listeners = new Set<(changed: readonly NotifiedList[]) => void>();
  #unreported = new Set<NotifiedList>();
  #stop: (() => void)[] = [];

  constructor(view: ServerView, naming: () => NamingTemplate | undefined) {
    this.#view = view;
    this.#namingNow = naming;
  }

  get lists(): Lists {
    this.#bringUpToDate();
    return this.#lists;
  }

  /** The tool of that name; undefined if there is none. */
  tool(name: string): Named | undefined {
    this.#bringUpToDate();
    return this.#tools.get(name);
  }

  /** Which of those servers would have a tool of that name; undefined if the name does not show it. */
  serverNamedBy(name: string, servers: readonly string[]): string | undefined {
    return serverNamedBy(name, servers, this.#namingNow());
  }

  prompt(name: string): Named | undefined {
    this.#bringUpToDate();
    return this.#prompts.get(name);
  }

  /** The addresses of the resources and of their templates. */
  get addresses(): ResourceAddresses {
    this.#bringUpToDate();
    return this.#addresses;
  }

  /** Until the returned function is called, calls `listener` after events of the servers, with the lists that have changed. */
  follow(listener: (changed: readonly NotifiedList[]) => void): () => void {
    if (this.#listeners.size === 0) this.#listen();
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) for (const stop of this.#stop.splice(0)) stop();
    };
  }

  #listen(): void {
    this.#isStale = true;
    this.#bringUpToDate();
    this.#unreported.clear();
    for (const { events$, inside } of this.#view.troupes) {
      const events = events$.subscribe((event) => {
        if (!ToolRegistry.concerns(event) && event.type !== 'connection.state' && !isReload(event)) return;
        this.#isStale = true;
        this.#isMoved = true;
      });
      this.#stop.push(
        () => events.unsubscribe(),
        inside.onflushed(() => this.#notify()),
      );
    }
  }

  #notify(): void {
    if (!this.#isMoved) return;
    this.#isMoved = false;
    this.#bringUpToDate();
    const changed = [...this.#unreported];
    this.#unreported = new Set();
    for (const listener of [...this.#listeners]) listener(changed);
  }

  #bringUpToDate(): void {
    // Without a listener, nothing reports that it is outdated.
    if (!this.#isStale && this.#listeners.size > 0) return;
    this.#isStale = false;
    const shares = this.#view.servers.map((server): Share => [server, this.#view.offer(server)]);
    const before = this.#shares;
    const isSame = (list: keyof ServerOffer): boolean => isSameList(parts(shares, list), parts(before, list));
    const naming = this.#namingNow();
    const isRenamed = naming !== this.#naming;
    this.#naming = naming;
    this.#shares = shares;
    const filters = shares.map(([server]) => this.#view.filter(server));
    if (!isSameList(filters, this.#filters)) this.#unreported.add('tools');
    this.#filters = filters;
    if (isRenamed || !isSame('tools')) this.#takeTools(shares);
    if (isRenamed || !isSame('prompts')) this.#takePrompts(shares);
    if (isSame('resources') && isSame('resourceTemplates')) return;
    this.#unreported.add('resources');
    this.#addresses = new ResourceAddresses(shares);
  }

  #takeTools(shares: readonly Share[]): void {
    this.#unreported.add('tools');
    const [tools, names] = this.#named(shares, 'tools');
    this.#lists = { ...this.#lists, tools };
    this.#tools = names;
  }

  #takePrompts(shares: readonly Share[]): void {
    this.#unreported.add('prompts');
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

/** A reload can change who sees a server, even if nothing happens to the server itself. */
function isReload(event: LifecycleEvent): boolean {
  return event.type === 'diagnostic' && event.kind === 'config-reloaded';
}

/** The parts of a list, server by server; each part is the same object until it changes. */
function parts(shares: readonly Share[], list: keyof ServerOffer): readonly unknown[] {
  return shares.flatMap(([server, offer]) => (offer[list].length === 0 ? [] : [server, offer[list]]));
}

/** Guesses the server of a tool that is in no list, from its name alone. Pure. */
const TOOL = '{tool}';

/** The only server whose tool names fit; without a template, the only server. */
function serverNamedBy(
  name: string,
  servers: readonly string[],
  naming: NamingTemplate | undefined,
): string | undefined {
  const fitting = servers.filter((server) => naming === undefined || fits(name, server, naming));
  // The name of one server may begin with the name of another.
  const [longest, ...others] = fitting.toSorted((a, b) => b.length - a.length);
  return others.some((other) => other.length === longest?.length) ? undefined : longest;
}

function fits(name: string, server: string, naming: NamingTemplate): boolean {
  if (!naming.includes('{server}')) return true;
  const filled = naming.replace('{server}', () => server);
  const [before = '', after = ''] = filled.split(TOOL).map(cleaned);
  return name.length > before.length + after.length && name.startsWith(before) && name.endsWith(after);
}

/** Cleaned in the same way as names of tools. */
function cleaned(text: string): string {
  return text.replace(/[^a-zA-Z0-9_-]/gu, '_');
}

// The gateway's own part of the first answer to a client.

/** The capabilities of all servers together are unknown in advance: a list that no server has is empty. */
export const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

/** The instructions of each server for a model. */
export function instructionsBy(view: ServerView): ReadonlyMap<string, string> {
  const given = view.servers.map((server) => [server, view.instructions(server) ?? ''] as const);
  return new Map(given.filter(([, text]) => text !== ''));
}

/** All of them as one text. For a single server, exactly its text. */
export function toInstructions(texts: ReadonlyMap<string, string>, { servers }: ServerView): string {
  const [first] = texts.values();
  if (first !== undefined && servers.length === 1) return first;
  return [...texts].map(([server, text]) => `# ${server}\n\n${text}`).join('\n\n');
}
