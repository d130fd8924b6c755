/**
 * The engine of a fleet over NATS with JetStream, 2.9 or later. Needs `@nats-io/transport-node`, `@nats-io/jetstream` and
 * `@nats-io/kv`.
 *
 * N1. Entries are in one bucket. Leases of one duration share a bucket whose keys live for that long, since NATS before 2.11
 *     has no time to live of a single key.
 * N2. The token of a lease is the time at which its bucket was made, and the revision of the key.
 * N3. A new bucket may replace one that was lost. It gives no lease until it is as old as a lease lasts.
 * N4. A stream may be lost with all data. The first operation that misses it makes it again, once.
 * N5. A name becomes the tokens of a subject, one for each part between slashes, since names may hold any character.
 * N6. Entries are read from the leader of their stream. A direct read may be answered by a server that lags behind, and one
 *     of a stream that was just made may get no answer at all.
 * N7. What there is ends with the newest message at the time of the question. The number of pending messages that a server
 *     reports does not reach 0 if an entry was replaced meanwhile.
 * N8. A bucket that is lost while the link stays leaves its watches silent, also when it is made again: its numbers begin anew.
 *     So each watch knows the birth of its bucket, and begins again if that is another one.
 * N9. A removed key leaves a marker, for the watches. One host at a time purges the markers that are old enough.
 * N10. The value of a lease names its holder and this lease: an answer that was lost leaves the holder without the revision.
 *
 * Longer than 300 lines because each promise of the port is kept here, by a bucket, a stream or a subject.
 */
import { randomUUID } from 'node:crypto';
import { jetstream, jetstreamManager, JetStreamApiError } from '@nats-io/jetstream';
import { Kvm, type KV, type KvWatchEntry } from '@nats-io/kv';
import { connect, nanos, type NatsConnection } from '@nats-io/transport-node';
import {
  call,
  checkName,
  checkText,
  checkTtl,
  nobody,
  unanswered,
  type FleetEngine,
  type FleetEntry,
  type FleetLease,
  type FleetLine,
  type PutTerms,
  type StopFleet,
} from '../fleet/engine.js';
import { EngineLink, type EngineOptions } from '../fleet/engine-link.js';
import { onAbort, pause } from '../async/abort.js';
import { Mutex } from '../async/semaphore.js';
import { settlesWithin } from '../async/timers.js';
import { systemClock } from '../ports.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';

export { FleetError, type FleetErrorCode } from '../fleet/engine.js';
export type { EngineOptions } from '../fleet/engine-link.js';
export type { FleetEngine, FleetEntry, FleetLease, FleetLine, PutTerms, StopFleet } from '../fleet/engine.js';

/** Options of `createNatsEngine`. */
export interface NatsEngineOptions extends EngineOptions {
  /** How many servers of a cluster keep each entry, lease and log: 1, 3 or 5. Default 1. */
  readonly replicas?: number;
  /**
   * How long a removed entry leaves a trace in the bucket, milliseconds: a watch that lags behind by more may miss the removal.
   * One host purges the traces, at intervals of ten times this. Default 60,000.
   */
  readonly removedMs?: number;
}

const NAMES: OptionNames<NatsEngineOptions> = {
  address: true,
  namespace: true,
  timeoutMs: true,
  replicas: true,
  removedMs: true,
};

type Jetstream = ReturnType<typeof jetstream>;
type Manager = Awaited<ReturnType<typeof jetstreamManager>>;

/** What one connection has. */
interface Session {
  readonly nc: NatsConnection;
  readonly js: Jetstream;
  readonly manager: Manager;
  readonly buckets: Kvm;
}

interface Watch {
  /** When the bucket that it watches was made; undefined before it has begun. */
  bornAt: string | undefined;
  /** Begins with every link, and with every bucket. Resolves when it has heard what is there. */
  begin(): Promise<void>;
  stop(): void;
}

const LOG_MS = 3_600_000;
/** A lease that this process was given. */
interface Given {
  readonly value: string;
  revision: number;
}

