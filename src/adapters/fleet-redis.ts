/**
 * The engine of a fleet over Redis or Valkey, 6.2 or later. Needs `@redis/client`.
 *
 * Two connections: one for commands, one for what is listened to.
 *
 * R1. A lease ends by the clock of the server. Its token, like the version of an entry, is one more than the last, or the
 *     server's time in milliseconds if that is greater, so it grows even if the server has lost everything.
 * R2. A server with another `run_id` or `master_replid` than before, or without a note of them, was restarted, promoted or
 *     wiped, and may not know the leases that were given. It gives none until one full time to live has passed.
 * R3. A lease that was given to a question whose answer came too late belongs to the holder who asks again.
 * R4. A clock that was set back begins the wait of R2 anew, and makes no budget wait for longer than a full one.
 * R5. All keys have the same hash tag, since a script may touch several keys only if they are in one slot of a cluster.
 * R6. The first entry leaves a mark. If that is another one than before, the entries were lost while the link stayed, and
 *     watches read everything again.
 *
 * Longer than 300 lines because each promise of the port is kept here, by a script or a command.
 */
import { createClient } from '@redis/client';
import { randomUUID } from 'node:crypto';
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
import { systemClock } from '../ports.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';

export { FleetError, type FleetErrorCode } from '../fleet/engine.js';
export type { EngineOptions } from '../fleet/engine-link.js';
export type { FleetEngine, FleetEntry, FleetLease, FleetLine, PutTerms, StopFleet } from '../fleet/engine.js';

/** Options of `createRedisEngine`. */
export type RedisEngineOptions = EngineOptions;

const NAMES: OptionNames<RedisEngineOptions> = { address: true, namespace: true, timeoutMs: true };

const PUT = `
local version = redis.call('HGET', KEYS[1], 'n') or '0'
if ARGV[2] ~= '' and ARGV[2] ~= version then return false end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local new = string.format('%.0f', math.max(tonumber(redis.call('GET', KEYS[2]) or '0') + 1, now))
redis.call('SET', KEYS[2], new)
redis.call('SET', KEYS[3], new, 'NX')
redis.call('HSET', KEYS[1], 'v', ARGV[1], 'n', new)
redis.call('PUBLISH', ARGV[3], '')
return new`;

const REMOVE = `
if redis.call('DEL', KEYS[1]) == 1 then redis.call('PUBLISH', ARGV[1], '') end`;

