/**
 * The façade: puts the parts together and offers them to a host. Decides nothing about a connection's life; that is
 * in the charts.
 *
 * Longer than most because it is the façade with its documentation.
 */
import type { Observable } from 'rxjs';
import type {
  CallToolResult,
  GetPromptResult,
  LoggingLevel,
  ReadResourceResult,
} from '@modelcontextprotocol/sdk/types.js';
import { distinctUntilChanged, filter } from './lifecycle/rx.js';
import type { EffectPorts } from './actors/effect-ports.js';
import type { CallOptions } from './calls/call.js';
import { CallCheck } from './calls/call-check.js';
import type { RenderedResult } from './calls/result/render.js';
import { Results, type ResultOptions } from './calls/result/results.js';
import { abortable } from './abortable.js';
import { Approvals } from './approvals.js';
import { toSignIns, type SignIns } from './auth/sign-ins.js';
import { CatalogCache } from './catalog/cache.js';
import { toCatalogStore } from './catalog/cache-option.js';
import { Catalogs } from './catalog/catalogs.js';
import type { CatalogPrompt } from './catalog/prompt.js';
import { ToolRegistry, type CatalogTool, type ServerFacts } from './catalog/registry.js';
import { VanishedTools, type Vanished } from './catalog/vanished.js';
import { ExtraLists } from './catalog/extra-lists.js';
import { Extras } from './catalog/extras.js';
import { resourceIn, type CatalogResource, type CatalogResourceTemplate } from './catalog/resource.js';
import { checkOptions, checkViewOptions } from './check-options.js';
import type { Connection, WaitOptions } from './connection.js';
import { NotReadyError, type ToolHeldError } from './errors.js';
import type { ObservableSystem } from './event-log/observed-system.js';
import type { RecordTarget } from './event-log/record-options.js';
import type { Recording } from './event-log/recording.js';
import { Wire } from './event-log/wire.js';
import type { LifecycleEvent } from './lifecycle/event.js';
import { Publisher } from './lifecycle/publish.js';
import type { ServerStatus } from './lifecycle/status.js';
import { DEFAULT_NAMING, type ServerConfig, type TroupeOptions } from './options.js';
import { PACKAGE } from './package.js';
import { attachInspector } from './inspection/host-inspector.js';
import type { Inspection, InspectOptions } from './inspection/inspection.js';
import { Inspections } from './inspection/inspections.js';
import { systemClock, type Clock } from './ports.js';
import { createClient } from './protocol/create-client.js';
import { doneWithin } from './release.js';
import { managerInput } from './manager-input.js';
import { Membership } from './membership.js';
import type { ReloadReport } from './reload-report.js';
import { Recordings } from './recordings.js';
import { toApprovalPolicy } from './catalog/approval-policy.js';
import { Review } from './review/review.js';
import { toReviewOptions } from './review/review-option.js';
import { toReviewedServer } from './review/reviewed-server.js';
import { Reviews } from './review/reviews.js';
import { Roster } from './roster.js';
import { ServerTable } from './server-table.js';
import { toStartReport, type StartReport } from './start-report.js';
import { NO_MASK, type Mask } from './secrets.js';
import { clientCapabilities } from './server-requests/capabilities.js';
import { ServerRequests, toResponders } from './server-requests/server-requests.js';
import type { TroupeInside, TroupeSeams } from './seams.js';
import { Sessions } from './sessions.js';
import { tellSessions } from './server-requests/tell-sessions.js';
import { atExit } from './exit-hook.js';
import type {
  Completion,
  CompletionArgument,
  CompletionOptions,
  CompletionRef,
} from './requests/connection-requests.js';
import type { RequestOptions } from './requests/request.js';
import { TroupeRequests, type OfServer, type ResourceOptions } from './requests/troupe-requests.js';
import { Wishes } from './requests/wishes.js';
import { createTransport } from './transports/create-transport.js';
import { unknownTool, whyReplaced } from './unknown-tool.js';
import { untilSettled } from './until-settled.js';
import { SchemaValidator } from './validation/schema-validator.js';
import { View, type ViewOptions } from './view.js';

/** Longest time `close()` waits for the charts before it kills what is left. */
const CLOSE_LIMIT_MS = 10_000;
/** Longest time it waits for that. */
const KILL_LIMIT_MS = 2_000;
const CLOSED = 'The troupe is closed.';