const RETRY_MS = 500;
/** Pause between two looks at whether the bucket is still the same. */
const LOOK_MS = 3_000;
/** The budget of purges. */
const PURGES = 'nats/purges';
/** The interval between purges, in multiples of `removedMs`. */
const PURGE_TIMES = 10;
const PING_MS = 2_000;
/** Limit for a watch to hear what is there. */
const BEGIN_MS = 5_000;
/** Longest pause before a budget is asked again after another host was faster; longer with each time. */
const FASTER_MS = 5;
const WRONG_REVISION = 10_071;

/** See `createNatsEngine`. */
class NatsEngine implements FleetEngine {
  readonly #link: EngineLink;
  readonly #replicas: number;
  readonly #removedMs: number;
  readonly #connected: Promise<Session>;
  readonly #buckets = new Map<string, Promise<KV>>();
  #logs: Promise<unknown> | undefined;
  /** For each bucket of leases: when it was made, and from when on it gives leases here. */
  readonly #births = new Map<string, { readonly bornAt: number; readonly from: number }>();
  readonly #given = new WeakMap<FleetLease, Given>();
  readonly #watches = new Set<Watch>();
  /** Takes from the same budget by this process, one after the other. */
  readonly #takes = new Mutex();
  /** Number of links so far. */
  #links = 0;
  readonly #ending = new AbortController();

  constructor(options: NatsEngineOptions) {
    const { replicas = 1, removedMs = 60_000 } = options;
    this.#link = new EngineLink('createNatsEngine', options, /^(?:nats|tls):$/);
    if (![1, 3, 5].includes(replicas)) throw new TypeError("createNatsEngine: 'replicas' must be 1, 3 or 5.");
    if (!Number.isSafeInteger(removedMs) || removedMs < 1)
      throw new TypeError(
        "createNatsEngine: 'removedMs' must be a whole number of milliseconds, 1 at least.",
      );
    this.#replicas = replicas;
    this.#removedMs = removedMs;
    this.#connected = this.#connect();
    // Each operation reports the error.
    this.#connected.catch(() => {});
  }

  get isUp(): boolean {
    return this.#link.isUp;
  }

  async get(key: string): Promise<FleetEntry | undefined> {
    const subject = toSubject(checkName(key));
    const entry = await this.#inBucket('', (kv) => kv.get(subject));
    if (entry === null || entry.operation !== 'PUT') return undefined;
    return { value: entry.string(), version: String(entry.revision) };
  }

