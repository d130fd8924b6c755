/**
 * The servers of a troupe: those that its sources name, those added or removed by hand, and the changes of a new reading.
 *
 * The folder `servers` holds what a troupe knows of each server beside its chart: entry, secrets, handle and status row; and
 * the reading of the configuration that they come from.
 *
 * S1. A reading touches only what it changed: an entry with the same meaning keeps its process, and so does an entry with
 *     only its settings changed. If the transport allows two sessions, the old one stays until the new one is ready.
 * S2. A server that was added, removed or changed by hand while the sources were read stays as it is.
 * S3. A removal takes effect after the additions of that name that were requested before it.
 */
import type { ManagerInput } from '../../machines/manager/manager.events.js';
import type { ConfiguredServers, Resolution } from '../actors/effect-ports.js';
import type { CachedServers } from '../catalog/cache.js';
import type { EffectiveSettings } from '../config/entry/effective-settings.js';
import { NO_FILTER, type ToolFilter } from '../config/entry/tool-filter.js';
import { isSameList } from '../catalog/list-diff.js';
import type { ConfigReader, HostServers } from './config-reader.js';
import { diffServers, type ConfigDiff } from '../config/diff.js';
import type { Declared } from './lists-key.js';
import type { LoadedConfig } from './load-config.js';
import type { ServerRow } from '../config/entry/server-spec.js';
import type { Connection } from './connection.js';
import { ConfigError, NotReadyError } from '../errors.js';
import type { ServerStatus } from '../lifecycle/status.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import { reloadInWords, type AppliedDiff } from './reload-report.js';
import { maskShown } from '../secrets/secret-text.js';
import type { Mask } from '../secrets/secrets.js';
import { Server, type Runtime, type ServerTerms } from './server.js';
import type { Fleet } from '../fleet/stores.js';
import { Supervisor } from '../supervision/supervisor.js';
import { TransportError } from '../failures/transport-error.js';

export interface ServersParts {
  readonly terms: ServerTerms;
  readonly reader: ConfigReader;
  readonly manager: ManagerInput;
  readonly fleet?: Fleet | undefined;
  /** What the handshake with a server says about the host; the same object until that changes. */
  readonly declared: (server: string) => Declared;
  /** What the servers share. It needs the servers itself, so it is read only when the first server is created. */
  readonly runtime: () => Runtime;
  /** Called when a server was added or removed by hand. */
  readonly onchanged?: (() => void) | undefined;
}

export class Servers implements ConfiguredServers, CachedServers {
  readonly #parts: ServersParts;
  readonly #servers = new Map<string, Server>();
  /** Names that were removed before the start. */
  readonly #removedEarly = new Set<string>();
  /** Additions under way, with the name of the server. */
  readonly #additions = new Map<Promise<Connection>, string>();
  #supervisor: Supervisor | undefined;
  #firstRead: Promise<LoadedConfig> | undefined;
  #statuses: readonly ServerStatus[] = Object.freeze([]);

  constructor(parts: ServersParts) {
    this.#parts = parts;
  }

