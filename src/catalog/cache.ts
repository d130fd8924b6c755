/**
 * The tool lists of earlier runs: known before a server is started, and kept again when it lists.
 *
 * Owns what of them may be used and what is kept. Does not own where (`cache-store.ts`), nor when a server is started.
 *
 * C1. A list belongs to one name and one target (`ServerTable.cacheKey`): another command is another list.
 * C2. Only what an approved entry left is used, only where nothing newer is known, and only if it passes as a fresh
 *     list would. An empty one, and one older than 30 days, counts as none.
 * C3. Nothing here fails or delays a start: what goes wrong is a diagnostic, and a store has a second to answer.
 * C4. A list in which a server repeats a secret of its entry is not kept.
 */
import { cutText } from '../cut-text.js';
import type { LifecycleEventBody } from '../lifecycle/event.js';
import type { Clock } from '../ports.js';
import { doneWithin } from '../release.js';
import { NO_MASK, type Mask } from '../secrets.js';
import { OLDEST_MS, type CatalogStore } from './cache-store.js';
import { CacheWrites } from './cache-writes.js';
import type { Catalog, Catalogs } from './catalogs.js';
import { isJsonObject } from './json-object.js';
import { checkTools } from './tool-check.js';

const READ_LIMIT_MS = 1_000;
const FLUSH_LIMIT_MS = 2_000;
/** Between two writes of one list, so that a storm of changes costs few. */
const WRITE_PAUSE_MS = 30_000;
/** A list that has not changed is written again after this time, so that it does not grow old while it is in use. */
const RENEW_MS = 24 * 60 * 60 * 1_000;

/** What is asked about the entries. */
export interface CachedServers {
  /** Under what the list of a server is kept; undefined where it is not. */
  cacheKey(name: string): string | undefined;
  /** Whether the entry needs no approval, or has it. Asks nobody; never rejects. */
  isApproved(name: string): Promise<boolean>;
  mask(name: string): Mask;
  /** Strikes out the secrets that cannot stand in a definition by chance. */
  echoMask(name: string): Mask;
}

export interface CatalogCacheParts {
  readonly store: CatalogStore;
  readonly servers: CachedServers;
  readonly catalogs: Catalogs;
  readonly clock: Clock;
  readonly publish: (event: LifecycleEventBody) => void;
}

type Tools = Catalog['tools'];

interface Masks {
  readonly echo: Mask;
  readonly told: Mask;
}

export class CatalogCache {
  readonly #parts: CatalogCacheParts;
  readonly #writes: CacheWrites;
  /** Keys that were looked up in vain, or are being: nobody is asked twice. */
  readonly #asked = new Set<string>();
  /** What the store has, by key, as far as it is known. */
  readonly #stored = new Map<string, { readonly tools: Tools; readonly savedAt: number }>();
  /** Servers whose lists were found before their connections were announced; undefined once those are. */
  #untold: string[] | undefined = [];
  #isWriteFailing = false;

  constructor(parts: CatalogCacheParts) {
    this.#parts = parts;
    this.#writes = new CacheWrites(parts.clock, WRITE_PAUSE_MS);
  }

  /** Puts the lists of these servers into the catalogs. They are told with `announce`. */
  async warm(names: readonly string[]): Promise<void> {
    await this.#limited(Promise.all(names.map((name) => this.#load(name))));
  }

  /** To be called when the connections have been announced. */
  announce(): void {
    const names = this.#untold ?? [];
    this.#untold = undefined;
    for (const name of names) this.#tell(name);
  }

