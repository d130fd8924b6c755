/**
 * The façade: puts the parts together and offers them to a host. Decides nothing about a connection's life; that is
 * in the charts.
 */
import { availableParallelism } from 'node:os';
import { distinctUntilChanged, filter, type Observable } from 'rxjs';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { EffectPorts } from './actors/effect-ports.js';
import type { CallOptions } from './calls/call.js';
import { abortable } from './abortable.js';
import { Catalogs } from './catalog/catalogs.js';
import { ToolRegistry, type CatalogTool, type ServerFacts } from './catalog/registry.js';
import { checkOptions } from './check-options.js';
import { loadConfig, type LoadedConfig } from './config/load.js';
import { describeProblem } from './config/problem.js';
import type { Connection, WaitOptions } from './connection.js';
import { ConfigError, NotReadyError, UnknownToolError, type ConfigProblem } from './errors.js';
import type { LifecycleEvent } from './lifecycle/event.js';
import { Publisher } from './lifecycle/publish.js';
import type { ServerStatus } from './lifecycle/status.js';
import {
  DEFAULT_NAMING,
  DEFAULT_START_GATE_MS,
  SLOT_HOLD_MS,
  type ServerConfig,
  type TroupeOptions,
} from './options.js';
import { PACKAGE } from './package.js';
import { silentLogger, systemClock, type Clock } from './ports.js';
import { createClient } from './protocol/create-client.js';
import { doneWithin } from './release.js';
import { Roster } from './roster.js';
import { ServerTable } from './server-table.js';
import { toStartReport, type StartReport } from './start-report.js';
import { Sessions } from './sessions.js';
import { atExit } from './exit-hook.js';
import { createTransport } from './transports/create-transport.js';
import { View, type ViewOptions } from './view.js';

/** Longest time `close()` waits for the charts before it kills what is left. */
const CLOSE_LIMIT_MS = 10_000;
/** Longest time it waits for that. */
const KILL_LIMIT_MS = 2_000;

/** The one name that an actor cannot have: in the record of an actor's children it is no ordinary key. */
const NOBODYS_NAME = '__proto__';
const NOT_A_NAME = `No server can be called '${NOBODYS_NAME}'.`;

export class Troupe {
  /** Everything that happens. Hot; never replays. */
  readonly events$: Observable<LifecycleEvent>;
  /** The `diagnostic` events among them. */
  readonly diagnostics$: Observable<LifecycleEvent>;
  /** One row per server; replays the present rows. */
  readonly status$: Observable<readonly ServerStatus[]>;
  /** The tools as a model sees them; replays the present list. */
  readonly tools$: Observable<readonly CatalogTool[]>;
  readonly #options: TroupeOptions;
  readonly #publisher: Publisher;
  readonly #sessions = new Sessions();
  readonly #registry: ToolRegistry;
  readonly #roster: Roster;
  readonly #clock: Clock;
  #loaded: Promise<LoadedConfig> | undefined;
  #started: Promise<StartReport> | undefined;
  #closed: Promise<void> | undefined;
  #forgetExit: (() => void) | undefined;

