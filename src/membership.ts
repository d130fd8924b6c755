/**
 * Which servers a troupe has: what its sources name, what was added and removed by hand, what a reload brings.
 * Decides when an entry comes and goes; what it says is read by `config-reading.ts` and applied by `reload.ts`.
 */
import { AutoReload } from './auto-reload.js';
import type { Approvals } from './approvals.js';
import type { Catalogs } from './catalog/catalogs.js';
import { ConfigReading, type Servers } from './config-reading.js';
import type { LoadedConfig } from './config/load.js';
import type { Connection, WaitOptions } from './connection.js';
import { ConfigError, NotReadyError } from './errors.js';
import type { Publisher } from './lifecycle/publish.js';
import { DEFAULT_START_GATE_MS, type ServerConfig, type TroupeOptions } from './options.js';
import type { Clock } from './ports.js';
import { Reloads } from './reload.js';
import type { ReloadReport } from './reload-report.js';
import type { Roster } from './roster.js';
import type { ServerTable } from './server-table.js';

export interface MembershipParts {
  readonly roster: Roster;
  readonly table: ServerTable;
  readonly catalogs: Catalogs;
  readonly approvals: Approvals;
  readonly publisher: Publisher;
  readonly clock: Clock;
  /** Resolves when every list of tools is judged, or was given enough time for that. */
  readonly judged: () => Promise<void>;
  /** The start of the troupe; undefined before it was asked for. */
  readonly started: () => Promise<unknown> | undefined;
  readonly isClosed: () => boolean;
  /** Stands between the sources and who reads them. */
  readonly load?: ((read: () => Promise<LoadedConfig>) => Promise<LoadedConfig>) | undefined;
  /** Hears that the entries may have become others. */
  readonly onchanged?: (() => void) | undefined;
}

export class Membership {
  readonly #parts: MembershipParts;
  readonly #reading: ConfigReading;
  readonly #reloads: Reloads;
  readonly #autoReload: AutoReload | undefined;
  #opened: Promise<LoadedConfig> | undefined;
  /** Names that were removed before the sources were read; undefined once they are. */
  #removedEarly: Set<string> | undefined = new Set();
  #unfollow: (() => void) | undefined;

  constructor(options: TroupeOptions, parts: MembershipParts) {
    this.#parts = parts;
    const { approvals, publisher, clock } = parts;
    this.#reading = new ConfigReading(options, approvals, publisher.publish, parts.load);
    this.#reloads = new Reloads({
      ...parts,
      reading: this.#reading,
      gateMs: options.startGateMs ?? DEFAULT_START_GATE_MS,
      whenOpen: () => this.#whenOpen(),
    });
    if (options.watch !== true) return;
    this.#autoReload = new AutoReload({
      clock,
      publish: publisher.publish,
      reload: () => this.reload(),
      places: () => this.#reading.places(),
    });
  }

  /** Reads the sources for the first time and makes the handles of what they name. Never rejects. */
  async open(): Promise<LoadedConfig> {
    this.#opened = this.#reading.read();
    const loaded = await this.#opened;
    const { roster } = this.#parts;
    for (const row of [...loaded.servers, ...loaded.refused]) {
      const isWanted = this.#removedEarly?.has(row.name) !== true;
      if (isWanted && roster.connection(row.name) === undefined) roster.enroll(row);
    }
    this.#removedEarly = undefined;
    this.#autoReload?.follow(loaded.sources);
    if (!this.#parts.isClosed()) this.#unfollow = this.#parts.approvals.follow(() => this.#useApprovals());
    return loaded;
  }

  /** Resolves when the sources have been read for the first time, where `open` was called. */
  async whenRead(): Promise<void> {
    await this.#opened;
  }

  /** See `Troupe.add`. */
  async add(name: string, config: ServerConfig): Promise<Connection> {
    const [entry] = await Promise.all([this.#reading.readEntry(name, config), this.#opened]);
    const { roster, started } = this.#parts;
    this.#refuseClosed();
    const isNamed = this.#removedEarly?.has(name) === false && this.#reading.isOfHost(name);
    if (isNamed || roster.connection(name) !== undefined) {
      throw new ConfigError(`There is already a server called '${name}'.`, { server: name });
    }
    this.#reading.keep(entry);
    const connection = roster.enroll(entry.spec);
    if (started() !== undefined) roster.startOne(name);
    this.#parts.onchanged?.();
    return connection;
  }

  /** See `Troupe.remove`. */
  async remove(name: string): Promise<void> {
    const { roster } = this.#parts;
    this.#reading.drop(name);
    this.#removedEarly?.add(name);
    const connection = roster.connection(name);
    if (connection === undefined) return;
    await roster.remove(connection);
    this.#parts.onchanged?.();
  }

  /** See `Troupe.reload`. */
  reload(servers?: Servers, options: WaitOptions = {}): Promise<ReloadReport> {
    const reloading = this.#reloads.reload(servers, options);
    reloading.then(
      () => this.#parts.onchanged?.(),
      () => {},
    );
    return reloading;
  }

  /** Ends the watch of the files; resolves when every approval is kept, too. */
  async close(): Promise<void> {
    this.#unfollow?.();
    await Promise.all([this.#autoReload?.close(), this.#parts.approvals.kept()]);
  }

  /**
   * Somebody approved an entry elsewhere: what waited for that is tried, and where the files are followed, what was
   * held back is used.
   */
  #useApprovals(): void {
    const { roster, table, approvals } = this.#parts;
    for (const { name, path } of roster.connections) {
      const request = path.substate === 'awaitingTrust' ? table.trustRequest(name) : undefined;
      if (request === undefined) continue;
      void approvals.has(request).then((isApproved) => {
        const connection = roster.connection(name);
        if (isApproved && connection?.path.substate === 'awaitingTrust') {
          connection.dispatch({ type: 'connection.retry' });
        }
      });
    }
    if (this.#autoReload !== undefined) this.reload().catch(() => {});
  }

  async #whenOpen(): Promise<void> {
    this.#refuseClosed();
    const started = this.#parts.started();
    if (started === undefined)
      throw new NotReadyError('The troupe has not started: start() reads the sources.');
    await started;
    this.#refuseClosed();
  }

  #refuseClosed(): void {
    if (this.#parts.isClosed()) throw new NotReadyError('The troupe is closed.');
  }
}