export class Troupe {
  /** Everything that happens. Hot; never replays. */
  readonly events$: Observable<LifecycleEvent>;
  /** The `diagnostic` events among them. */
  readonly diagnostics$: Observable<LifecycleEvent>;
  /** One row per server; replays the present rows. */
  readonly status$: Observable<readonly ServerStatus[]>;
  /** The tools as a model sees them; replays the present list. */
  readonly tools$: Observable<readonly CatalogTool[]>;
  /** The resources of all servers; replays the present list. They come a moment after a server is ready: see `settled`. */
  readonly resources$: Observable<readonly CatalogResource[]>;
  /** Their templates; replays the present list. */
  readonly resourceTemplates$: Observable<readonly CatalogResourceTemplate[]>;
  /** The prompts of all servers; replays the present list. */
  readonly prompts$: Observable<readonly CatalogPrompt[]>;
  /** The tools that are held back, since they are other than what was approved; see the option of that name. */
  readonly review: Review;
  readonly #publisher: Publisher;
  readonly #sessions = new Sessions();
  readonly #wishes = new Wishes();
  readonly #results = new Results((event) => this.#publisher.publish(event));
  readonly #registry: ToolRegistry;
  readonly #lists: ExtraLists;
  readonly #requests: TroupeRequests;
  readonly #vanished: VanishedTools;
  readonly #cache: CatalogCache | undefined;
  readonly #reviews: Reviews;
  readonly #roster: Roster;
  readonly #members: Membership;
  readonly #recordings: Recordings;
  readonly #inspections: Inspections;
  readonly #signIns: SignIns | undefined;
  readonly #clock: Clock;
  readonly #hasRoots: boolean;
  /** @internal */
  readonly inside: TroupeInside;
  #started: Promise<StartReport> | undefined;
  #closed: Promise<void> | undefined;
  #forgetExit: (() => void) | undefined;
  readonly #forgetInspector: (() => void) | undefined;