  async put(key: string, value: string, { ifVersion }: PutTerms = {}): Promise<string | undefined> {
    const subject = toSubject(checkName(key));
    checkText(value);
    const revision = await this.#inBucket('', (kv) => {
      if (ifVersion === undefined) return kv.put(subject, value);
      const writing =
        ifVersion === '0' ? kv.create(subject, value) : kv.update(subject, value, Number(ifVersion));
      return unlessTaken(writing);
    });
    return revision === undefined ? undefined : String(revision);
  }

  async remove(key: string): Promise<void> {
    const subject = toSubject(checkName(key));
    await this.#inBucket('', (kv) => kv.delete(subject));
  }

  async watch(keys: string, onChange: (key: string, value: string | undefined) => void): Promise<StopFleet> {
    const filter = toFilter(checkName(keys));
    let present = new Set<string>();
    let changes: { stop(): void } | undefined;
    let turn = 0;
    const hear = (entry: KvWatchEntry): void => {
      const key = toName(entry.key);
      if (entry.operation === 'PUT') call(onChange, key, entry.string());
      else if (present.has(key)) call(onChange, key, undefined);
      if (entry.operation === 'PUT') present.add(key);
      else present.delete(key);
    };
    /** Resolves to whether the watch goes on: the newest entry of the beginning was heard. */
    const hearUntil = async (newest: number, entries: AsyncIterator<KvWatchEntry>): Promise<boolean> => {
      const mine = turn;
      for (let heard = 0; heard < newest;) {
        const next = await entries.next();
        if (next.done === true || mine !== turn) return false;
        hear(next.value);
        heard = next.value.revision;
      }
      return true;
    };
    return new Promise((resolve) => {
      const watch: Watch = {
        bornAt: undefined,
        begin: async () => {
          turn += 1;
          const mine = turn;
          changes?.stop();
          const kv = await this.#bucket('');
          const { created } = await this.#info('');
          const following = await kv.watch({ key: filter });
          if (mine !== turn) return following.stop();
          changes = following;
          const newest = await this.#newest(this.#bucketStream(''), `$KV.${this.#link.namespace}.${filter}`);
          if (mine !== turn) return;
          const before = present;
          present = new Set();
          const entries = following[Symbol.asyncIterator]();
          if (!(await hearUntil(newest, entries))) return;
          for (const key of before) {
            if (present.has(key)) continue;
            // It may have been replaced meanwhile: then it is heard next.
            const entry = await kv.get(toSubject(key));
            if (mine !== turn) return;
            if (entry?.operation !== 'PUT') call(onChange, key, undefined);
          }
          hearUntil(Infinity, entries).catch(() => {});
          watch.bornAt = created;
          resolve(stop);
        },
        stop: () => {
          turn += 1;
          changes?.stop();
          // Only a watch that the engine's end stops has not begun yet.
          resolve(stop);
        },
      };
      const stop = async (): Promise<void> => {
        this.#watches.delete(watch);
        watch.stop();
      };
      this.#watches.add(watch);
      void this.#begin(watch);
    });
  }

  async acquire(name: string, holder: string, ttlMs: number): Promise<FleetLease | undefined> {
    const subject = toSubject(checkName(name));
    checkName(holder);
    const bucket = `-lease-${checkTtl(ttlMs)}`;
    return this.#inBucket(
      bucket,
      async (kv) => {
        const bornAt = await this.#bornAt(bucket, ttlMs);
        if (bornAt === undefined) return undefined;
        const sentAt = performance.now();
        const value = `${randomUUID()} ${holder}`;
        const revision = (await unlessTaken(kv.create(subject, value))) ?? (await again(kv, subject, value));
        if (revision === undefined) return undefined;
        const token = `${digits(bornAt)}.${digits(revision)}`;
        const lease: FleetLease = { name, holder, ttlMs, token, deadline: sentAt + ttlMs };
        this.#given.set(lease, { value, revision });
        return lease;
      },
      ttlMs,
    );
  }

  async renew(lease: FleetLease): Promise<boolean> {
    const sentAt = performance.now();
    const { name, ttlMs } = lease;
    const isHeld = await this.#asHolder(lease, async (kv, given, revision) => {
      given.revision = await kv.update(toSubject(name), given.value, revision);
    });
    if (isHeld) lease.deadline = sentAt + ttlMs;
    return isHeld;
  }

  async release(lease: FleetLease): Promise<void> {
    await this.#asHolder(lease, (kv, _, previousSeq) => kv.delete(toSubject(lease.name), { previousSeq }));
  }

  /** Whether the lease is still there, and was written. */
  async #asHolder(
    lease: FleetLease,
    write: (kv: KV, given: Given, revision: number) => Promise<void>,
  ): Promise<boolean> {
    const given = this.#given.get(lease);
    if (given === undefined) return false;
    const { name, ttlMs } = lease;
    const wrote = async (kv: KV, revision: number): Promise<true> => {
      await write(kv, given, revision);
      return true;
    };
    const work = async (kv: KV): Promise<boolean> => {
      if ((await unlessTaken(wrote(kv, given.revision))) === true) return true;
      const held = await kv.get(toSubject(name));
      if (held?.operation !== 'PUT' || held.string() !== given.value) return false;
      return (await unlessTaken(wrote(kv, held.revision))) === true;
    };
    return this.#inBucket(`-lease-${ttlMs}`, work, ttlMs);
  }

  publish(topic: string, data: string): void {
    const subject = this.#subject('t', topic);
    checkText(data);
    if (this.isUp) void this.#connected.then(({ nc }) => nc.publish(subject, data)).catch(() => {});
  }

  async subscribe(topics: string, onMessage: (topic: string, data: string) => void): Promise<StopFleet> {
    const start = `${this.#link.namespace}.t.`.length;
    const subject = `${this.#link.namespace}.t.${toFilter(checkName(topics))}`;
    return this.#listen(subject, (text, from) => call(onMessage, toName(from.slice(start)), text));
  }

  async answer(host: string, answer: (data: string) => Promise<string>): Promise<StopFleet> {
    return this.#listen(this.#subject('h', host), async (text, _, respond) => {
      const result = await Promise.resolve(text)
        .then(answer)
        .then((given) => `+${checkText(given)}`)
        .catch(() => '-');
      respond(result);
    });
  }

  async ask(host: string, data: string, timeoutMs: number): Promise<string> {
    const subject = this.#subject('h', host);
    checkText(data);
    if (!this.isUp) await this.#link.run(() => this.#connected);
    const { nc } = await this.#connected;
    let answer: string;
    try {
      answer = (await nc.request(subject, data, { timeout: timeoutMs, noMux: false })).string();
    } catch (error) {
      if (!this.isUp) throw this.#link.error;
      throw isUnheard(error) ? nobody(host) : unanswered(host);
    }
    if (answer.startsWith('+')) return answer.slice(1);
    throw unanswered(host);
  }

  async append(log: string, lines: readonly string[]): Promise<void> {
    const subject = this.#subject('s', log);
    lines.forEach(checkText);
    await this.#inLogs(async ({ js }) => {
      // In order, since the second may overtake the first only on another connection.
      await Promise.all(lines.map((line) => js.publish(subject, line)));
    });
  }

  async read(log: string, after: string): Promise<readonly FleetLine[]> {
    const filter = this.#subject('s', log);
    return this.#inLogs(async ({ js }, signal) => {
      const lines: FleetLine[] = [];
      const newest = await this.#newest(this.#logStream, filter);
      if (newest <= Number(after)) return lines;
      const from =
        after === '0'
          ? {}
          : { deliver_policy: 'by_start_sequence' as const, opt_start_seq: Number(after) + 1 };
      const consumer = await js.consumers.get(this.#logStream, { filter_subjects: filter, ...from });
      signal.throwIfAborted();
      const messages = await consumer.consume();
      onAbort(signal, { handleEvent: () => messages.stop() });
      for await (const message of messages) {
        lines.push({ cursor: String(message.seq), line: message.string() });
        if (message.seq >= newest || signal.aborted) break;
      }
      return lines;
    });
  }

  async drop(log: string): Promise<void> {
    const filter = this.#subject('s', log);
    await this.#inLogs(({ manager }) => manager.streams.purge(this.#logStream, { filter }));
  }

  /** No counter of 2.9 can do it in one step: what was read is replaced unless somebody was faster. */
  async take(budget: string, burst: number, everyMs: number): Promise<number> {
    const subject = toSubject(checkName(budget));
    const take = async (kv: KV, signal: AbortSignal): Promise<number> => {
      for (let tries = 1; ; tries += 1) {
        signal.throwIfAborted();
        const now = systemClock.now();
        const entry = await kv.get(subject);
        // Clocks of hosts differ: no budget is further ahead than a full one.
        const due = Math.min(Math.max(Number(entry?.string() ?? 0), now), now + burst * everyMs);
        const waitMs = due - now - (burst - 1) * everyMs;
        if (waitMs > 0) return waitMs;
        const next = String(due + everyMs);
        const writing = entry === null ? kv.create(subject, next) : kv.update(subject, next, entry.revision);
        if ((await unlessTaken(writing)) !== undefined) return 0;
        await pause(systemClock, Math.random() * tries * FASTER_MS, signal);
      }
    };
    return this.#inBucket('-budgets', (kv, signal) =>
      this.#takes.take(budget, () => take(kv, signal), signal),
    );
  }

  async close(): Promise<void> {
    this.#ending.abort();
    this.#link.close();
    const watches = [...this.#watches];
    this.#watches.clear();
    for (const watch of watches) watch.stop();
    const session = await this.#connected.catch(() => undefined);
    await session?.nc.close();
  }

  #bucketStream(suffix: string): string {
    return `KV_${this.#link.namespace}${suffix}`;
  }

  get #logStream(): string {
    return `${this.#link.namespace}-logs`;
  }

  #subject(kind: string, name: string): string {
    return `${this.#link.namespace}.${kind}.${toSubject(checkName(name))}`;
  }

  /** Tries until the first link is there; later ones are made by the client. */
  async #connect(): Promise<Session> {
    const { address, timeoutMs } = this.#link;
    const { host, username, password, protocol } = address;
    const user = decodeURIComponent(username);
    const who = password === '' ? { token: user } : { user, pass: decodeURIComponent(password) };
    while (!this.#ending.signal.aborted) {
      try {
        const nc = await connect({
          servers: host,
          ...(user === '' ? {} : who),
          ...(protocol === 'tls:' ? { tls: {} } : {}),
          maxReconnectAttempts: -1,
          reconnectTimeWait: RETRY_MS / 2,
          reconnectJitter: RETRY_MS / 5,
          pingInterval: PING_MS,
          maxPingOut: 2,
          timeout: Math.max(timeoutMs, 1_000),
          ignoreAuthErrorAbort: true,
        });
        const js = jetstream(nc, { timeout: timeoutMs });
        const manager = await jetstreamManager(nc, { timeout: timeoutMs, checkAPI: false });
        void this.#follow(nc);
        void this.#lookAfter();
        if (this.#ending.signal.aborted) await nc.close();
        else this.#up();
        return { nc, js, manager, buckets: new Kvm(js) };
      } catch (error) {
        if (this.#ending.signal.aborted) break;
        this.#link.down(error);
        await this.#pause();
      }
    }
    throw this.#link.error;
  }

  async #follow(nc: NatsConnection): Promise<void> {
    for await (const { type } of nc.status()) {
      if (this.#ending.signal.aborted) return;
      if (type === 'disconnect' || type === 'staleConnection') this.#link.down('the link was lost');
      if (type === 'reconnect') this.#up();
    }
  }

  /** What is known of buckets and streams may be outdated, and watches begin anew. */
  #up(): void {
    this.#buckets.clear();
    this.#logs = undefined;
    this.#links += 1;
    this.#link.up();
    for (const watch of this.#watches) void this.#begin(watch);
  }

  /**
   * Tries again while the engine refuses, and if it is silent: a server of a cluster may be lost while the link to another
   * stays. Each link begins every watch, so an attempt of an earlier link ends.
   */
  async #begin(watch: Watch): Promise<void> {
    const link = this.#links;
    while (this.#watches.has(watch) && link === this.#links) {
      try {
        await this.#connected;
        if (link !== this.#links) return;
        const begun = watch.begin();
        if (await settlesWithin(systemClock, BEGIN_MS, begun)) return await begun;
      } catch (error) {
        if (isMissing(error)) this.#buckets.delete('');
        await this.#pause();
      }
    }
  }

  /** While the link is there: begins watches again whose bucket is gone, and purges what was removed. */
  async #lookAfter(): Promise<void> {
    const { signal } = this.#ending;
    const everyMs = Math.min(LOOK_MS, this.#removedMs * PURGE_TIMES);
    for (let purgeAt = 0; !signal.aborted; await this.#pause(everyMs)) {
      if (!this.isUp) continue;
      await this.#findAgain().catch(() => {});
      const now = performance.now();
      if (now < purgeAt) continue;
      purgeAt = now + this.#removedMs * PURGE_TIMES;
      await this.#purge().catch(() => {});
    }
  }

  async #findAgain(): Promise<void> {
    if (this.#watches.size === 0) return;
    const bornAt = await this.#link.run(async () => {
      try {
        return (await this.#info('')).created;
      } catch (error) {
        if (!isMissing(error)) throw error;
        this.#buckets.delete('');
        return undefined;
      }
    });
    for (const watch of this.#watches) {
      if (watch.bornAt === undefined || watch.bornAt === bornAt) continue;
      watch.bornAt = undefined;
      void this.#begin(watch);
    }
  }

  /** Ends with the limit of an operation, and goes on the next time. */
  async #purge(): Promise<void> {
    if ((await this.take(PURGES, 1, this.#removedMs * PURGE_TIMES)) > 0) return;
    await this.#inBucket('', async (kv, signal) => {
      const { manager } = await this.#connected;
      const stream = this.#bucketStream('');
      const { ts } = await this.#info('');
      const before = serverTime(ts) - this.#removedMs;
      const newest = await this.#newest(stream, `$KV.${this.#link.namespace}.>`);
      if (newest === 0) return;
      const entries = await kv.watch({ key: '>', headers_only: true });
      const over = onAbort(signal, { handleEvent: () => entries.stop() });
      for await (const { key, operation, created, revision } of entries) {
        // The number keeps what is put under the key meanwhile.
        const terms = { filter: `$KV.${this.#link.namespace}.${key}`, seq: revision + 1 };
        if (operation !== 'PUT' && created.getTime() < before) await manager.streams.purge(stream, terms);
        if (revision >= newest || signal.aborted) break;
      }
      over();
      entries.stop();
    });
  }

  async #pause(ms = RETRY_MS): Promise<void> {
    await pause(systemClock, ms, this.#ending.signal).catch(() => {});
  }

  async #bucket(suffix: string, ttlMs = 0): Promise<KV> {
    const { buckets } = await this.#connected;
    const known = this.#buckets.get(suffix);
    if (known !== undefined) return known;
    const lasting = ttlMs === 0 ? {} : { ttl: ttlMs };
    const terms = { history: 1, replicas: this.#replicas, allow_direct: false, ...lasting };
    const made = buckets.create(`${this.#link.namespace}${suffix}`, terms);
    this.#buckets.set(suffix, made);
    made.catch(() => this.#buckets.delete(suffix));
    return made;
  }

  #inBucket<T>(
    suffix: string,
    work: (kv: KV, signal: AbortSignal) => Promise<T>,
    ttlMs?: number,
  ): Promise<T> {
    return this.#link.run(async (signal) => {
      try {
        return await work(await this.#bucket(suffix, ttlMs), signal);
      } catch (error) {
        if (signal.aborted || !isMissing(error)) throw error;
        this.#buckets.delete(suffix);
        return work(await this.#bucket(suffix, ttlMs), signal);
      }
    });
  }

  #inLogs<T>(work: (session: Session, signal: AbortSignal) => Promise<T>): Promise<T> {
    const made = async (): Promise<Session> => {
      const session = await this.#connected;
      this.#logs ??= session.manager.streams.add({
        name: this.#logStream,
        subjects: [`${this.#link.namespace}.s.>`],
        num_replicas: this.#replicas,
        max_age: nanos(LOG_MS),
      });
      await this.#logs;
      return session;
    };
    return this.#link.run(async (signal) => {
      try {
        return await work(await made(), signal);
      } catch (error) {
        this.#logs = undefined;
        if (signal.aborted || !isMissing(error)) throw error;
        return work(await made(), signal);
      }
    });
  }

  /** The number of the newest message of that subject, or of all that it stands for; 0 if there is none. */
  async #newest(stream: string, subject: string): Promise<number> {
    const { manager } = await this.#connected;
    return (await manager.streams.getMessage(stream, { last_by_subj: subject }))?.seq ?? 0;
  }

  async #info(suffix: string) {
    const { manager } = await this.#connected;
    return manager.streams.info(this.#bucketStream(suffix));
  }

  /** When the bucket was made; undefined while leases of an earlier bucket may still be held. */
  async #bornAt(suffix: string, ttlMs: number): Promise<number | undefined> {
    const { created, ts } = await this.#info(suffix);
    const bornAt = Date.parse(created);
    let birth = this.#births.get(suffix);
    if (birth?.bornAt !== bornAt) {
      const ageMs = serverTime(ts) - bornAt;
      birth = { bornAt, from: performance.now() + Math.max(0, ttlMs - Math.max(0, ageMs)) };
      this.#births.set(suffix, birth);
    }
    return performance.now() < birth.from ? undefined : bornAt;
  }

  async #listen(
    subject: string,
    fn: (text: string, subject: string, respond: (text: string) => void) => unknown,
  ): Promise<StopFleet> {
    const { nc } = await this.#connected;
    const subscription = nc.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) void fn(message.string(), message.subject, (text) => message.respond(text));
      },
    });
    // A publisher on another connection is heard from now on.
    await this.#link.run(() => nc.flush()).catch(() => {});
    return async () => {
      subscription.unsubscribe();
      if (this.isUp) await this.#link.run(() => nc.flush()).catch(() => {});
    };
  }
}

