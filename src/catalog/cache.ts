/**
 * The lists of earlier runs: known before a server is started, and stored again when it lists.
 *
 * Longer than 300 lines because reading, keeping and withdrawing a list share one record of what the store has.
 *
 * Owns which lists may be used and which are kept. Does not own where they are kept (`cache-store.ts`), nor when a
 * server is started.
 *
 * C1. Lists belong to one name, one target and one set of things that the host can do for a server (`Servers.cacheKey`): a
 *     different command has different lists, and so has a host with other capabilities.
 * C2. Lists are used only if their entry is trusted, nothing newer is known, and they pass the checks of fresh ones. Empty
 *     lists, or lists older than 30 days, count as missing.
 * C3. The cache never fails a start and delays it by at most a second, the time that a store has to answer. A problem
 *     is a diagnostic.
 * C4. Lists in which a server repeats a secret of its entry are not kept.
 * C5. If a server fails before it has listed anything in this run, its lists of earlier runs are withdrawn: nothing shows
 *     that they are still true. They stay in the store.
 */
import { cutText } from '../text/visible-text.js';
import { CATALOG_LISTS, type CatalogList, type LifecycleEventBody } from '../lifecycle/event.js';
import type { Publisher } from '../lifecycle/publish.js';
import type { Clock } from '../ports.js';
import { settlesWithin } from '../async/timers.js';
import { NO_MASK, type Mask } from '../secrets/secrets.js';
import { MAX_AGE_MS, type CachedCatalog, type CatalogStore } from './cache-store.js';
import { CacheWrites } from './cache-writes.js';
import type { Catalogs } from './catalogs.js';
import { checkExtras, EXTRA_KINDS, type ExtraEntries, type ExtraKind } from './extra-check.js';
import type { Extras } from './extras.js';
import { isJsonObject } from '../json/json-object.js';
import { checkTools } from './tool-check.js';

const READ_LIMIT_MS = 1_000;
const FLUSH_LIMIT_MS = 2_000;
/** Least time between two writes for one server, so that frequent changes cost few writes. */
const WRITE_PAUSE_MS = 30_000;
/** Lists that have not changed are written again after this time, so that they do not grow old while they are in use. */
const RENEW_MS = 24 * 60 * 60 * 1_000;

/** What the cache asks about the entries. */
export interface CachedServers {
  /** The key under which the lists of a server are kept; undefined if they are not kept. */
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
  readonly extras: Extras;
  readonly clock: Clock;
  readonly publish: (event: LifecycleEventBody) => void;
}

