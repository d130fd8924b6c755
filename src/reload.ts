/**
 * Brings the servers there are in step with a new reading of the configuration.
 *
 * L1. One reading after the other is applied, in the order in which they were asked for.
 * L2. Only what changed is touched: an entry of the same meaning keeps its process, and one of which only settings
 *     changed keeps it too. What the transport allows to overlap is replaced when the new session is ready.
 * L3. What came, went or changed while the sources were read is left to whoever did that.
 */
import { abortable } from './abortable.js';
import type { Catalogs } from './catalog/catalogs.js';
import { isAllowed } from './catalog/filter.js';
import type { ConfigReading, Servers } from './config-reading.js';
import { diffServers, type ChangedServer, type ConfigDiff } from './config/diff.js';
import type { LoadedConfig } from './config/load.js';
import type { Connection, WaitOptions } from './connection.js';
import type { Publisher } from './lifecycle/publish.js';
import { isSettled } from './lifecycle/state-path.js';
import type { Clock } from './ports.js';
import { doneWithin } from './release.js';
import { namesOf, toReloadReport, type Outdated, type ReloadReport } from './reload-report.js';
import type { Roster } from './roster.js';
import type { ServerRow, ServerTable } from './server-table.js';

export interface ReloadParts {
  readonly reading: ConfigReading;
  readonly roster: Roster;
  readonly table: ServerTable;
  readonly catalogs: Catalogs;
  readonly publisher: Publisher;
  readonly clock: Clock;
  /** Longest wait for what was started or changed, milliseconds. */
  readonly gateMs: number;
  /** Resolves when every list of tools is judged, or was given enough time for that. */
  readonly judged: () => Promise<void>;
  /** Resolves when servers may be started, and rejects when that is over. */
  readonly whenOpen: () => Promise<void>;
}

