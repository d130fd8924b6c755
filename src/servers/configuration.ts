/**
 * Decides when the configuration of a troupe is read: at the start, when a watched file changes, when the host asks for
 * it, and when an entry is trusted elsewhere. `servers.ts` decides what that means for the servers.
 *
 * C1. Readings are applied one at a time, in the order of the requests (`reload-queue.ts`).
 */
import { hasTag } from '../../machines/connection/connection.states.js';
import { abortable } from '../async/abort.js';
import type { TrustedEntries } from '../trust/trusted-entries.js';
import type { ConfigReader, HostServers } from './config-reader.js';
import type { LoadedConfig } from './load-config.js';
import type { ServerRow } from '../config/entry/server-spec.js';
import type { WaitOptions } from './connection.js';
import type { Publisher } from '../lifecycle/publish.js';
import type { Lifetime } from '../lifecycle/lifetime.js';
import type { Clock } from '../ports.js';
import { ReloadQueue } from './reload-queue.js';
import { settlesWithin } from '../async/timers.js';
import { toReloadReport, type AppliedDiff, type Outdated, type ReloadReport } from './reload-report.js';
import type { Server } from './server.js';
import type { Servers } from './servers.js';

export interface ConfigurationParts {
  readonly servers: Servers;
  readonly reader: ConfigReader;
  readonly trustedEntries: TrustedEntries;
  readonly publisher: Publisher;
  readonly lifetime: Lifetime;
  readonly clock: Clock;
  /** Whether the files are watched. */
  readonly isWatched: boolean;
  /** Longest wait for the servers that a reload added or changed, milliseconds. */
  readonly gateMs: number;
  /** Resolves when every list of tools is reviewed, or its review has taken too long. */
  readonly judged: () => Promise<void>;
  /** Called when the entries may have changed. */
  readonly onchanged?: (() => void) | undefined;
}

export class Configuration {
  readonly #parts: ConfigurationParts;
  readonly #reloads: ReloadQueue<AppliedDiff>;
  #unfollow: (() => void) | undefined;

  constructor(parts: ConfigurationParts) {
    this.#parts = parts;
    const { servers, reader, publisher, lifetime, clock } = parts;
    this.#reloads = new ReloadQueue({
      clock,
      publish: publisher.publish,
      roots: () => servers.supervisor.roots,
      isClosed: () => lifetime.isClosed,
      readAndApply: (given) => servers.readAndApply(given),
      applied: (applied) => this.#reportWhenDone(this.#reported(applied)),
      places: () => reader.places(),
    });
  }

  /** Reads the sources for the first time. Never rejects. */
  async open(): Promise<LoadedConfig> {
    const { servers, trustedEntries, lifetime } = this.#parts;
    const loaded = await servers.read();
    if (!lifetime.isClosed) this.#unfollow = trustedEntries.follow(() => this.#useTrust());
    return loaded;
  }

  /** Watches the files after the first reading, if the files are to be watched. */
  async watch({ sources }: LoadedConfig): Promise<void> {
    if (this.#parts.isWatched) await this.#reloads.watch(sources.every(({ ok }) => ok));
  }

  /** See `Troupe.reload`. */
  reload(servers?: HostServers, options: WaitOptions = {}): Promise<ReloadReport> {
    const reloading = this.#reload(servers, options);
    this.#reportWhenDone(reloading);
    return reloading;
  }

  /** Ends the watch of the files; resolves when every trusted entry is stored, too. */
  async close(): Promise<void> {
    this.#unfollow?.();
    await Promise.all([this.#reloads.close(), this.#parts.trustedEntries.kept()]);
  }

  async #reload(servers: HostServers | undefined, { signal }: WaitOptions): Promise<ReloadReport> {
    signal?.throwIfAborted();
    const reloading = this.#readAgain(servers);
    return signal === undefined ? reloading : abortable(reloading, signal);
  }

  async #readAgain(servers: HostServers | undefined): Promise<ReloadReport> {
    await this.#parts.servers.whenOpen();
    return this.#reported(await this.#reloads.ask(servers));
  }

  /** Resolves when the servers that were added or changed have made their first attempts, or the gate is over. */
  async #reported(applied: AppliedDiff): Promise<ReloadReport> {
    const { servers, judged } = this.#parts;
    const { added, changed } = applied.diff;
    const rows = changed.map(({ after }) => after);
    await this.#attempted([...added, ...rows].flatMap(({ name }) => servers.get(name) ?? []));
    await judged();
    return toReloadReport(
      applied,
      rows.flatMap((row) => this.#outdated(row)),
    );
  }

  /** Why a changed entry is not in use, if it is not. */
  #outdated(row: ServerRow): Outdated[] {
    const failure = this.#parts.servers.get(row.name)?.status.outdated ?? null;
    return failure === null ? [] : [{ row, failure }];
  }

  /** Resolves when each server has made its first attempt, or the gate is over. */
  async #attempted(servers: readonly Server[]): Promise<void> {
    const { publisher, clock, gateMs } = this.#parts;
    const waiting = new AbortController();
    const areOver = publisher.until(() => servers.every(isAttempted), waiting.signal);
    await settlesWithin(clock, gateMs, areOver);
    waiting.abort();
  }

  /** Tries the servers that waited to be trusted and, if the files are watched, reads the configuration again. */
  #useTrust(): void {
    const { servers, isWatched } = this.#parts;
    for (const server of servers.all) void server.useTrust();
    if (isWatched) this.reload().catch(() => {});
  }

  #reportWhenDone(reloading: Promise<ReloadReport>): void {
    reloading.then(
      () => this.#parts.onchanged?.(),
      () => {},
    );
  }
}

function isAttempted({ present }: Server): boolean {
  return hasTag(present, 'attempted') && !hasTag(present, 'preparing');
}
