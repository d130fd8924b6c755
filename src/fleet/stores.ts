/**
 * The stores that the hosts of a fleet share, over one engine, sealed with the key of the fleet.
 *
 * H1. A sign-in is renewed by one host at a time: `exclusively` holds a lease, and a write names the version that was read
 *     under it, so neither a write that comes late nor one by a host that has lost its turn replaces a newer sign-in.
 * H2. While the engine is gone, sign-ins and approvals that this host has read count on. Nothing is renewed or approved
 *     then: it fails, and is tried again later.
 * H3. All approvals are one entry, and the accepted tools of a server are one; both are changed by compare-and-set, so no
 *     host removes what another has added.
 *
 * Longer than 300 lines because every option of a fleet is documented here, and each store is short.
 */
import { createHash, randomUUID } from 'node:crypto';
import { pause } from '../async/abort.js';
import { Mutex } from '../async/semaphore.js';
import { ownerKey, type StoredSignIn, type TokenOwner, type TokenStore } from '../auth/stores/token-store.js';
import type { CachedCatalog, CatalogStore } from '../catalog/cache-store.js';
import { TransportError } from '../failures/transport-error.js';
import { systemClock } from '../ports.js';
import { toRemembered, type RememberedTool, type ReviewStore } from '../review/review-store.js';
import { messageOf } from '../text/error-message.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';
import { toTrustedEntry, type TrustedEntry, type TrustStore } from '../trust/trust-store.js';
import type { FleetEngine, FleetLease } from './engine.js';
import { FleetKey, KEY_VARIABLE } from './fleet-key.js';
import { checkAddress, Hosts, type FleetHosts } from './hosts.js';
import { FleetRetries, type RetryTerms } from './fleet-retries.js';
import { isUnavailable, SealedEntries } from './sealed-entries.js';

/** Options of `createFleet`. */
export interface FleetOptions {
  /** What the hosts share. Close it when the troupe is closed. */
  readonly engine: FleetEngine;
  /**
   * 32 random bytes, in base64 or as 64 hexadecimal digits; the same on every host. Of several, the first seals and all
   * open. Default: the environment variable `TROUPE_FLEET_KEY`, with commas between several.
   */
  readonly key?: string | readonly string[] | undefined;
  /**
   * How long a host that has died while it renewed a sign-in keeps others from it, milliseconds. The same on every
   * host. Default 10,000.
   */
  readonly leaseMs?: number;
  /**
   * For servers with `only: 'fleet'`: how long after a host has died, or has lost the engine, another may run its servers,
   * milliseconds. The same on every host, and 2,000 at least. Default 30,000: an engine that is away for less ends no server.
   */
  readonly serverLeaseMs?: number;
  /**
   * Where the other hosts reach the gateway of this one, such as `http://10.0.0.7:8080`. Without one, they cannot ask this
   * host anything.
   */
  readonly address?: string;
}

/** What the hosts of a fleet share, and who they are: the option `fleet` of `createTroupe`. */
export interface Fleet {
  /** Sign-ins, each renewed by one host at a time. */
  readonly tokens: TokenStore;
  /** Trusted entries of project files. */
  readonly trust: TrustStore;
  /** Accepted tools. */
  readonly reviews: ReviewStore;
  /** Lists of servers. */
  readonly catalogs: CatalogStore;
  /** The hosts of the fleet. */
  readonly hosts: FleetHosts;
  /** How long the lease of a server that runs once lasts without a renewal, milliseconds. */
  readonly serverLeaseMs: number;
  /** @internal */
  readonly engine: FleetEngine;
  /** @internal */
  readonly key: FleetKey;
  /** @internal */
  readonly retries: (terms: RetryTerms) => FleetRetries;
}

const NAMES: OptionNames<FleetOptions> = {
  engine: true,
  key: true,
  leaseMs: true,
  serverLeaseMs: true,
  address: true,
};
const LEAST_SERVER_LEASE_MS = 2_000;
const POLL_MS = 100;
/** Longer than the requests of a holder may take. */
const PATIENCE_MS = 90_000;
const TRUSTED = 'trusted';

