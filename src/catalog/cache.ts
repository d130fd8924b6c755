/**
 * The tool lists of earlier runs: known before a server is started, and stored again when it lists.
 *
 * Owns which lists may be used and which are kept. Does not own where they are kept (`cache-store.ts`), nor when a
 * server is started.
 *
 * C1. A list belongs to one name and one target (`ServerEntry.cacheKey`): a different command has a different list.
 * C2. A list is used only if its entry is trusted, nothing newer is known, and it passes the checks of a fresh list. An
 *     empty list, or one older than 30 days, counts as missing.
 * C3. The cache never fails a start and delays it by at most a second, the time that a store has to answer. A problem
 *     is a diagnostic.
 * C4. A list in which a server repeats a secret of its entry is not kept.
 */
import { cutText } from '../text/cut-text.js';
import type { LifecycleEventBody } from '../lifecycle/event.js';
import type { Clock } from '../ports.js';
import { settlesWithin } from '../async/settles-within.js';
import { NO_MASK, type Mask } from '../secrets/secrets.js';
import { MAX_AGE_MS, type CatalogStore } from './cache-store.js';
import { CacheWrites } from './cache-writes.js';
import type { Catalog, Catalogs } from './catalogs.js';
import { isJsonObject } from '../json/json-object.js';
import { checkTools } from './tool-check.js';

const READ_LIMIT_MS = 1_000;
const FLUSH_LIMIT_MS = 2_000;
/** Least time between two writes of one list, so that frequent changes cost few writes. */
const WRITE_PAUSE_MS = 30_000;
/** A list that has not changed is written again after this time, so that it does not grow old while it is in use. */
const RENEW_MS = 24 * 60 * 60 * 1_000;

/** What the cache asks about the entries. */
export interface CachedServers {
  /** The key under which the list of a server is kept; undefined if it is not kept. */
  cacheKey(name: string): string | undefined;
  /** Whether the entry needs no trust, or has it. Does not ask the host; never rejects. */
  isTrusted(name: string): Promise<boolean>;
  mask(name: string): Mask;
  /** Masks only secrets that cannot appear in a definition by chance. */
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
  readonly shown: Mask;
}

export class CatalogCache {
  readonly #parts: CatalogCacheParts;
  readonly #writes: CacheWrites;
  /** Keys whose look-up has begun, so that the store is asked once. */
  readonly #asked = new Set<string>();
  /** The known content of the store, by key. */
  readonly #stored = new Map<string, { readonly tools: Tools; readonly savedAt: number }>();
  /** Servers whose lists were found before their connections were announced; undefined after that. */
  #unannounced: string[] | undefined = [];
  #isWriteFailing = false;

  constructor(parts: CatalogCacheParts) {
    this.#parts = parts;
    this.#writes = new CacheWrites(parts.clock, WRITE_PAUSE_MS);
  }

  /** Puts the lists of these servers into the catalogs. `announce` publishes them. */
  async warm(names: readonly string[]): Promise<void> {
    await this.#limited(Promise.all(names.map((name) => this.#load(name))));
  }

  /** Call this when the connections have been announced. */
  announce(): void {
    const names = this.#unannounced ?? [];
    this.#unannounced = undefined;
    for (const name of names) this.#emit(name);
  }

  /**
   * If no list of the server is known, looks it up, puts it into the catalogs and publishes it. The server must be
   * allowed to run.
   */
  async recall(name: string): Promise<void> {
    if (this.#isDue(name)) await this.#limited(this.#load(name));
  }

  /** Stores the list of a session; `key` belongs to the entry that started it. Returns at once. */
  keep(name: string, key: string | undefined, { tools }: Catalog): void {
    const { servers, clock } = this.#parts;
    // A list of an entry that has been replaced is of no use.
    if (key === undefined || key !== servers.cacheKey(name)) return;
    const stored = this.#stored.get(key);
    if (stored?.tools === tools && clock.now() - stored.savedAt < RENEW_MS) return;
    if (stored === undefined && tools.length === 0) return;
    // A server may be removed, with its secrets, before its list is written.
    const masks = { echo: servers.echoMask(name), shown: servers.mask(name) };
    this.#writes.ask(key, () => this.#write(name, key, tools, masks));
  }

  /** Resolves when everything is written, or when the time for it is over. */
  async close(): Promise<void> {
    await settlesWithin(this.#parts.clock, FLUSH_LIMIT_MS, this.#writes.flush());
  }

  async #limited(work: Promise<unknown>): Promise<void> {
    await settlesWithin(this.#parts.clock, READ_LIMIT_MS, work);
  }

  /** Whether no list is known and none was looked up. */
  #isDue(name: string): boolean {
    const key = this.#parts.servers.cacheKey(name);
    return key !== undefined && !this.#asked.has(key) && this.#parts.catalogs.get(name) === undefined;
  }

  async #load(name: string): Promise<void> {
    const { servers, catalogs } = this.#parts;
    const key = servers.cacheKey(name);
    if (key === undefined || !(await servers.isTrusted(name)) || !this.#isDue(name)) return;
    this.#asked.add(key);
    const found = await this.#read(name, key);
    if (found === undefined || servers.cacheKey(name) !== key || catalogs.get(name) !== undefined) return;
    const { tools } = catalogs.replace(name, found.tools).catalog;
    this.#stored.set(key, { tools, savedAt: found.savedAt });
    this.#asked.delete(key);
    if (this.#unannounced === undefined) this.#emit(name);
    else this.#unannounced.push(name);
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
      if (typeof savedAt !== 'number' || !Array.isArray(raw)) throw new Error('the store returned no list');
      if (Math.abs(clock.now() - savedAt) > MAX_AGE_MS) return undefined;
      const { tools, problems } = checkTools(raw);
      if (problems[0] !== undefined) throw new Error(problems[0]);
      return tools.length === 0 ? undefined : { tools, savedAt };
    } catch (error) {
      this.#problem(name, `The cached list of tools is not used: ${reasonOf(error)}`);
      return undefined;
    }
  }

  async #write(name: string, key: string, tools: Tools, { echo, shown }: Masks): Promise<void> {
    const { store, clock } = this.#parts;
    const hasEcho = echo !== NO_MASK && holdsSecret(tools, echo);
    if (hasEcho) {
      const message = 'The list of tools is not cached: the server repeats a secret of its entry in it.';
      this.#problem(name, message, shown);
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
        this.#problem(name, `A list of tools was not cached: ${reasonOf(error)}`, shown);
      this.#isWriteFailing = true;
    }
  }

  #emit(name: string): void {
    const { servers, catalogs, publish } = this.#parts;
    const tools = catalogs.get(name)?.tools ?? [];
    publish({
      type: 'catalog.changed',
      server: name,
      generation: 0,
      added: tools.map((tool) => cutText(servers.mask(name)(tool.name))).toSorted(),
      removed: [],
      changed: [],
      toolCount: tools.length,
    });
  }

  #problem(name: string, message: string, mask = this.#parts.servers.mask(name)): void {
    const shown = cutText(mask(message));
    this.#parts.publish({ type: 'diagnostic', server: name, kind: 'cache-problem', message: shown });
  }
}

/** Whether any string in it, names of fields included, holds a secret. A checked list is of bounded depth. */
function holdsSecret(value: unknown, mask: Mask): boolean {
  if (typeof value === 'string') return mask(value) !== value;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, item]) => mask(name) !== name || holdsSecret(item, mask));
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'it failed without an error';
}