  constructor(options: TroupeOptions);
  /** @internal */
  constructor(options: TroupeOptions, seams: TroupeSeams);
  constructor(options: TroupeOptions, seams: TroupeSeams = {}) {
    const clock = options.clock ?? systemClock;
    this.#clock = clock;
    this.#hasRoots = options.handlers?.roots !== undefined;
    const seed = options.seed ?? clock.now();
    const publisher = new Publisher(clock, options.logger);
    this.#publisher = publisher;
    const catalogs = new Catalogs();
    this.#signIns = toSignIns(options.auth, clock, publisher.publish);
    const approvals = new Approvals(
      options.approvals,
      (message) => publisher.publish({ type: 'diagnostic', kind: 'approvals-problem', message }),
      clock,
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
    const store = toCatalogStore(options.cache);
    const { publish } = publisher;
    this.#cache =
      store === undefined ? undefined : new CatalogCache({ store, servers: table, catalogs, clock, publish });
    const extras = new Extras();
    const mask = (server: string): Mask => table.mask(server);
    this.#reviews = new Reviews({
      ...toReviewOptions(options.review),
      clock,
      publish,
      mask,
      echoMask: (server) => table.echoMask(server),
      target: (server) => toReviewedServer(table.get(server)),
      filter: (server) => table.filter(server),
      generation: (server) => this.#roster.generation(server),
      changed: () => {
        this.#registry.outdated();
        publisher.wake();
      },
    });
    catalogs.onlisted = (...listed) => this.#reviews.listed(...listed);
    const wire = new Wire(clock, mask);
    const responders = toResponders(options.handlers ?? {});
    const effects: EffectPorts = {
      clock,
      sessions: this.#sessions,
      servers: table,
      catalogs,
      extras,
      wishes: this.#wishes,
      cache: this.#cache,
      reviews: this.#reviews,
      publish,
      createTransport,
      signIns: this.#signIns,
      createClient: (server) =>
        createClient({
          clientInfo: options.clientInfo ?? PACKAGE,
          capabilities:
            seams.declares?.(server) ?? clientCapabilities(options.handlers, options.capabilities),
          meta: seams.handshakeMeta,
          clock,
        }),
      wire,
      onnotification: seams.onnotification,
      serverRequests: new ServerRequests(seams.responders ?? (() => responders), { clock, publish, mask }),
    };
    const naming = options.naming ?? DEFAULT_NAMING;
    const requiresApproval = toApprovalPolicy(options.requiresApproval, { publish, mask });
    this.#lists = new ExtraLists(extras, () => this.#serverFacts(table), naming);
    this.#registry = new ToolRegistry(catalogs, () => this.#serverFacts(table), naming, requiresApproval);
    this.review = new Review({ reviews: this.#reviews, publisher, shown: () => this.tools, naming });
    this.#vanished = new VanishedTools({
      clock,
      catalogs,
      status: (server) => this.#roster.connection(server)?.status,
      filter: (server) => table.filter(server),
      nameOf: (tool) => this.#registry.nameOf(tool),
    });
    const manager = managerInput(options);
    const toolCount = (server: string): number => this.#registry.count(server);
    const check = new CallCheck({
      publish,
      mask,
      validator: new SchemaValidator(),
      checksArguments: options.validateArguments !== false,
    });
    this.#roster = new Roster({ table, publisher, effects, manager, toolCount, check });
    this.#requests = new TroupeRequests({
      clock,
      lists: this,
      servers: () => this.#roster.connections,
      whyIdle: () => this.whyIdle,
      until: (isTrue, signal) => publisher.until(isTrue, signal),
      publish,
      wishes: this.#wishes,
    });
    const system = (): ObservableSystem => this.#roster.supervisor.observable;
    this.#recordings = new Recordings(options.record, {
      system,
      publisher,
      wire,
      clock,
      seed,
      manager,
    });
    this.#inspections = new Inspections({
      clock,
      title: `${options.clientInfo?.name ?? PACKAGE.name} (${process.pid})`,
      system,
      record: (target) => this.#recordings.begin(target),
      connections: () => this.#roster.connections,
      connection: (name) => this.#roster.connection(name),
      tools: () => this.tools,
      mask,
      review: (server) => this.#reviews.state(server),
      onchanged: (fn) => publisher.onflushed(fn),
    });
    if (options.inspector !== undefined) {
      this.#forgetInspector = attachInspector(options.inspector, {
        system: system(),
        mask,
        failed: (why) =>
          publish({ type: 'diagnostic', kind: 'inspector-failed', message: `The inspector threw: ${why}` }),
      });
    }
    this.#members = new Membership(options, {
      roster: this.#roster,
      table,
      catalogs,
      approvals,
      publisher,
      clock,
      judged: () => this.#reviews.ready(),
      started: () => this.#started,
      isClosed: () => this.#closed !== undefined,
      load: seams.load,
      onchanged: seams.onchanged,
    });
    this.inside = {
      get rows() {
        return table.rows;
      },
      whenRead: () => this.#members.whenRead(),
      offer: (server) => ({
        tools: this.#registry.definitions(server),
        resources: extras.get(server, 'resources'),
        resourceTemplates: extras.get(server, 'resourceTemplates'),
        prompts: extras.get(server, 'prompts'),
      }),
      until: (isTrue, signal) => publisher.until(isTrue, signal),
      onflushed: (fn) => publisher.onflushed(fn),
      tellServers: (method) => tellSessions(this.#sessions.usable, method),
    };
    this.events$ = publisher.events$;
    this.diagnostics$ = this.events$.pipe(filter((event) => event.type === 'diagnostic'));
    this.tools$ = publisher.live(() => this.tools).pipe(distinctUntilChanged());
    this.status$ = publisher.live(() => this.status);
    this.resources$ = publisher.live(() => this.resources).pipe(distinctUntilChanged());
    this.resourceTemplates$ = publisher.live(() => this.resourceTemplates).pipe(distinctUntilChanged());
    this.prompts$ = publisher.live(() => this.prompts).pipe(distinctUntilChanged());
    this.#registry.ongone = (tools) => this.#vanished.note(tools);
    this.#reviews.follow(publisher);
    this.#registry.follow(publisher);
    this.#lists.follow(publisher);
    this.#vanished.follow(publisher);
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

  /** Sorted by server and URI. Those of a connection that is away stay, marked stale. */
  get resources(): readonly CatalogResource[] {
    return this.#lists.resources;
  }

  /** Sorted by server and URI template. */
  get resourceTemplates(): readonly CatalogResourceTemplate[] {
    return this.#lists.resourceTemplates;
  }

  /** Sorted by server and the server's own name for them. */
  get prompts(): readonly CatalogPrompt[] {
    return this.#lists.prompts;
  }

  /** The listed resource of that URI, or that of a server; undefined where there is none, or more than one. */
  resource(uri: string, server?: string): CatalogResource | undefined {
    return resourceIn(this.resources, uri, server);
  }

  /** The prompt of that exposed name; undefined where there is none. */
  prompt(name: string): CatalogPrompt | undefined {
    return this.#lists.prompt(name);
  }

  /** The handle of a configured server; undefined where none has that name. */
  connection(name: string): Connection | undefined {
    return this.#roster.connection(name);
  }

  /**
   * Reads the configuration and starts every enabled server side by side. Tools that are cached are in the list before
   * any server is started. Resolves when the first attempt of each server is over; after 250 ms it waits only for those
   * without cached tools, and after the start gate for none. Never rejects for a server or an unreadable source. A second
   * call gives the first promise. The signal ends the wait, not the start.
   */
  start({ signal }: WaitOptions = {}): Promise<StartReport> {
    if (this.#closed !== undefined) return Promise.reject(new NotReadyError(CLOSED));
    this.#started ??= this.#start();
    return signal === undefined ? this.#started : abortable(this.#started, signal);
  }

  /**
   * Resolves when every server is ready with all its lists read, stopped, dormant, waits for a person, or has failed, even
   * if it tries again by now.
   */
  async settled({ signal }: WaitOptions = {}): Promise<void> {
    await this.start(signal === undefined ? {} : { signal });
    await untilSettled({ publisher: this.#publisher, connections: () => this.#roster.connections }, signal);
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
   * connection that is on its way. Throws `UnknownToolError`, `ToolHeldError` (held back, not sent), `InvalidArgumentsError`
   * (not sent), `NotReadyError`
   * (not sent, safe to repeat), `ServerError`, `CallTimeoutError`, `CallAbortedError` or `OutcomeUnknownError`.
   */
  callTool(name: string, args: object = {}, options: CallOptions = {}): Promise<CallToolResult> {
    const tool = this.#registry.tool(name);
    const connection = tool === undefined ? undefined : this.#roster.connection(tool.server);
    if (tool === undefined || connection === undefined) return Promise.reject(this.#unknown(name));
    return connection.callOffered(tool.tool, args, options, () => {
      const now = this.#registry.tool(name);
      if (now?.server !== tool.server || now.tool !== tool.tool) return this.#unknown(name);
      return options.lookedAt && whyReplaced(options.lookedAt, now);
    });
  }

  /**
   * Why nothing can be asked of it: before the start, and from the close on.
   *
   * @internal
   */
  get whyIdle(): NotReadyError | undefined {
    if (this.#closed !== undefined) return new NotReadyError(CLOSED);
    return this.#started ? undefined : new NotReadyError('The troupe has not started: start() comes first.');
  }

  /**
   * What is remembered of a tool that was shown under that name, and is not any more.
   *
   * @internal
   */
  vanished(name: string): Vanished | undefined {
    return this.#registry.tool(name) === undefined ? this.#vanished.get(name) : undefined;
  }

  /**
   * Why the tool that has, or would have, that name is held back.
   *
   * @internal
   */
  whyHeld(name: string): ToolHeldError | undefined {
    const held = this.review.held.find((tool) => tool.name === name);
    return held && this.#reviews.whyHeld(held.server, held.tool);
  }

  /**
   * Reads a resource of the server that lists it, or has a template that fits it, or is named. Gives the server's
   * untouched result. Throws a `NotOfferedError` where no server is meant, or several are, and otherwise as `callTool`
   * does; repeated once where the connection is lost meanwhile.
   */
  readResource(uri: string, options: ResourceOptions = {}): Promise<ReadResourceResult> {
    return this.#requests.readResource(uri, options);
  }

  /**
   * Has a server tell when a resource changes: as `resource.updated` among the events. Holds over reconnects, until
   * `unsubscribe` or `remove`; where it is refused or cannot be sent, nothing of it is left. A server that rests tells
   * nothing until something wakes it. Finds the server, and throws, as `readResource` does.
   */
  subscribe(uri: string, options: ResourceOptions = {}): Promise<void> {
    return this.#requests.subscribe(uri, options);
  }

  /** Ends the subscriptions to a resource, or that at a server. What nobody is subscribed to is no error. */
  unsubscribe(uri: string, options: ResourceOptions = {}): Promise<void> {
    return this.#requests.unsubscribe(uri, options);
  }

  /** Gets a prompt by its exposed name. Throws as `readResource` does. */
  getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: RequestOptions = {},
  ): Promise<GetPromptResult> {
    return this.#requests.getPrompt(name, args, options);
  }

  /**
   * Asks how an argument of a prompt (by its exposed name), or a variable of a resource template, may go on. Throws as
   * `readResource` does.
   */
  complete(
    ref: CompletionRef,
    argument: CompletionArgument,
    options: CompletionOptions & OfServer = {},
  ): Promise<Completion> {
    return this.#requests.complete(ref, argument, options);
  }

  /**
   * Sets from which level on servers tell what they log (`server.log`), now and in every later session: of one server,
   * or of all that know levels, those that come later included. For all it waits for no connection, and a server that
   * refuses is a diagnostic; for one it throws as `readResource` does.
   */
  setLogLevel(level: LoggingLevel, options: ResourceOptions = {}): Promise<void> {
    return this.#requests.setLogLevel(level, options);
  }

  /** As the function of that name; what is odd becomes a `diagnostic`, and spilled files are there until `close`. */
  renderResult(result: CallToolResult, options: ResultOptions): Promise<RenderedResult> {
    return this.#results.render(result, options);
  }

  /**
   * Tells every connected server that the roots are other ones, so that it asks for them again. Resolves when that is
   * written; a session that is lost meanwhile is no error. Throws a `TypeError` where no handler for roots was given.
   */
  async rootsChanged(): Promise<void> {
    if (!this.#hasRoots) throw new TypeError("rootsChanged() needs the option 'handlers.roots'.");
    await tellSessions(this.#sessions.usable, 'notifications/roots/list_changed');
  }

  /**
   * A part of this troupe, for a sub-agent. It cannot start, stop or close anything. Throws a `ConfigError` for options
   * that are none.
   */
  view(options: ViewOptions): View {
    checkViewOptions(options);
    return new View(this, options, this.#requests);
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
   * troupe is closed. A target that cannot be written ends it with a `diagnostic`; a closed troupe rejects, and so does
   * a target that is none (`ConfigError`).
   */
  async record(target: RecordTarget): Promise<Recording> {
    if (this.#closed !== undefined) throw new NotReadyError(CLOSED);
    return this.#recordings.begin(target);
  }

  /**
   * Serves a page on 127.0.0.1 that shows what every connection does and did, and sends it commands, until it or the
   * troupe is closed. While nobody looks, nothing is recorded and nothing is spent. Rejects with a `ConfigError` for a
   * port that cannot be had; a closed troupe rejects.
   */
  async inspect(options: InspectOptions = {}): Promise<Inspection> {
    if (this.#closed !== undefined) throw new NotReadyError(CLOSED);
    return this.#inspections.begin(options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #start(): Promise<StartReport> {
    this.#forgetExit = atExit(() => void this.#sessions.killAll());
    const [loaded] = await Promise.all([this.#members.open(), this.#recordings.open()]);
    await this.#cache?.warm(this.#roster.enabled);
    // Whoever wants the tools need not wait until the connections are made.
    this.#registry.outdated();
    this.#publisher.wake();
    await this.#reviews.ready();
    if (this.#closed === undefined) {
      this.#roster.startAll();
      this.#cache?.announce();
      this.#reviews.begin();
    }
    const { supervisor } = this.#roster;
    await this.#publisher.until(
      () =>
        supervisor.failure !== undefined || (supervisor.state !== 'idle' && supervisor.state !== 'starting'),
    );
    return toStartReport(this.status, loaded);
  }

  async #close(): Promise<void> {
    // Nobody will ask what has gone: the list need not be made anew for every server that stops.
    this.#registry.ongone = undefined;
    // Nor need the end of each list be judged.
    const reviewed = this.#reviews.close();
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
      this.#cache?.close(),
      reviewed,
      // Before the recordings, so that pages hear why theirs ends.
      this.#inspections.close(),
      this.#recordings.close(),
    ]);
    this.#forgetExit?.();
    this.#forgetInspector?.();
    this.#publisher.complete();
  }

  #unknown(name: string): Error {
    const why = this.whyIdle ?? this.whyHeld(name);
    return why ?? unknownTool(name, this.status, this.vanished(name), this.tools);
  }

  *#serverFacts(table: ServerTable): Iterable<readonly [string, ServerFacts]> {
    for (const { name, state: present } of this.#roster.connections) {
      const held = this.#reviews.heldBack(name);
      const state = this.#roster.isExpected(name) ? 'configuring' : present;
      yield [name, { source: table.get(name)?.source ?? '', filter: table.filter(name), held, state }];
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
