/**
 * The façade: puts the parts together and offers them to a host. Decides nothing about a connection's life; that is
 * in the charts.
 */
import { distinctUntilChanged, filter, type Observable } from 'rxjs';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { EffectPorts } from './actors/effect-ports.js';
import type { CallOptions } from './calls/call.js';
import type { RenderedResult } from './calls/result/render.js';
import { Results, type ResultOptions } from './calls/result/results.js';
import { abortable } from './abortable.js';
import { Approvals } from './approvals.js';
import { toSignIns, type SignIns } from './auth/sign-ins.js';
import { Catalogs } from './catalog/catalogs.js';
import { ToolRegistry, type CatalogTool, type ServerFacts } from './catalog/registry.js';
import { checkOptions } from './check-options.js';
import type { Connection, WaitOptions } from './connection.js';
import { NotReadyError } from './errors.js';
import type { LogSink } from './event-log/log-sink.js';
import type { Recording } from './event-log/recording.js';
import type { LifecycleEvent } from './lifecycle/event.js';
import { Publisher } from './lifecycle/publish.js';
import type { ServerStatus } from './lifecycle/status.js';
import { DEFAULT_NAMING, type ServerConfig, type TroupeOptions } from './options.js';
import { PACKAGE } from './package.js';
import { silentLogger, systemClock, type Clock } from './ports.js';
import { createClient } from './protocol/create-client.js';
import { doneWithin } from './release.js';
import { managerInput } from './manager-input.js';
import { Membership } from './membership.js';
import type { ReloadReport } from './reload-report.js';
import { Recordings } from './recordings.js';
import { Roster } from './roster.js';
import { ServerTable } from './server-table.js';
import { toStartReport, type StartReport } from './start-report.js';
import { NO_MASK } from './secrets.js';
import { Sessions } from './sessions.js';
import { atExit } from './exit-hook.js';
import { createTransport } from './transports/create-transport.js';
import { unknownTool } from './unknown-tool.js';
import { View, type ViewOptions } from './view.js';

/** Longest time `close()` waits for the charts before it kills what is left. */
const CLOSE_LIMIT_MS = 10_000;
/** Longest time it waits for that. */
const KILL_LIMIT_MS = 2_000;

export class Troupe {
  /** Everything that happens. Hot; never replays. */
  readonly events$: Observable<LifecycleEvent>;
  /** The `diagnostic` events among them. */
  readonly diagnostics$: Observable<LifecycleEvent>;
  /** One row per server; replays the present rows. */
  readonly status$: Observable<readonly ServerStatus[]>;
  /** The tools as a model sees them; replays the present list. */
  readonly tools$: Observable<readonly CatalogTool[]>;
  readonly #publisher: Publisher;
  readonly #sessions = new Sessions();
  readonly #results = new Results((event) => this.#publisher.publish(event));
  readonly #registry: ToolRegistry;
  readonly #roster: Roster;
  readonly #members: Membership;
  readonly #recordings: Recordings;
  readonly #signIns: SignIns | undefined;
  readonly #clock: Clock;
  #started: Promise<StartReport> | undefined;
  #closed: Promise<void> | undefined;
  #forgetExit: (() => void) | undefined;

  constructor(options: TroupeOptions) {
    const clock = options.clock ?? systemClock;
    this.#clock = clock;
    const seed = options.seed ?? clock.now();
    const publisher = new Publisher(clock, options.logger ?? silentLogger);
    this.#publisher = publisher;
    const catalogs = new Catalogs();
    this.#signIns = toSignIns(options.auth, clock, publisher.publish);
    const approvals = new Approvals(options.approvals, (message) =>
      publisher.publish({ type: 'diagnostic', kind: 'approvals-problem', message }),
    );
    const table = new ServerTable({
      env: options.env ?? process.env,
      workspaceFolder: process.cwd(),
      policy: options.policy,
      trust: options.trust,
      approvals,
      retryCalls: options.retryCalls,
      seed,
      expansion: options.expansion,
      askInput: options.askInput,
      tokenMask: (name) => this.#signIns?.mask(name) ?? NO_MASK,
    });
    const effects: EffectPorts = {
      clock,
      sessions: this.#sessions,
      servers: table,
      catalogs,
      publish: publisher.publish,
      createTransport,
      signIns: this.#signIns,
      createClient: () =>
        createClient({ clientInfo: options.clientInfo ?? PACKAGE, capabilities: options.capabilities ?? {} }),
    };
    this.#registry = new ToolRegistry(
      catalogs,
      () => this.#serverFacts(table),
      options.naming ?? DEFAULT_NAMING,
    );
    const manager = managerInput(options);
    const toolCount = (server: string): number => this.#registry.count(server);
    this.#roster = new Roster({ table, publisher, effects, manager, toolCount });
    const { supervisor } = this.#roster;
    this.#recordings = new Recordings(options.record, { supervisor, publisher, clock, seed, manager });
    this.#members = new Membership(options, {
      roster: this.#roster,
      table,
      catalogs,
      approvals,
      publisher,
      clock,
      started: () => this.#started,
      isClosed: () => this.#closed !== undefined,
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
  add(name: string, config: ServerConfig): Promise<Connection> {
    return this.#members.add(name, config);
  }