/** One token for each part of a name. */
function toSubject(name: string): string {
  const parts = name.split('/').map((part) => Buffer.from(part).toString('base64url'));
  return parts.map((part) => (part === '' ? '-' : part)).join('.');
}

function toName(subject: string): string {
  const parts = subject
    .split('.')
    .map((part) => (part === '-' ? '' : Buffer.from(part, 'base64url').toString()));
  return parts.join('/');
}

/** The subjects of a name, or of all that begin with a text which ends with `/`. */
function toFilter(names: string): string {
  return names.endsWith('/') ? `${toSubject(names.slice(0, -1))}.>` : toSubject(names);
}

function digits(number: number): string {
  return String(number).padStart(16, '0');
}

/** Undefined if the key has another revision. */
async function unlessTaken<T>(writing: Promise<T>): Promise<T | undefined> {
  try {
    return await writing;
  } catch (error) {
    if (codeOfApi(error) === WRONG_REVISION) return undefined;
    throw error;
  }
}

/** A holder who asks again gets the lease that was given to a question whose answer came too late. */
async function again(kv: KV, subject: string, value: string): Promise<number | undefined> {
  const held = await kv.get(subject);
  if (held?.operation !== 'PUT' || holderOf(held.string()) !== holderOf(value)) return undefined;
  return unlessTaken(kv.update(subject, value, held.revision));
}