  /** Created at the first access, with its charts: cached tools need not wait for them. */
  get supervisor(): Supervisor {
    return (this.#supervisor ??= this.#makeSupervisor());
  }

  get all(): Iterable<Server> {
    return this.#servers.values();
  }

  get rows(): readonly ServerRow[] {
    return [...this.all].map(({ entry }) => entry.row);
  }

  get connections(): readonly Connection[] {
    return [...this.all].map(({ connection }) => connection);
  }

  /** The same array until a row changes. */
  get statuses(): readonly ServerStatus[] {
    const rows = this.connections.map(({ status }) => status);
    if (!isSameList(rows, this.#statuses)) this.#statuses = Object.freeze(rows);
    return this.#statuses;
  }

  /** The servers that may be started. */
  get enabled(): readonly Server[] {
    return [...this.all].filter(({ entry }) => entry.settings.enabled);
  }

  get(name: string): Server | undefined {
    return this.#servers.get(name);
  }

  /** `start` was called, and the sources are being read. */
  open(): void {
    this.#parts.runtime().lifetime.open();
    this.#supervisor?.open();
  }

  /** Reads the sources for the first time and creates the servers that they name. Never rejects. */
  async read(): Promise<LoadedConfig> {
    this.#firstRead = this.#parts.reader.read();
    const loaded = await this.#firstRead;
    for (const row of [...loaded.servers, ...loaded.refused]) {
      if (!this.#removedEarly.has(row.name) && this.get(row.name) === undefined) this.enroll(row);
    }
    return loaded;
  }

  /** Creates a server without starting it. */
  enroll(row: ServerRow): Server {
    const server = new Server(row, this.#parts.terms, this.#parts.runtime());
    this.#servers.set(row.name, server);
    return server;
  }

  /** Starts every enabled server for the first time. */
  startAll(): void {
    this.supervisor.start(this.enabled.map((server) => server.childSpec(false)));
  }

  /** Resolves when the sources have been read for the first time, if `read` was called. */
  async whenRead(): Promise<void> {
    await this.#firstRead;
  }

  /** Resolves when the first attempts are over and servers may be added. Rejects before the start and after the close. */
  async whenOpen(): Promise<void> {
    const { lifetime, publisher } = this.#parts.runtime();
    lifetime.refuseClosed();
    if (lifetime.isIdle) throw new NotReadyError('The troupe has not started: start() reads the sources.');
    await publisher.until(() => lifetime.isSettled);
    lifetime.refuseClosed();
  }

  /** See `Troupe.add`. */
  async add(name: string, config: ServerConfig): Promise<Connection> {
    const addition = this.#add(name, config);
    this.#additions.set(addition, name);
    try {
      return await addition;
    } finally {
      this.#additions.delete(addition);
    }
  }

  async #add(name: string, config: ServerConfig): Promise<Connection> {
    const { reader, runtime, onchanged } = this.#parts;
    const [entry] = await Promise.all([reader.readEntry(name, config), this.#firstRead]);
    const { lifetime } = runtime();
    lifetime.refuseClosed();
    const isExpected = !lifetime.hasStarted && !this.#removedEarly.has(name);
    const isNamed = isExpected && reader.isOfHost(name);
    if (isNamed || this.get(name) !== undefined) {
      throw new ConfigError(`There is already a server called '${name}'.`, { server: name });
    }
    reader.keep(entry);
    const server = this.enroll(entry.spec);
    if (lifetime.hasStarted) server.start();
    onchanged?.();
    return server.connection;
  }

  /** See `Troupe.remove`. */
  async remove(name: string): Promise<void> {
    const { reader, runtime, onchanged } = this.#parts;
    if (!runtime().lifetime.hasStarted) this.#removedEarly.add(name);
    const additions = [...this.#additions].filter(([, added]) => added === name);
    if (additions.length > 0) await Promise.allSettled(additions.map(([addition]) => addition));
    reader.drop(name);
    const server = this.get(name);
    if (server === undefined) return;
    await this.#remove(server);
    onchanged?.();
  }

  /** Reads the sources and applies the differences. Must not run twice at a time. */
  async readAndApply(servers: HostServers | undefined): Promise<AppliedDiff> {
    const { reader } = this.#parts;
    await this.whenOpen();
    if (servers !== undefined) reader.replaceServers(servers);
    const before = this.rows;
    const loaded = await reader.read();
    await this.whenOpen();
    const diff = this.#still(before, diffServers(before, loaded, this.#parts.terms));
    const message = reloadInWords(diff);
    if (message !== undefined) {
      this.#parts.runtime().publisher.publish({ type: 'diagnostic', kind: 'config-reloaded', message });
    }
    await this.#apply(diff);
    return { loaded, diff };
  }

  /** From now on nothing is started. */
  close(): void {
    this.supervisor.stop();
  }

  /** Strikes out the secrets of every server. */
  maskAll(text: string): string {
    return this.#parts.terms.redact(
      [...this.all].reduce((masked, { mask }) => mask(masked), maskShown(text)),
    );
  }

  mask(name: string): Mask {
    const { tokenMask, redact } = this.#parts.terms;
    return this.get(name)?.mask ?? ((text) => redact(maskShown(tokenMask(name)(text))));
  }

  echoMask(name: string): Mask {
    return this.get(name)?.echoMask ?? this.#parts.terms.tokenMask(name);
  }

  filter(name: string): ToolFilter {
    return this.get(name)?.entry.settings.tools ?? NO_FILTER;
  }

  /** A server may offer other lists to a host that can do other things for it. */
  cacheKey(name: string): string | undefined {
    return this.get(name)?.entry.listsKey(this.#parts.declared(name));
  }

  async isTrusted(name: string): Promise<boolean> {
    return (await this.get(name)?.entry.isTrusted()) ?? true;
  }

  async askForTrust(name: string): Promise<boolean> {
    return this.#known(name).entry.askForTrust();
  }

  async resolve(name: string): Promise<Resolution> {
    return this.#known(name).resolve();
  }

  remember(name: string, secrets: readonly string[]): void {
    this.get(name)?.remember(secrets);
  }

  settings(name: string): EffectiveSettings {
    return this.#known(name).entry.settings;
  }

  #known(name: string): Server {
    const server = this.get(name);
    if (server !== undefined) return server;
    throw new TransportError({ code: 'config-invalid', message: `No server is called '${name}'.` });
  }

  #makeSupervisor(): Supervisor {
    const { runtime, manager, fleet } = this.#parts;
    const { effects, publisher, lifetime } = runtime();
    const isAsked = !lifetime.isIdle;
    const supervisor = new Supervisor({
      ports: effects,
      input: manager,
      fleet,
      lifetime,
      supervised: (name) => this.get(name),
      moved: () => publisher.wake(),
    });
    if (isAsked) supervisor.open();
    return supervisor;
  }

  /** The differences without the servers that were changed by hand meanwhile. */
  #still(before: readonly ServerRow[], { added, removed, changed, unchanged }: ConfigDiff): ConfigDiff {
    const then = new Map(before.map((row) => [row.name, row]));
    const isAsThen = ({ name }: ServerRow): boolean => this.get(name)?.entry.row === then.get(name);
    return {
      added: added.filter(isAsThen),
      removed: removed.filter(isAsThen),
      changed: changed.filter(({ after }) => isAsThen(after)),
      unchanged: unchanged.filter(isAsThen),
    };
  }

  async #apply({ added, removed, changed, unchanged }: ConfigDiff): Promise<void> {
    // An entry with the same meaning may still ask for its inputs differently, or come from another place.
    for (const row of unchanged) this.get(row.name)?.replace(row);
    for (const row of added) this.enroll(row).start();
    const changes = changed.map((change) => this.get(change.after.name)?.adopt(change));
    const ends = removed.flatMap(({ name }) => this.get(name) ?? []).map((server) => this.#remove(server));
    await Promise.all([...changes, ...ends]);
  }

  /** Ends a server and forgets it, unless that has happened meanwhile. */
  async #remove(server: Server): Promise<void> {
    await server.connection.end('remove');
    const { name } = server;
    if (this.get(name) !== server) return;
    server.removed();
    this.#supervisor?.forget(name);
    this.#servers.delete(name);
  }
}