  constructor(options: TroupeOptions) {
    this.#options = options;
    const clock = options.clock ?? systemClock;
    this.#clock = clock;
    const publisher = new Publisher(clock, options.logger ?? silentLogger);
    this.#publisher = publisher;
    const catalogs = new Catalogs();
    const table = new ServerTable({
      env: options.env ?? process.env,
      workspaceFolder: process.cwd(),
      policy: options.policy,
      trust: options.trust,
      seed: options.seed ?? clock.now(),
    });
    const effects: EffectPorts = {
      clock,
      sessions: this.#sessions,
      servers: table,
      catalogs,
      publish: publisher.publish,
      createTransport,
      createClient: () =>
        createClient({ clientInfo: options.clientInfo ?? PACKAGE, capabilities: options.capabilities ?? {} }),
    };
    this.#registry = new ToolRegistry(
      catalogs,
      () => this.#serverFacts(table),
      options.naming ?? DEFAULT_NAMING,
    );
    this.#roster = new Roster({
      table,
      publisher,
      effects,
      manager: {
        startSlots: Math.max(1, options.startSlots ?? Math.max(4, 2 * availableParallelism())),
        slotHoldMs: SLOT_HOLD_MS,
        startGateMs: options.startGateMs ?? DEFAULT_START_GATE_MS,
      },
      toolCount: (server) => this.#registry.count(server),
    });
    this.events$ = publisher.events$;
    this.diagnostics$ = this.events$.pipe(filter((event) => event.type === 'diagnostic'));
    this.tools$ = publisher.live(() => this.tools).pipe(distinctUntilChanged());
    this.status$ = publisher.live(() => this.status);
    this.#registry.follow(publisher);
  }

  get status(): readonly ServerStatus[] {
    return this.#roster.statuses;
  }

  get tools(): readonly CatalogTool[] {
    return this.#registry.tools;
  }

  /** The tool of that name for the model; undefined where there is none. */
  tool(name: string): CatalogTool | undefined {
    return this.#registry.tool(name);
  }

  /** The handle of a configured server; undefined where none has that name. */
  connection(name: string): Connection | undefined {
    return this.#roster.connection(name);
  }

  /**
   * Reads the configuration and starts every enabled server side by side. Resolves when the first attempt of each is
   * over, or after the start gate; never rejects for a server or an unreadable source. A second call gives the first
   * promise. The signal ends the wait, not the start.
   */
  start({ signal }: WaitOptions = {}): Promise<StartReport> {
    if (this.#closed !== undefined) return Promise.reject(new NotReadyError('The troupe is closed.'));
    this.#started ??= this.#start();
    return signal === undefined ? this.#started : abortable(this.#started, signal);
  }

  /** Resolves when every server is ready, failed, stopped, dormant, or waits for a person. */
  async settled({ signal }: WaitOptions = {}): Promise<void> {
    await this.start(signal === undefined ? {} : { signal });
    await this.#publisher.until(() => this.#roster.isSettled, signal);
  }

  /** Adds a server and starts it, where the troupe has started. Rejects with a `ConfigError` for a known name or a wrong entry. */
  async add(name: string, config: ServerConfig): Promise<Connection> {
    const [loaded] = await Promise.all([
      loadConfig({ servers: { [name]: config }, cwd: process.cwd() }),
      this.#loaded,
    ]);
    if (this.#closed !== undefined) throw new NotReadyError('The troupe is closed.');
    if (name === NOBODYS_NAME) throw new ConfigError(NOT_A_NAME, { server: name });
    if (this.#roster.connection(name) !== undefined) {
      throw new ConfigError(`There is already a server called '${name}'.`, { server: name });
    }
    const { problems, servers } = loaded;
    const [spec] = servers;
    if (spec === undefined) {
      throw new ConfigError(problems.map(describeProblem).join('; '), { server: name, problems });
    }
    this.#tellProblems(problems);
    const connection = this.#roster.enroll(spec);
    if (this.#started !== undefined) this.#roster.startOne(name);
    return connection;
  }

  /** Stops a server and forgets it; resolves when nothing of it is left. An unknown name is no error. */
  async remove(name: string): Promise<void> {
    const connection = this.#roster.connection(name);
    if (connection === undefined) return;
    await connection.end('remove');
    this.#roster.dismiss(connection);
  }

  /**
   * Calls a tool by its name for the model and gives the server's untouched result, `isError` included. Waits for a
   * connection that is on its way. Throws `UnknownToolError`, `NotReadyError` (not sent, safe to repeat),
   * `ServerError`, `CallTimeoutError`, `CallAbortedError` or `OutcomeUnknownError`.
   */
  callTool(name: string, args: object = {}, options: CallOptions = {}): Promise<CallToolResult> {
    const tool = this.#registry.tool(name);
    const connection = tool === undefined ? undefined : this.#roster.connection(tool.server);
    if (tool === undefined || connection === undefined) return Promise.reject(this.#unknownTool(name));
    return connection.callTool(tool.tool, args, options);
  }

  /** A part of this troupe, for a sub-agent. It cannot start, stop or close anything. */
  view(options: ViewOptions): View {
    return new View(this, options);
  }

  /** False holds the retries of remote servers; true lets each try once, spread out. */
  network(online: boolean): void {
    this.#roster.supervisor.network(online);
  }

  /** Ends every connection side by side; bounded and idempotent. Nothing is left when it resolves. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  /** Lets `close()` hurry: every server that is still closing is ended without courtesy. */
  async kill(): Promise<void> {
    const closed = this.close();
    void this.#sessions.killAll();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #start(): Promise<StartReport> {
    this.#forgetExit = atExit(() => void this.#sessions.killAll());
    const { servers, config } = this.#options;
    this.#loaded = loadConfig({
      ...(servers === undefined ? {} : { servers }),
      ...(config === undefined ? {} : { config }),
      cwd: process.cwd(),
    });
    const loaded = await this.#loaded;
    this.#tellProblems(loaded.problems);
    for (const row of [...loaded.servers, ...loaded.refused]) {
      if (row.name === NOBODYS_NAME) this.#tellProblems([{ source: row.source, message: NOT_A_NAME }]);
      else if (this.#roster.connection(row.name) === undefined) this.#roster.enroll(row);
    }
    const { supervisor } = this.#roster;
    if (this.#closed === undefined) this.#roster.startAll();
    await this.#publisher.until(
      () =>
        supervisor.failure !== undefined || (supervisor.state !== 'idle' && supervisor.state !== 'starting'),
    );
    return toStartReport(this.status, loaded.sources);
  }

  #tellProblems(problems: readonly ConfigProblem[]): void {
    for (const problem of problems) {
      this.#publisher.publish({
        type: 'diagnostic',
        kind: 'config-problem',
        message: describeProblem(problem),
        ...(problem.server === undefined ? {} : { connection: problem.server }),
      });
    }
  }

  async #close(): Promise<void> {
    this.#roster.close();
    const { supervisor } = this.#roster;
    const isOver = (): boolean => supervisor.state === 'stopped' || supervisor.failure !== undefined;
    const ending = this.#publisher.until(isOver).then(() => this.#sessions.closeAll());
    const isDone =
      (await doneWithin(this.#clock, CLOSE_LIMIT_MS, ending)) ||
      (await doneWithin(this.#clock, KILL_LIMIT_MS, this.#sessions.killAll()));
    if (!isDone) {
      const message = `${this.#sessions.size} session(s) were not proven gone when the troupe closed.`;
      this.#publisher.publish({ type: 'diagnostic', kind: 'not-released', message });
    }
    supervisor.dispose();
    this.#forgetExit?.();
    this.#publisher.complete();
  }

  #unknownTool(name: string): UnknownToolError {
    const away = this.status
      .filter(({ state }) => state !== 'ready')
      .map(({ name: server, state }) => `${server} is ${state}`);
    const why = away.length === 0 ? '' : ` Not every server is ready: ${away.join(', ')}.`;
    return new UnknownToolError(name, `No server offers a tool called '${name}'.${why}`);
  }

  *#serverFacts(table: ServerTable): Iterable<readonly [string, ServerFacts]> {
    for (const { name, state } of this.#roster.connections) {
      yield [name, { source: table.get(name)?.source ?? '', filter: table.filter(name), state }];
    }
  }
}

/**
 * Makes a troupe: the supervised MCP connections of one host. Starts nothing. Throws a `ConfigError` for an option that
 * makes no sense.
 *
 * @example
 * const troupe = createTroupe({ config: '.mcp.json' });
 * await troupe.start();
 * const result = await troupe.callTool('mcp__fs__read_file', { path: 'README.md' });
 * await troupe.close();
 */
export function createTroupe(options: TroupeOptions): Troupe {
  checkOptions(options);
  return new Troupe(options);
}