/**
 * Makes the stores that hosts share. Throws a `TypeError` if the key or the address cannot be used.
 *
 * @param options The engine, and the key. Each field documents its default.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { createFleet } from 'mcp-troupe/fleet';
 * import { createRedisEngine } from 'mcp-troupe/fleet-redis';
 *
 * const engine = createRedisEngine({ address: 'redis://redis.example.com' });
 * const troupe = createTroupe({ config: '.mcp.json', fleet: createFleet({ engine }) });
 * // At the end:
 * await troupe.close();
 * await engine.close();
 * ```
 */
export function createFleet(options: FleetOptions): Fleet {
  requireKnown('createFleet', options, NAMES);
  const { engine, key: texts = (process.env[KEY_VARIABLE] ?? '').split(',') } = options;
  const { leaseMs = 10_000, serverLeaseMs = 30_000, address } = options;
  if (!Number.isSafeInteger(serverLeaseMs) || serverLeaseMs < LEAST_SERVER_LEASE_MS)
    throw new TypeError(
      `createFleet: 'serverLeaseMs' must be a whole number of milliseconds, ${LEAST_SERVER_LEASE_MS} at least.`,
    );
  if (address !== undefined) checkAddress(address);
  const key = new FleetKey([texts].flat());
  const entries = new SealedEntries(engine, key);
  return {
    tokens: sharedTokens(engine, entries, leaseMs),
    trust: sharedTrust(entries),
    reviews: sharedReviews(entries),
    catalogs: sharedCatalogs(entries),
    serverLeaseMs,
    hosts: new Hosts({ engine, key, address }),
    engine,
    key,
    retries: (terms) => new FleetRetries(engine, terms),
  };
}

/** The turn to change one sign-in. */
interface Turn {
  readonly lease: FleetLease;
  /** What was read or written in this turn last; null before that. */
  version: string | null;
}

function sharedTokens(engine: FleetEngine, entries: SealedEntries, leaseMs: number): TokenStore {
  const holder = randomUUID();
  const mutex = new Mutex();
  const turns = new Map<string, Turn>();
  return {
    read: async (owner) => {
      const name = nameOf(owner);
      const turn = turns.get(name);
      // A renewal begins with what the engine has. Once it has begun, it must not fail of a lost engine.
      const reading = turn?.version === null ? entries.remember(name) : entries.recall(name);
      const { value, version } = await reading.catch(passing);
      if (turn !== undefined) turn.version = version;
      return value as StoredSignIn | undefined;
    },
    write: async (owner, signIn) => {
      const name = nameOf(owner);
      const turn = turns.get(name);
      if (turn === undefined) await entries.write(name, signIn).catch(passing);
      else await writeInTurn(entries, name, signIn, turn).catch(passing);
    },
    forget: async (owner) => {
      const name = nameOf(owner);
      await entries.remove(name).catch(passing);
      const turn = turns.get(name);
      if (turn !== undefined) turn.version = '0';
    },
    exclusively: (owner, work, signal) => {
      const name = nameOf(owner);
      const begin = async (): ReturnType<typeof work> => {
        const lease = await acquire(engine, { name, holder, leaseMs, signal });
        turns.set(name, { lease, version: null });
        const stop = keepRenewing(engine, lease);
        try {
          return await work();
        } finally {
          stop();
          turns.delete(name);
          // It ends by itself.
          await engine.release(lease).catch(() => {});
        }
      };
      return mutex.take(name, begin, signal);
    },
    watch: (owner, onChange) => entries.follow(nameOf(owner), onChange),
  };
}

/** The names of entries tell nothing about servers and accounts. */
function nameOf(owner: TokenOwner): string {
  return `sign-in/${createHash('sha256').update(ownerKey(owner)).digest('hex')}`;
}

/** A write of this turn may have been carried out although it seemed to fail: then the version has moved on. */
async function writeInTurn(
  entries: SealedEntries,
  name: string,
  signIn: StoredSignIn,
  turn: Turn,
): Promise<void> {
  let version = await entries.write(name, signIn, turn.version ?? '0');
  if (version === undefined && performance.now() < turn.lease.deadline) {
    version = await entries.write(name, signIn, (await entries.read(name)).version);
  }
  if (version === undefined) throw new Error('another host has renewed it in the meantime');
  turn.version = version;
}

