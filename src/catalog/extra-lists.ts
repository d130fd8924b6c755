/**
 * The live lists other than tools: resources, resource templates and prompts of all servers. A subscriber of the
 * lifecycle events like any other: an event marks a list as changed, and the next read rebuilds it.
 */
import type { Prompt, ResourceTemplate } from '../mcp/server-offers.js';
import type { Resource } from '../mcp/content.js';
import type { Publisher } from '../lifecycle/publish.js';
import type { NamingTemplate } from '../config/entry/server-config.js';
import { identityOf } from './extra-check.js';
import type { Extras } from './extras.js';
import { LiveList, type ListedServer } from './live-list.js';
import { promptNames, toCatalogPrompt, type CatalogPrompt } from './prompt.js';
import { ToolRegistry } from './registry.js';
import {
  toCatalogResource,
  toCatalogResourceTemplate,
  type CatalogResource,
  type CatalogResourceTemplate,
} from './resource.js';

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