type Lists = Omit<CachedCatalog, 'savedAt'>;

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
  readonly #stored = new Map<string, { readonly lists: Lists; readonly savedAt: number }>();
  /** Servers whose present lists come from the store. */
  readonly #recalled = new Set<string>();
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

  /** Whether the present lists of the server come from an earlier run. */
  hasRecalled(name: string): boolean {
    return this.#recalled.has(name);
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

  /** Withdraws the lists of servers that cannot be started. */
  follow(publisher: Pick<Publisher, 'onevent'>): void {
    publisher.onevent((event) => {
      if (event.type === 'connection.failed') this.#withdraw(event.server, event.failure.message);
    });
  }

  /** The era of the protocol that was stored with the lists; undefined if none was, or if they were not looked up. */
  eraOf(key: string | undefined): Lists['spoken'] {
    return key === undefined ? undefined : this.#stored.get(key)?.lists.spoken;
  }

  /** Stores the present lists of a session; `key` belongs to the entry that started it. Returns at once. */
  keep(name: string, key: string | undefined, spoken?: Lists['spoken']): void {
    const { servers, clock } = this.#parts;
    this.#recalled.delete(name);
    // Lists of an entry that has been replaced are of no use.
    if (key === undefined || key !== servers.cacheKey(name)) return;
    const lists = { ...this.#present(name), ...(spoken !== undefined && { spoken }) };
    const stored = this.#stored.get(key);
    if (stored !== undefined && isSame(stored.lists, lists) && clock.now() - stored.savedAt < RENEW_MS)
      return;
    if (stored === undefined && isEmpty(lists)) return;
    // A server may be removed, with its secrets, before its lists are written.
    const masks = { echo: servers.echoMask(name), shown: servers.mask(name) };
    const isMore = EXTRA_KINDS.some((kind) => lists[kind] !== undefined && stored?.lists[kind] === undefined);
    this.#writes.ask(key, () => this.#write(name, key, lists, masks), isMore);
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
    return key !== undefined && !this.#asked.has(key) && this.#isUnknown(name);
  }

  #isUnknown(name: string): boolean {
    const { catalogs, extras } = this.#parts;
    return catalogs.get(name) === undefined && Object.keys(extras.known(name)).length === 0;
  }

  #present(name: string): Lists {
    const { catalogs, extras } = this.#parts;
    return { tools: catalogs.get(name)?.tools ?? [], ...extras.known(name) };
  }

  async #load(name: string): Promise<void> {
    const { servers, catalogs, extras } = this.#parts;
    const key = servers.cacheKey(name);
    if (key === undefined || !(await servers.isTrusted(name)) || !this.#isDue(name)) return;
    this.#asked.add(key);
    const found = await this.#read(name, key);
    if (found === undefined || servers.cacheKey(name) !== key || !this.#isUnknown(name)) return;
    const { savedAt, tools, spoken, ...others } = found;
    if (tools.length > 0) catalogs.replace(name, tools);
    extras.restore(name, others);
    const lists = { ...this.#present(name), ...(spoken !== undefined && { spoken }) };
    this.#stored.set(key, { lists, savedAt });
    this.#asked.delete(key);
    this.#recalled.add(name);
    if (this.#unannounced === undefined) this.#emit(name);
    else this.#unannounced.push(name);
  }

  async #read(name: string, key: string): Promise<CachedCatalog | undefined> {
    const { store, clock } = this.#parts;
    try {
      const found: unknown = await store.get(key);
      if (found === undefined) return undefined;
      const lists = isJsonObject(found) ? found : {};
      const { savedAt, tools: raw } = lists;
      if (typeof savedAt !== 'number' || !Array.isArray(raw)) throw new Error('the store returned no list');
      if (Math.abs(clock.now() - savedAt) > MAX_AGE_MS) return undefined;
      const { tools, problems } = checkTools(raw);
      const check = <K extends ExtraKind>(kind: K): readonly ExtraEntries[K][] => {
        const extra = checkExtras(kind, asList(lists[kind]));
        problems.push(...extra.problems);
        return extra.entries;
      };
      const checked: Lists = {
        tools,
        ...(lists['resources'] !== undefined && { resources: check('resources') }),
        ...(lists['resourceTemplates'] !== undefined && { resourceTemplates: check('resourceTemplates') }),
        ...(lists['prompts'] !== undefined && { prompts: check('prompts') }),
        ...spokenIn(lists['spoken']),
      };
      if (problems[0] !== undefined) throw new Error(problems[0]);
      return isEmpty(checked) ? undefined : { ...checked, savedAt };
    } catch (error) {
      this.#problem(name, `The cached lists are not used: ${reasonOf(error)}`);
      return undefined;
    }
  }

  async #write(name: string, key: string, lists: Lists, { echo, shown }: Masks): Promise<void> {
    const { store, clock } = this.#parts;
    const hasEcho = echo !== NO_MASK && holdsSecret(lists, echo);
    if (hasEcho) {
      const message = 'The lists are not cached: the server repeats a secret of its entry in them.';
      this.#problem(name, message, shown);
    }
    try {
      if (hasEcho || isEmpty(lists)) {
        await store.delete(key);
        this.#stored.delete(key);
      } else {
        const savedAt = clock.now();
        await store.put(key, { savedAt, ...lists });
        this.#stored.set(key, { lists, savedAt });
        this.#asked.delete(key);
      }
      this.#isWriteFailing = false;
    } catch (error) {
      if (!this.#isWriteFailing) this.#problem(name, `Lists were not cached: ${reasonOf(error)}`, shown);
      this.#isWriteFailing = true;
    }
  }

  /** They are not looked up again until the server has listed them. */
  #withdraw(name: string, why: string): void {
    const { servers, catalogs, extras } = this.#parts;
    if (!this.#recalled.delete(name)) return;
    const key = servers.cacheKey(name);
    if (key !== undefined) this.#asked.add(key);
    const tools = catalogs.get(name)?.tools.map((tool) => tool.name) ?? [];
    catalogs.delete(name);
    const gone = { tools, ...extras.delete(name) };
    for (const list of CATALOG_LISTS) this.#publish(name, list, { removed: gone[list], why });
  }

  /** Publishes the lists that were found. */
  #emit(name: string): void {
    const tools = this.#parts.catalogs.get(name)?.tools.map((tool) => tool.name) ?? [];
    const found = { tools, ...this.#parts.extras.ids(name) };
    for (const list of CATALOG_LISTS) this.#publish(name, list, { added: found[list] });
  }

  #publish(
    name: string,
    list: CatalogList,
    {
      added = [],
      removed = [],
      why,
    }: { readonly added?: readonly string[]; readonly removed?: readonly string[]; readonly why?: string },
  ): void {
    if (added.length + removed.length === 0) return;
    const { servers, catalogs, publish } = this.#parts;
    const mask = servers.mask(name);
    const shown = (ids: readonly string[]): string[] => ids.map((id) => cutText(mask(id))).toSorted();
    publish({
      type: 'catalog.changed',
      server: name,
      generation: 0,
      ...(list === 'tools' ? {} : { list }),
      added: shown(added),
      removed: shown(removed),
      changed: [],
      toolCount: catalogs.get(name)?.tools.length ?? 0,
      ...(why === undefined ? {} : { why: cutText(mask(why)) }),
    });
  }

  #problem(name: string, message: string, mask = this.#parts.servers.mask(name)): void {
    const shown = cutText(mask(message));
    this.#parts.publish({ type: 'diagnostic', server: name, kind: 'cache-problem', message: shown });
  }
}

function asList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error('the store returned no list');
}

/** Something else counts as unknown: it costs one request. */
function spokenIn(value: unknown): Pick<Lists, 'spoken'> {
  const { era, since } = isJsonObject(value) ? value : {};
  return (era === 'old' || era === 'new') && typeof since === 'number' ? { spoken: { era, since } } : {};
}

function isEmpty({ tools, ...others }: Lists): boolean {
  return tools.length === 0 && EXTRA_KINDS.every((kind) => (others[kind] ?? []).length === 0);
}

/** Lists keep their identity until they change. */
function isSame(a: Lists, b: Lists): boolean {
  return a.tools === b.tools && a.spoken === b.spoken && EXTRA_KINDS.every((kind) => a[kind] === b[kind]);
}

/** Whether any string in it, names of fields included, holds a secret. Checked lists are of bounded depth. */
function holdsSecret(value: unknown, mask: Mask): boolean {
  if (typeof value === 'string') return mask(value) !== value;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, item]) => mask(name) !== name || holdsSecret(item, mask));
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'it failed without an error';
}