interface LeaseTerms {
  readonly name: string;
  readonly holder: string;
  readonly leaseMs: number;
  readonly signal: AbortSignal;
}

async function acquire(
  engine: FleetEngine,
  { name, holder, leaseMs, signal }: LeaseTerms,
): Promise<FleetLease> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (performance.now() < giveUpAt) {
    signal.throwIfAborted();
    const lease = await engine.acquire(name, holder, leaseMs).catch(passing);
    if (lease !== undefined) return lease;
    await pause(systemClock, POLL_MS, signal);
  }
  throw new TransportError({
    code: 'connection-lost',
    message: 'Another host of the fleet has been renewing the sign-in for too long.',
  });
}

/** Until the returned function is called. A renewal that fails is tried again at the next. */
function keepRenewing(engine: FleetEngine, lease: FleetLease): () => void {
  const renew = (): void => {
    engine.renew(lease).catch(() => {});
    timer = systemClock.setTimeout(renew, lease.ttlMs / 3);
  };
  let timer = systemClock.setTimeout(renew, lease.ttlMs / 3);
  return () => systemClock.clearTimeout(timer);
}

/** The engine comes back, so the connection tries again. */
function passing(error: unknown): never {
  if (!isUnavailable(error)) throw error;
  throw new TransportError({ code: 'connection-lost', message: messageOf(error) }, { cause: error });
}

type Trusted = Readonly<Record<string, TrustedEntry>>;

function sharedTrust(entries: SealedEntries): TrustStore {
  const known = async (): Promise<Trusted> => ((await entries.recall(TRUSTED)).value ?? {}) as Trusted;
  return {
    has: async (hash) => Object.hasOwn(await known(), hash),
    list: async () => Object.values(await known()),
    trust: (request) =>
      entries.change(TRUSTED, (value) => ({
        ...(value as Trusted),
        [request.hash]: toTrustedEntry(request),
      })),
    revoke: (hash) =>
      entries.change(TRUSTED, (value) => {
        const { [hash]: _, ...others } = (value ?? {}) as Trusted;
        return others;
      }),
    watch: (onChange) => entries.follow(TRUSTED, onChange),
  };
}

interface Accepted {
  /** For people who ask what an entry is. */
  readonly server: string;
  readonly tools: readonly RememberedTool[];
}

function sharedReviews(entries: SealedEntries): ReviewStore {
  /** Servers of this host: only theirs are followed. */
  const hashes = new Set<string>();
  const followers = new Set<(hash: string) => void>();
  return {
    baseline: async ({ hash, server }, first) => {
      const name = `review/${hash}`;
      const accepted = async (): Promise<Accepted | undefined> =>
        (await entries.recall(name)).value as Accepted | undefined;
      if (!hashes.has(hash)) {
        hashes.add(hash);
        for (const follow of followers) follow(hash);
      }
      const known = await accepted();
      if (known !== undefined) return known.tools;
      const version = await entries.write(name, { server, tools: first.map(toRemembered) }, '0');
      // Another host was faster.
      return version === undefined ? ((await accepted())?.tools ?? []) : first;
    },
    accept: ({ hash, server }, tools) =>
      entries.change(`review/${hash}`, (value) => {
        const before = (value as Accepted | undefined)?.tools ?? [];
        const now = new Map([...before, ...tools].map((tool) => [tool.name, toRemembered(tool)]));
        return { server, tools: [...now.values()] };
      }),
    watch: (onChange) => {
      const stops: (() => void)[] = [];
      const follow = (hash: string): void =>
        void stops.push(entries.follow(`review/${hash}`, () => onChange(hash)));
      followers.add(follow);
      hashes.forEach(follow);
      return () => {
        followers.delete(follow);
        for (const stop of stops.splice(0)) stop();
      };
    },
  };
}

function sharedCatalogs(entries: SealedEntries): CatalogStore {
  const name = (key: string): string => `catalog/${key}`;
  return {
    get: async (key) => (await entries.read(name(key))).value as CachedCatalog | undefined,
    put: async (key, catalog) => void (await entries.write(name(key), catalog)),
    delete: (key) => entries.remove(name(key)),
  };
}