function holderOf(value: string): string {
  return value.slice(value.indexOf(' ') + 1);
}

function serverTime(ts: string | undefined): number {
  return ts === undefined ? systemClock.now() : Date.parse(ts);
}

function codeOfApi(error: unknown): number | undefined {
  if (error instanceof JetStreamApiError) return error.code;
  const { cause } = error as { readonly cause?: unknown };
  return cause instanceof JetStreamApiError ? cause.code : undefined;
}

/** Whether the stream is not there: it says so, or nobody answers for it. */
function isMissing(error: unknown): boolean {
  return codeOfApi(error) === 10_059 || isUnheard(error);
}

function isUnheard(error: unknown): boolean {
  const { name, message, cause } = error as Error;
  return /no ?responders/i.test(`${name} ${message}`) || (cause instanceof Error && isUnheard(cause));
}

/**
 * An engine over NATS with JetStream, version 2.9 or later. It connects at once, reconnects by itself, and is used until it is
 * closed. Throws a `TypeError` if the address cannot be used.
 *
 * @param options Where the server is. Each field documents its default.
 *
 * @example
 * ```ts
 * import { createFleet } from 'mcp-troupe/fleet';
 * import { createNatsEngine } from 'mcp-troupe/fleet-nats';
 *
 * const engine = createNatsEngine({ address: 'tls://user:password@nats.example.com:4222', replicas: 3 });
 * const fleet = createFleet({ engine, key: process.env.TROUPE_FLEET_KEY });
 * ```
 */
export function createNatsEngine(options: NatsEngineOptions): FleetEngine {
  requireKnown('createNatsEngine', options, NAMES);
  return new NatsEngine(options);
}