  /**
   * Stops a server and forgets it; resolves when nothing of it is left. An unknown name is no error. A server that a
   * source still names comes back with the next `reload`.
   */
  remove(name: string): Promise<void> {
    return this.#members.remove(name);
  }

  /**
   * Reads the sources again and touches only what changed: an entry of the same meaning keeps its process. `servers`
   * replaces the option of that name; what `add` brought stays. A source that cannot be read takes nothing away, nor
   * does an entry that cannot be used any more. Resolves when what was added or changed had its first attempt, or after
   * the start gate. Rejects with a `NotReadyError` before `start` and after `close`, and with a `ConfigError` for
   * `servers` that are no object. The signal ends the wait, not the reload.
   */
  reload(servers?: TroupeOptions['servers'], options: WaitOptions = {}): Promise<ReloadReport> {
    return this.#members.reload(servers, options);
  }

  /**
   * Calls a tool by its name for the model and gives the server's untouched result, `isError` included. Waits for a
   * connection that is on its way. Throws `UnknownToolError`, `NotReadyError` (not sent, safe to repeat),
   * `ServerError`, `CallTimeoutError`, `CallAbortedError` or `OutcomeUnknownError`.
   */
  callTool(name: string, args: object = {}, options: CallOptions = {}): Promise<CallToolResult> {
    const tool = this.#registry.tool(name);
    const connection = tool === undefined ? undefined : this.#roster.connection(tool.server);
    if (tool === undefined || connection === undefined) return Promise.reject(unknownTool(name, this.status));
    return connection.callTool(tool.tool, args, options);
  }

  /** As the function of that name; what is odd becomes a `diagnostic`, and spilled files are there until `close`. */
  renderResult(result: CallToolResult, options: ResultOptions): Promise<RenderedResult> {
    return this.#results.render(result, options);
  }

  /** A part of this troupe, for a sub-agent. It cannot start, stop or close anything. */
  view(options: ViewOptions): View {
    return new View(this, options);
  }

  /** False holds the retries of remote servers; true lets each try once, spread out. Throws a `TypeError` for anything else. */
  network(online: boolean): void {
    if (typeof online !== 'boolean') throw new TypeError('network() takes true or false.');
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

  /**
   * Records what happens from here on, as the option of that name does from the start on, until the recording or the
   * troupe is closed. A target that cannot be written ends it with a `diagnostic`; a closed troupe rejects.
   */
  record(target: string | LogSink): Promise<Recording> {
    if (this.#closed !== undefined) return Promise.reject(new NotReadyError('The troupe is closed.'));
    return this.#recordings.begin(target);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #start(): Promise<StartReport> {
    this.#forgetExit = atExit(() => void this.#sessions.killAll());
    const [loaded] = await Promise.all([this.#members.open(), this.#recordings.open()]);
    const { supervisor } = this.#roster;
    if (this.#closed === undefined) this.#roster.startAll();
    await this.#publisher.until(
      () =>
        supervisor.failure !== undefined || (supervisor.state !== 'idle' && supervisor.state !== 'starting'),
    );
    return toStartReport(this.status, loaded);
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
    await Promise.all([
      this.#members.close(),
      this.#signIns?.close(),
      this.#results.close(),
      this.#recordings.close(),
    ]);
    this.#forgetExit?.();
    this.#publisher.complete();
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