/** Keys: the lease, the last token of its name, the note of the server. Arguments: holder, time to live. */
const ACQUIRE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local run = (string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or '')
  .. (string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') or '')
local seen = redis.call('HMGET', KEYS[3], 'run', 'since')
if seen[1] ~= run or tonumber(seen[2]) > now then
  redis.call('HSET', KEYS[3], 'run', run, 'since', now)
  seen[2] = now
end
local holder = redis.call('HGET', KEYS[1], 'holder')
if holder and holder ~= ARGV[1] then return false end
if now - seen[2] < tonumber(ARGV[2]) then return false end
local token = string.format('%016.0f', math.max(tonumber(redis.call('GET', KEYS[2]) or '0') + 1, now))
redis.call('SET', KEYS[2], token)
redis.call('HSET', KEYS[1], 'holder', ARGV[1], 'token', token)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return token`;

const RENEW = `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

const RELEASE = `
if redis.call('HGET', KEYS[1], 'token') == ARGV[1] then redis.call('DEL', KEYS[1]) end`;

const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local every = tonumber(ARGV[2])
local burst = tonumber(ARGV[1])
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
due = math.min(due, now + burst * every)
local wait = due - now - (burst - 1) * every
if wait > 0 then return tostring(wait) end
redis.call('SET', KEYS[1], string.format('%.3f', due + every), 'PX', math.max(1, math.ceil(due + every - now)))
return '0'`;

const LOG_SECONDS = 3_600;
/** Lines that are read with one command. */
const PAGE = 1_000;
/** A server that is silent for this long is frozen: its connections are made anew. */
const SILENT_MS = 4_000;
/** Pause between two looks at whether the entries are still the same. */
const LOOK_MS = 3_000;

/** See `createRedisEngine`. */
class RedisEngine implements FleetEngine {
  readonly #link: EngineLink;
  readonly #commands: ReturnType<typeof toClient>;
  readonly #listener: ReturnType<typeof toClient>;
  /** Where answers to this process arrive, once it listens. */
  readonly #inbox = randomUUID();
  readonly #listening: Promise<unknown>;
  readonly #questions = new Map<string, (answer: string | undefined) => void>();
  /** For each watch: reads everything, and ends the wait for the first time. */
  readonly #watches = new Map<() => Promise<void>, () => void>();
  /** Called with the next link, or at the end. */
  readonly #waiting: (() => void)[] = [];
  #retry: unknown;
  #look: unknown;
  /** With which version the entries began, as it was read last. */
  #bornAt: string | null | undefined;
  #asked = 0;
  #isClosed = false;

  constructor(options: RedisEngineOptions) {
    this.#link = new EngineLink('createRedisEngine', options, /^rediss?:$/);
    this.#commands = toClient(this.#link.address, true);
    this.#listener = toClient(this.#link.address, false);
    for (const client of [this.#commands, this.#listener]) {
      client.on('error', (error) => this.#link.down(error));
      client.on('ready', () => this.#ready());
      // It rejects when the engine is closed before.
      client.connect().catch(() => {});
    }
    this.#lookSoon();
    this.#listening = this.#hear(this.#key('r', this.#inbox), (text) => this.#answered(text));
    // `ask` reports the error.
    this.#listening.catch(() => {});
  }

  get isUp(): boolean {
    return this.#link.isUp;
  }

  async get(key: string): Promise<FleetEntry | undefined> {
    const at = this.#key('e', key);
    const [value, version] = await this.#link.run(() => this.#commands.hmGet(at, ['v', 'n']));
    return typeof value === 'string' && typeof version === 'string' ? { value, version } : undefined;
  }

  async put(key: string, value: string, { ifVersion = '' }: PutTerms = {}): Promise<string | undefined> {
    const keys = [this.#key('e', key), `${this.#prefix}version`, this.#born];
    const version = await this.#run(PUT, keys, [checkText(value), ifVersion, this.#key('c', key)]);
    return typeof version === 'string' ? version : undefined;
  }

  async remove(key: string): Promise<void> {
    await this.#run(REMOVE, [this.#key('e', key)], [this.#key('c', key)]);
  }

  async watch(keys: string, onChange: (key: string, value: string | undefined) => void): Promise<StopFleet> {
    const known = new Set<string>();
    const read = async (key: string): Promise<void> => {
      const entry = await this.get(key);
      const isNews = entry === undefined ? known.delete(key) : known.add(key);
      if (isNews && this.#watches.has(readAll)) call(onChange, key, entry?.value);
    };
    const readAll = async (): Promise<void> => {
      await Promise.all([...new Set([...known, ...(await this.#existing(keys))])].map(read));
    };
    const prefix = this.#prefixOf('c');
    const stop = await this.#hear(this.#key('c', keys), (_, channel) => {
      read(channel.slice(prefix.length)).catch(() => this.#readSoon());
    });
    await new Promise<void>((resolve) => {
      this.#watches.set(readAll, resolve);
      void this.#read(readAll);
    });
    return async () => {
      this.#watches.delete(readAll);
      await stop();
    };
  }

  async #read(readAll: () => Promise<void>): Promise<void> {
    try {
      await readAll();
      this.#watches.get(readAll)?.();
    } catch {
      this.#readSoon();
    }
  }

  /** A change may have been missed. */
  #readSoon(): void {
    this.#retry ??= systemClock.setTimeout(() => this.#readWatched(), this.#link.timeoutMs);
  }

  #lookSoon(): void {
    this.#look = systemClock.setTimeout(() => void this.#lookAfter(), LOOK_MS);
  }

  /** Entries that are lost all at once, while the link stays, are not announced. */
  async #lookAfter(): Promise<void> {
    try {
      if (this.isUp && this.#watches.size > 0) {
        const before = this.#bornAt;
        this.#bornAt = await this.#link.run(() => this.#commands.get(this.#born));
        if (before !== this.#bornAt) this.#readWatched();
      }
    } catch {
      // It is looked for again.
    }
    if (!this.#isClosed) this.#lookSoon();
  }

  get #born(): string {
    return `${this.#prefix}born`;
  }

  #readWatched(): void {
    systemClock.clearTimeout(this.#retry);
    this.#retry = undefined;
    for (const readAll of this.#watches.keys()) void this.#read(readAll);
  }

  async acquire(name: string, holder: string, ttlMs: number): Promise<FleetLease | undefined> {
    const sentAt = performance.now();
    const keys = [this.#key('l', name), this.#key('f', name), `${this.#prefix}server`];
    const token = await this.#run(ACQUIRE, keys, [checkName(holder), String(checkTtl(ttlMs))]);
    return typeof token === 'string' ? { name, holder, ttlMs, token, deadline: sentAt + ttlMs } : undefined;
  }

  async renew(lease: FleetLease): Promise<boolean> {
    const sentAt = performance.now();
    const { name, token, ttlMs } = lease;
    const isHeld = (await this.#run(RENEW, [this.#key('l', name)], [token, String(ttlMs)])) === 1;
    if (isHeld) lease.deadline = sentAt + ttlMs;
    return isHeld;
  }

  async release({ name, token }: FleetLease): Promise<void> {
    await this.#run(RELEASE, [this.#key('l', name)], [token]);
  }

  publish(topic: string, data: string): void {
    const channel = this.#key('t', topic);
    checkText(data);
    if (this.isUp) this.#commands.publish(channel, data).catch(() => {});
  }

  async subscribe(topics: string, onMessage: (topic: string, data: string) => void): Promise<StopFleet> {
    const prefix = this.#prefixOf('t');
    return this.#hear(this.#key('t', topics), (data, channel) =>
      call(onMessage, channel.slice(prefix.length), data),
    );
  }

  async answer(host: string, answer: (data: string) => Promise<string>): Promise<StopFleet> {
    return this.#hear(this.#key('h', host), (text) => void this.#reply(text, answer));
  }

  /** The question names the inbox and its number: `INBOX NUMBER DATA`. The answer: `NUMBER +DATA`, or `NUMBER -`. */
  async #reply(text: string, answer: (data: string) => Promise<string>): Promise<void> {
    const [inbox = '', id = ''] = text.split(' ', 2);
    const data = text.slice(inbox.length + id.length + 2);
    const result = await Promise.resolve(data)
      .then(answer)
      .then((given) => `+${checkText(given)}`)
      .catch(() => '-');
    await this.#commands.publish(this.#key('r', inbox), `${id} ${result}`).catch(() => {});
  }

  async ask(host: string, data: string, timeoutMs: number): Promise<string> {
    const channel = this.#key('h', host);
    checkText(data);
    const id = String((this.#asked += 1));
    let timer: unknown;
    const answered = new Promise<string | undefined>((settle) => {
      timer = systemClock.setTimeout(() => settle(undefined), timeoutMs);
      this.#questions.set(id, settle);
    });
    try {
      const heard = await this.#link.run(async () => {
        await this.#listening;
        return this.#commands.publish(channel, `${this.#inbox} ${id} ${data}`);
      });
      if (heard === 0) throw nobody(host);
      const answer = await answered;
      if (answer?.startsWith('+') === true) return answer.slice(1);
      throw unanswered(host);
    } finally {
      systemClock.clearTimeout(timer);
      this.#questions.delete(id);
    }
  }

  #answered(text: string): void {
    const [id = ''] = text.split(' ', 1);
    this.#questions.get(id)?.(text.slice(id.length + 1));
  }

  async append(log: string, lines: readonly string[]): Promise<void> {
    const key = this.#key('s', log);
    lines.forEach(checkText);
    await this.#link.run(() => {
      const commands = this.#commands.multi();
      for (const line of lines) commands.xAdd(key, '*', { line });
      return commands.expire(key, LOG_SECONDS).exec();
    });
  }

  async read(log: string, after: string): Promise<readonly FleetLine[]> {
    const key = this.#key('s', log);
    return this.#link.run(async (signal) => {
      const lines: FleetLine[] = [];
      for (let from = after; ; from = lines.at(-1)?.cursor ?? from) {
        signal.throwIfAborted();
        const range = from === '0' ? '-' : `(${from}`;
        const page = (await this.#commands.xRange(key, range, '+', { COUNT: PAGE })) ?? [];
        lines.push(...page.map(({ id, message }) => ({ cursor: id, line: message['line'] ?? '' })));
        if (page.length < PAGE) return lines;
      }
    });
  }

  async drop(log: string): Promise<void> {
    const key = this.#key('s', log);
    await this.#link.run(() => this.#commands.del(key));
  }

  async take(budget: string, burst: number, everyMs: number): Promise<number> {
    return Number(await this.#run(TAKE, [this.#key('b', budget)], [String(burst), String(everyMs)]));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#link.close();
    for (const timer of [this.#retry, this.#look]) systemClock.clearTimeout(timer);
    for (const go of this.#waiting.splice(0)) go();
    for (const begun of this.#watches.values()) begun();
    this.#watches.clear();
    for (const settle of this.#questions.values()) settle(undefined);
    for (const client of [this.#commands, this.#listener]) client.destroy();
  }

  /** Resolves once there is a link; rejects if the engine is closed before. */
  async #linked(): Promise<void> {
    while (!this.isUp) {
      if (this.#isClosed) throw this.#link.error;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  get #prefix(): string {
    return `{${this.#link.namespace}}:`;
  }

  #prefixOf(kind: string): string {
    return `${this.#prefix}${kind}:`;
  }

  #key(kind: string, name: string): string {
    return this.#prefixOf(kind) + checkName(name);
  }

  #run(script: string, keys: string[], args: string[]): Promise<unknown> {
    return this.#link.run(() => this.#commands.eval(script, { keys, arguments: args }));
  }

  /** Both connections have to be there. */
  #ready(): void {
    if (!this.#commands.isReady || !this.#listener.isReady) return;
    this.#link.up();
    for (const go of this.#waiting.splice(0)) go();
    this.#readWatched();
  }

  /** Listens to a channel, or to all that begin with a text which ends with `/`. Waits for the link, however long. */
  async #hear(channels: string, fn: (text: string, channel: string) => void): Promise<StopFleet> {
    const listener = this.#listener;
    const isOne = !channels.endsWith('/');
    const pattern = toPattern(channels);
    for (let isHeard = false; !isHeard;) {
      await this.#linked();
      try {
        await (isOne ? listener.subscribe(channels, fn) : listener.pSubscribe(pattern, fn));
        isHeard = true;
      } catch {
        // The link was lost meanwhile. A failure while it is there is not waited out.
        if (listener.isReady) throw this.#link.error;
      }
    }
    const stop = async (): Promise<void> =>
      isOne ? listener.unsubscribe(channels, fn) : listener.pUnsubscribe(pattern, fn);
    // The client breaks if it ends a subscription twice.
    let stopped: Promise<void> | undefined;
    return () => (stopped ??= stop().catch(() => {}));
  }

  async #existing(keys: string): Promise<readonly string[]> {
    if (!keys.endsWith('/')) return [keys];
    const prefix = this.#prefixOf('e');
    return this.#link.run(async (signal) => {
      const found: string[] = [];
      for (let cursor = '0'; ;) {
        signal.throwIfAborted();
        const step = await this.#commands.scan(cursor, { MATCH: toPattern(prefix + keys), COUNT: PAGE });
        found.push(...step.keys.map((key) => key.slice(prefix.length)));
        cursor = step.cursor;
        if (cursor === '0') return found;
      }
    });
  }
}

/** The glob for everything that begins with the text. */
function toPattern(text: string): string {
  return `${text.replaceAll(/[\\*?[\]]/g, String.raw`\$&`)}*`;
}

function toClient({ href }: URL, isForCommands: boolean) {
  return createClient({
    url: href,
    RESP: 3,
    // Commands do not wait through an outage; subscriptions do.
    disableOfflineQueue: isForCommands,
    pingInterval: SILENT_MS / 4,
    socket: {
      connectTimeout: SILENT_MS,
      socketTimeout: SILENT_MS,
      reconnectStrategy: (tries) => Math.min(50 * 2 ** tries, 1_000),
    },
  });
}

/**
 * An engine over Redis or Valkey, version 6.2 or later. It connects at once, reconnects by itself, and is used until it is
 * closed. Throws a `TypeError` if the address cannot be used.
 *
 * @param options Where the server is. Each field documents its default.
 *
 * @example
 * ```ts
 * import { createFleet } from 'mcp-troupe/fleet';
 * import { createRedisEngine } from 'mcp-troupe/fleet-redis';
 *
 * const engine = createRedisEngine({ address: 'rediss://user:password@redis.example.com:6379' });
 * const fleet = createFleet({ engine, key: process.env.TROUPE_FLEET_KEY });
 * ```
 */
export function createRedisEngine(options: RedisEngineOptions): FleetEngine {
  requireKnown('createRedisEngine', options, NAMES);
  return new RedisEngine(options);
}