  /** Puts the list of a server that may run into the catalogs, where nothing is known of it, and tells it. */
  async recall(name: string): Promise<void> {
    if (this.#isDue(name)) await this.#limited(this.#load(name));
  }

  /** Keeps what a session has listed; `key` is that of the entry it was started by. Returns at once. */
  keep(name: string, key: string | undefined, { tools }: Catalog): void {
    const { servers, clock } = this.#parts;
    // What an entry left that has been replaced meanwhile is of no use.
    if (key === undefined || key !== servers.cacheKey(name)) return;
    const stored = this.#stored.get(key);
    if (stored?.tools === tools && clock.now() - stored.savedAt < RENEW_MS) return;
    if (stored === undefined && tools.length === 0) return;
    // A server may be forgotten, with its secrets, before its list is written.
    const masks = { echo: servers.echoMask(name), told: servers.mask(name) };
    this.#writes.ask(key, () => this.#write(name, key, tools, masks));
  }

  /** Resolves when everything is written, or its time is over. */
  async close(): Promise<void> {
    await doneWithin(this.#parts.clock, FLUSH_LIMIT_MS, this.#writes.flush());
  }

  async #limited(work: Promise<unknown>): Promise<void> {
    await doneWithin(this.#parts.clock, READ_LIMIT_MS, work);
  }

  /** Nothing is known of it, and nobody has looked. */
  #isDue(name: string): boolean {
    const key = this.#parts.servers.cacheKey(name);
    return key !== undefined && !this.#asked.has(key) && this.#parts.catalogs.get(name) === undefined;
  }

  async #load(name: string): Promise<void> {
    const { servers, catalogs } = this.#parts;
    const key = servers.cacheKey(name);
    if (key === undefined || !(await servers.isApproved(name)) || !this.#isDue(name)) return;
    this.#asked.add(key);
    const found = await this.#read(name, key);
    if (found === undefined || servers.cacheKey(name) !== key || catalogs.get(name) !== undefined) return;
    const { tools } = catalogs.replace(name, found.tools).catalog;
    this.#stored.set(key, { tools, savedAt: found.savedAt });
    this.#asked.delete(key);
    if (this.#untold === undefined) this.#tell(name);
    else this.#untold.push(name);
  }

  async #read(
    name: string,
    key: string,
  ): Promise<{ readonly tools: Tools; readonly savedAt: number } | undefined> {
    const { store, clock } = this.#parts;
    try {
      const found: unknown = await store.get(key);
      if (found === undefined) return undefined;
      const { savedAt, tools: raw } = isJsonObject(found) ? found : {};
      if (typeof savedAt !== 'number' || !Array.isArray(raw)) throw new Error('the store gave no list');
      if (Math.abs(clock.now() - savedAt) > OLDEST_MS) return undefined;
      const { tools, problems } = checkTools(raw);
      if (problems[0] !== undefined) throw new Error(problems[0]);
      return tools.length === 0 ? undefined : { tools, savedAt };
    } catch (error) {
      this.#problem(name, `The cached list of tools is not used: ${reasonOf(error)}`);
      return undefined;
    }
  }

  async #write(name: string, key: string, tools: Tools, { echo, told }: Masks): Promise<void> {
    const { store, clock } = this.#parts;
    const hasEcho = echo !== NO_MASK && holdsSecret(tools, echo);
    if (hasEcho) {
      const message = 'The list of tools is not cached: the server repeats a secret of its entry in it.';
      this.#problem(name, message, told);
    }
    try {
      if (hasEcho || tools.length === 0) {
        await store.delete(key);
        this.#stored.delete(key);
      } else {
        const savedAt = clock.now();
        await store.put(key, { savedAt, tools });
        this.#stored.set(key, { tools, savedAt });
        this.#asked.delete(key);
      }
      this.#isWriteFailing = false;
    } catch (error) {
      if (!this.#isWriteFailing)
        this.#problem(name, `A list of tools was not cached: ${reasonOf(error)}`, told);
      this.#isWriteFailing = true;
    }
  }

  #tell(name: string): void {
    const { servers, catalogs, publish } = this.#parts;
    const tools = catalogs.get(name)?.tools ?? [];
    publish({
      type: 'catalog.changed',
      connection: name,
      generation: 0,
      added: tools.map((tool) => cutText(servers.mask(name)(tool.name))).toSorted(),
      removed: [],
      changed: [],
      toolCount: tools.length,
    });
  }

  #problem(name: string, message: string, mask = this.#parts.servers.mask(name)): void {
    const told = cutText(mask(message));
    this.#parts.publish({ type: 'diagnostic', connection: name, kind: 'cache-problem', message: told });
  }
}

/** Whether any text in it, names of fields included, does. A list that was checked is of bounded depth. */
function holdsSecret(value: unknown, mask: Mask): boolean {
  if (typeof value === 'string') return mask(value) !== value;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, item]) => mask(name) !== name || holdsSecret(item, mask));
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'it failed without an error';
}