export class Reloads {
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: ReloadParts) {}

  /** Reads the sources again and applies what changed. See `Troupe.reload`. */
  async reload(servers: Servers | undefined, { signal }: WaitOptions = {}): Promise<ReloadReport> {
    signal?.throwIfAborted();
    const reloading = this.#reload(servers);
    return signal === undefined ? reloading : abortable(reloading, signal);
  }

  async #reload(servers: Servers | undefined): Promise<ReloadReport> {
    const turn = this.#last.then(() => this.#readAndApply(servers));
    this.#last = turn.catch(() => {});
    const { loaded, diff } = await turn;
    const changed = diff.changed.map(({ after }) => after);
    await this.#attempted([...diff.added, ...changed]);
    await this.parts.judged();
    return toReloadReport(
      loaded,
      diff,
      changed.flatMap((row) => this.#outdated(row)),
    );
  }

  /** What keeps a changed entry from being used. */
  #outdated(row: ServerRow): Outdated[] {
    const failure = this.parts.roster.connection(row.name)?.status.outdated ?? null;
    return failure === null ? [] : [{ row, failure }];
  }

  async #readAndApply(servers: Servers | undefined): Promise<{ loaded: LoadedConfig; diff: ConfigDiff }> {
    const { reading, table, whenOpen } = this.parts;
    await whenOpen();
    if (servers !== undefined) reading.replaceServers(servers);
    const before = table.rows;
    const loaded = await reading.read();
    await whenOpen();
    const diff = this.#still(
      before,
      diffServers(before, loaded, (config) => table.policyOf(config)),
    );
    this.#tell(diff);
    await this.#apply(diff);
    return { loaded, diff };
  }

  /** Without what somebody else has changed meanwhile. */
  #still(before: readonly ServerRow[], { added, removed, changed, unchanged }: ConfigDiff): ConfigDiff {
    const { table } = this.parts;
    const then = new Map(before.map((row) => [row.name, row]));
    const isAsThen = ({ name }: ServerRow): boolean => table.get(name) === then.get(name);
    return {
      added: added.filter(isAsThen),
      removed: removed.filter(isAsThen),
      changed: changed.filter(({ after }) => isAsThen(after)),
      unchanged: unchanged.filter(isAsThen),
    };
  }

  async #apply({ added, removed, changed, unchanged }: ConfigDiff): Promise<void> {
    const { roster, table } = this.parts;
    // What an answer is asked for by, or where it stands, may be another all the same.
    for (const row of unchanged) table.set(row);
    for (const row of added) {
      roster.enroll(row);
      roster.startOne(row.name);
    }
    const changes = changed.map((change) => this.#change(change));
    const ends = removed
      .flatMap(({ name }) => roster.connection(name) ?? [])
      .map((one) => roster.remove(one));
    await Promise.all([...changes, ...ends]);
  }

  async #change({ after, needsSession }: ChangedServer): Promise<void> {
    const { roster, table } = this.parts;
    const { name } = after;
    const connection = roster.connection(name);
    if (connection === undefined) return;
    const wasEnabled = table.isEnabled(name);
    this.#replace(after, connection);
    if (!table.isEnabled(name)) await connection.end('stop');
    else if (!wasEnabled) roster.startOne(name);
    else if (needsSession || isWithout(connection)) this.#renew(connection);
    else this.#retune(connection);
  }

  /** The entry counts from here on, its filter and its limit of calls at once. */
  #replace(row: ServerRow, connection: Connection): void {
    const { table, publisher } = this.parts;
    const before = this.#shownTools(row.name);
    table.set(row);
    connection.admitCalls();
    const after = this.#shownTools(row.name);
    const added = after.filter((tool) => !before.includes(tool));
    const removed = before.filter((tool) => !after.includes(tool));
    if (added.length + removed.length === 0) return;
    const mask = table.mask(row.name);
    publisher.publish({
      type: 'catalog.changed',
      connection: row.name,
      generation: connection.status.generation,
      added: added.map(mask),
      removed: removed.map(mask),
      changed: [],
      toolCount: after.length,
    });
  }

  #shownTools(name: string): readonly string[] {
    const filter = this.parts.table.filter(name);
    const tools = this.parts.catalogs.get(name)?.tools ?? [];
    return tools.map((tool) => tool.name).filter((tool) => isAllowed(tool, filter));
  }

  /** The numbers of the entry count from here on, and nothing is started anew; but who need not rest any more is woken. */
  #retune(connection: Connection): void {
    const { roster, table } = this.parts;
    roster.retune(connection.name);
    const isResting = connection.path.substate === 'dormant';
    if (isResting && !table.isLazy(connection.name)) connection.dispatch({ type: 'connection.start' });
  }

  /** Makes a new session by the new entry. What was stopped stays so: its next start goes by the new entry anyway. */
  #renew(connection: Connection): void {
    const { table } = this.parts;
    const { name, allowed } = connection;
    if (allowed.includes('connection.reload')) {
      // One that rests is wanted once, to tell its tools anew.
      const isAwake = connection.state === 'ready';
      if (table.isLazy(name) && !isAwake) connection.dispatch({ type: 'connection.restart' });
      const [transport, policy] = [table.transport(name), table.policy(name)];
      connection.dispatch({ type: 'connection.reload', transport, policy });
    } else if (connection.state === 'failed') {
      // Its actor died of an error of ours.
      connection.dispatch({ type: 'connection.restart' });
    }
  }

  /** Resolves when each of them had its first attempt, or when the gate is over. */
  async #attempted(rows: readonly ServerRow[]): Promise<void> {
    const { roster, publisher, clock, gateMs } = this.parts;
    const connections = rows.flatMap(({ name }) => roster.connection(name) ?? []);
    const waiting = new AbortController();
    const areOver = publisher.until(() => connections.every(isAttempted), waiting.signal);
    await doneWithin(clock, gateMs, areOver);
    waiting.abort();
  }

  #tell(diff: ConfigDiff): void {
    const changed = diff.changed.map(({ after }) => after);
    const parts = [
      ...inWords('added', diff.added),
      ...inWords('removed', diff.removed),
      ...inWords('changed', changed),
    ];
    if (parts.length === 0) return;
    const message = `The configuration has changed: ${parts.join('; ')}.`;
    this.parts.publisher.publish({ type: 'diagnostic', kind: 'config-reloaded', message });
  }
}

function isAttempted({ path }: Connection): boolean {
  const isPreparing = path.substate.endsWith('preparing');
  return (isSettled(path) && !isPreparing) || path.state === 'reconnecting';
}

/** It has no session by its entry as it was until now. */
function isWithout({ state, status }: Connection): boolean {
  return state === 'failed' || status.outdated !== null;
}

function inWords(what: string, rows: readonly ServerRow[]): string[] {
  return rows.length === 0 ? [] : [`${what} ${namesOf(rows).join(', ')}`];
}
