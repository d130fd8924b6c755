/**
 * Creates the parts of one troupe and connects them. Starts nothing.
 *
 * The folder `runtime` is the public façade of a troupe (`troupe.ts`, `view.ts`), the check of its options, and this
 * composition of everything below.
 *
 * Some parts need each other. They get each other through functions, which are called only after this module has returned:
 * the publisher masks with the secrets of the servers, the servers run with effects that ask for the servers, and a sign-in
 * runs on the actor system of the supervisor.
 *
 * Longer than 300 lines because it creates every part of a troupe in order of dependency, in one function.
 */
import { notifySessions, ServerRequests, toResponders } from '../server-requests/server-requests.js';
import type { EffectPorts } from '../actors/effect-ports.js';
import { toSignIns, type SignIns } from '../auth/sign-ins.js';
import { toHooks } from '../calls/hooks.js';
import { CallCheck } from '../calls/call-check.js';
import { CatalogCache } from '../catalog/cache.js';
import { Catalogs } from '../catalog/catalogs.js';
import { ExtraLists, Extras } from '../catalog/extras.js';
import { ToolRegistry, type ServerFacts } from '../catalog/registry.js';
import { RemovedTools } from '../catalog/vanished.js';
import { InputAnswers } from '../config/entry/inputs.js';
import { DEFAULT_NAMING, type NamingTemplate } from '../config/entry/server-config.js';
import type { ObservableSystem } from '../event-log/record/observed-system.js';
import { Wire } from '../event-log/record/wire-tap.js';
import { attachInspector } from '../inspector/host-inspector.js';
import { Inspections } from '../inspector/inspections.js';
import { Lifetime } from '../lifecycle/lifetime.js';
import { Publisher } from '../lifecycle/publish.js';
import type { TroupeOptions } from '../options.js';
import { PACKAGE } from '../package.js';
import { systemClock, type Clock } from '../ports.js';
import { createClient } from '../protocol/protocol-client.js';
import { EraVerdicts } from '../protocol/era.js';
import { SessionPreferences } from '../requests/session-preferences.js';
import { TroupeRequests } from '../requests/troupe-requests.js';
import { toReviewOptions } from '../review/review-option.js';
import { Reviews } from '../review/reviews.js';
import { Review } from '../review/tool-review.js';
import { SchemaValidator } from '../schemas/schema-validator.js';
import { toRedact } from '../secrets/redact.js';
import { NO_MASK, type Mask } from '../secrets/secrets.js';
import { ToolSearch } from '../search/tool-search.js';
import { clientCapabilities } from '../server-requests/handlers.js';
import { ConfigReader } from '../servers/config-reader.js';
import { Configuration } from '../servers/configuration.js';
import { toReviewedServer } from '../servers/server-entry.js';
import type { Runtime, Server } from '../servers/server.js';
import type { Declared } from '../servers/lists-key.js';
import { Servers } from '../servers/servers.js';
import { Sessions } from '../sessions/sessions.js';
import { allLimits } from '../transports/message-limits.js';
import { createTransport } from '../transports/create-transport.js';
import { createNetworkSource } from '../transports/http/network-options.js';
import { TrustedEntries } from '../trust/trusted-entries.js';
import { toCatalogStore } from './check-options.js';
import type { TroupeAccess, TroupeInternals } from './internals.js';
import { DEFAULT_START_GATE_MS, managerInput } from './manager-input.js';
import { folderOfHost } from '../config/files/discover-options.js';
import { FleetMembership } from './fleet-membership.js';
import { Recordings } from './recordings.js';
import { toAdaptedConnection } from './adapted-connection.js';
import { toConfirmationPolicy } from './confirmation-policy.js';
import { Results } from './results.js';
import { withFleet } from './with-fleet.js';
import { OnlyOnce } from '../fleet/only-once.js';
import { hasTag } from '../../machines/connection/connection.states.js';
import { classify } from '../../machines/policy/failure.js';

/** The parts that the façade uses. */
export interface TroupeParts {
  readonly clock: Clock;
  readonly publisher: Publisher;
  readonly lifetime: Lifetime;
  readonly sessions: Sessions;
  readonly servers: Servers;
  readonly configuration: Configuration;
  readonly signIns: SignIns | undefined;
  readonly registry: ToolRegistry;
  readonly naming: NamingTemplate;
  readonly search: ToolSearch;
  readonly lists: ExtraLists;
  readonly removedTools: RemovedTools;
  readonly cache: CatalogCache | undefined;
  readonly reviews: Reviews;
  readonly review: Review;
  readonly requests: TroupeRequests;
  readonly results: Results;
  readonly recordings: Recordings;
  readonly inspections: Inspections;
  /** The place of the troupe in its fleet; undefined without one. */
  readonly membership: FleetMembership | undefined;
  /** Detaches the inspector of the host; undefined if there is none. */
  readonly detachInspector: (() => void) | undefined;
  /** Ends what telemetry follows; undefined without telemetry. */
  readonly forgetTelemetry: (() => void) | undefined;
  /** Servers that run once in the fleet; undefined without a fleet. */
  readonly once: OnlyOnce | undefined;
  readonly access: TroupeAccess;
}

export function compose(given: TroupeOptions, internals: TroupeInternals): TroupeParts {
  const options = withFleet(given);
  const clock = options.clock ?? systemClock;
  const seed = options.seed ?? clock.now();
  const naming = options.naming ?? DEFAULT_NAMING;
  const manager = managerInput(options);
  const { onchanged } = internals;
  const { telemetry } = options;
  const lifetime = new Lifetime();
  const sessions = new Sessions();
  const catalogs = new Catalogs();
  const extras = new Extras();
  const wishes = new SessionPreferences();

  const eventsPerSecond = (server: string): number =>
    allLimits(servers.get(server)?.entry.settings.limits ?? options.limits).eventsPerSecond;
  const mask = (server: string): Mask => servers.mask(server);
  const maskOf = (server?: string): Mask =>
    server === undefined ? (text) => servers.maskAll(text) : mask(server);
  const publisher = new Publisher(clock, options.logger, maskOf, eventsPerSecond);
  const { publish } = publisher;
  let hasRedactFailed = false;
  const redact = toRedact(options.redact, (why) => {
    if (hasRedactFailed) return;
    hasRedactFailed = true;
    const message = `The 'redact' of the host ${why}. Texts for which it fails are masked as a whole.`;
    publish({ type: 'diagnostic', kind: 'redact-failed', message });
  });
  const system = (): ObservableSystem => servers.supervisor.observable;
  const network = createNetworkSource(options.network);
  const workspaceFolder = folderOfHost(options.discover);
  const signIns = toSignIns(options.auth, {
    cwd: workspaceFolder,
    clock,
    publish,
    network,
    roots: () => servers.supervisor.roots,
  });
  const trustedEntries = new TrustedEntries(
    options.trustStore,
    (message) => publish({ type: 'diagnostic', kind: 'trust-store-problem', message }),
    clock,
  );

  const clientInfo = options.clientInfo ?? PACKAGE;
  const own = { clientInfo, capabilities: clientCapabilities(options.handlers, options.capabilities) };
  const declared = (server: string): Declared => {
    const capabilities = internals.declares?.(server);
    return capabilities === undefined ? own : { clientInfo, capabilities };
  };
  const reader = new ConfigReader(options, trustedEntries, publish, internals.load);
  const servers = new Servers({
    terms: {
      ...options,
      env: options.env ?? process.env,
      workspaceFolder,
      trustedEntries,
      answers: new InputAnswers(options.askInput),
      seed,
      tokenMask: (name) => signIns?.mask(name) ?? NO_MASK,
      redact,
    },
    reader,
    manager,
    fleet: options.fleet,
    declared,
    runtime: () => runtime,
    onchanged,
  });
  const store = toCatalogStore(options.cache, process.env, workspaceFolder);
  const cache =
    store === undefined ? undefined : new CatalogCache({ store, servers, catalogs, extras, clock, publish });
  const reviews = new Reviews({
    ...toReviewOptions(options.review),
    clock,
    publish,
    mask,
    echoMask: (server) => servers.echoMask(server),
    target: (server) => toReviewedServer(servers.get(server)?.entry.row),
    filter: (server) => servers.filter(server),
    generation: (server) => servers.get(server)?.generation ?? 0,
    lifetime,
    changed: () => {
      registry.outdated();
      publisher.wake();
    },
  });
  catalogs.onlisted = (...listed) => reviews.listed(...listed);

  function* serverFacts(): Iterable<readonly [string, ServerFacts]> {
    for (const { name, entry, present } of servers.all) {
      const { row, settings } = entry;
      const isExpected = !lifetime.hasStarted && settings.enabled;
      const state = isExpected ? 'configuring' : present.state;
      yield [name, { source: row.source, filter: settings.tools, held: reviews.heldBack(name), state }];
    }
  }
  const requiresConfirmation = toConfirmationPolicy(options.requiresConfirmation, { publish, mask });
  const lists = new ExtraLists(extras, serverFacts, naming);
  const registry = new ToolRegistry(catalogs, serverFacts, naming, requiresConfirmation);
  const review = new Review({ reviews, publisher, shown: () => registry.tools, naming });
  const removedTools = new RemovedTools({
    clock,
    catalogs,
    status: (server) => servers.get(server)?.connection.status,
    filter: (server) => servers.filter(server),
    nameOf: (tool) => registry.nameOf(tool),
  });
  registry.ongone = (tools) => removedTools.note(tools);

  const once =
    options.fleet &&
    new OnlyOnce({
      fleet: options.fleet,
      clock,
      roots: () => servers.supervisor.roots,
      sessions,
      isAtRest: (name) => {
        const present = servers.get(name)?.present;
        return present?.state === 'stopped' || (present !== undefined && hasTag(present, 'dormant'));
      },
      retry: (name) => retryIfWaiting(servers.get(name)),
    });
  const wire = new Wire(clock, mask);
  const responders = toResponders(options.handlers ?? {});
  const effects: EffectPorts = {
    adaptConnection: toAdaptedConnection(options.machines),
    clock,
    sessions,
    servers,
    catalogs,
    extras,
    wishes,
    cache,
    reviews,
    publish,
    createTransport: internals.createTransport ?? createTransport,
    network,
    signIns,
    once,
    eras: new EraVerdicts(clock),
    createClient: async (server, era, firstId) => {
      const given = { meta: internals.handshakeMeta, clock, firstId, ...declared(server) };
      if (telemetry === undefined) return createClient(era, given);
      const { createObservedClient } = await import('../telemetry/observed-client.js');
      return createObservedClient({ telemetry, server, era }, given, createClient);
    },
    wire,
    onnotification: internals.onnotification,
    serverRequests: new ServerRequests(internals.responders ?? (() => responders), { clock, publish, mask }),
  };
  const check = new CallCheck({
    publish,
    mask,
    validator: new SchemaValidator(),
    checksArguments: options.validateArguments !== false,
    coercesArguments: options.coerceArguments !== false,
  });
  let lastCall = 0;
  const runtime: Runtime = {
    publisher,
    lifetime,
    effects,
    calls: {
      clock,
      publish,
      mask,
      nextCall: () => (lastCall += 1),
      check,
      hooks: toHooks(options.hooks),
      remember: (server, secrets) => servers.remember(server, secrets),
    },
    toolCount: (server) => registry.count(server),
    toolsLeftOut: (server) => registry.leftOut(server),
    spawn: (spec) => servers.supervisor.add(spec),
  };
  const requests = new TroupeRequests({
    clock,
    lists: {
      get resources() {
        return lists.resources;
      },
      get resourceTemplates() {
        return lists.resourceTemplates;
      },
      get prompts() {
        return lists.prompts;
      },
      get status() {
        return servers.statuses;
      },
      prompt: (name) => lists.prompt(name),
    },
    servers: () => servers.connections,
    whyIdle: () => lifetime.whyIdle,
    until: (isTrue, signal) => publisher.until(isTrue, signal),
    publish,
    wishes,
  });

  const recordings = new Recordings(options.record, {
    system,
    publisher,
    wire,
    clock,
    seed,
    manager,
    lifetime,
  });
  const inspections = new Inspections(lifetime, {
    clock,
    title: `${options.clientInfo?.name ?? PACKAGE.name} (${process.pid})`,
    system,
    record: (target) => recordings.begin(target),
    recorded: () => recordings.file,
    connections: () => servers.connections,
    connection: (name) => servers.get(name)?.connection,
    tools: () => registry.tools,
    mask,
    review: (server) => reviews.state(server),
    onchanged: (fn) => publisher.onflushed(fn),
  });
  const membership =
    options.fleet &&
    new FleetMembership({
      fleet: options.fleet,
      clock,
      statuses: () => servers.statuses,
      onchanged: (fn) => publisher.onflushed(fn),
      watch: (page) => inspections.watch(page),
    });
  const detachInspector =
    options.inspector &&
    attachInspector(options.inspector, {
      system: system(),
      mask,
      failed: (why) =>
        publish({ type: 'diagnostic', kind: 'inspector-failed', message: `The inspector threw: ${why}` }),
    });
  const forgetTelemetry = telemetry?.follow({
    events$: publisher.events$,
    get status() {
      return servers.statuses;
    },
  });
  const configuration = new Configuration({
    servers,
    reader,
    trustedEntries,
    publisher,
    lifetime,
    clock,
    isWatched: options.watch === true,
    gateMs: options.startGateMs ?? DEFAULT_START_GATE_MS,
    judged: () => reviews.ready(),
    onchanged,
  });

  // In this order: the lists need the decisions of the reviews, and removed tools need the former list of the registry.
  cache?.follow(publisher);
  once?.follow(publisher);
  for (const part of [reviews, registry, lists, removedTools]) part.follow(publisher);

  return {
    clock,
    publisher,
    lifetime,
    sessions,
    servers,
    configuration,
    signIns,
    registry,
    naming,
    search: new ToolSearch(() => registry.tools),
    lists,
    removedTools,
    cache,
    reviews,
    review,
    requests,
    results: new Results(publish),
    recordings,
    inspections,
    membership,
    detachInspector,
    forgetTelemetry,
    once,
    access: {
      get rows() {
        return servers.rows;
      },
      whenRead: () => servers.whenRead(),
      offer: (server) => ({
        tools: registry.definitions(server),
        resources: extras.get(server, 'resources'),
        resourceTemplates: extras.get(server, 'resourceTemplates'),
        prompts: extras.get(server, 'prompts'),
      }),
      get doings() {
        return servers.supervisor.doings;
      },
      filter: (server) => servers.filter(server),
      knowsExtras: (server) => extras.areKnown(server),
      until: (isTrue, signal) => publisher.until(isTrue, signal),
      onflushed: (fn) => publisher.onflushed(fn),
      observerFailed: publisher.observerFailed,
      membership,
      notifyServers: (method) => notifySessions(sessions.usable, method),
    },
  };
}

/** A server that runs once in the fleet runs elsewhere now. What only a person can change is not tried again. */
function retryIfWaiting(server: Server | undefined): void {
  const failure = server?.context?.failure;
  const { state } = server?.present ?? {};
  if (server === undefined || failure === undefined || failure === null) return;
  // The refusal of another host says nothing about this one.
  const mayPass = classify(failure) !== 'permanent' || failure.http !== undefined;
  if ((state === 'failed' || state === 'reconnecting') && mayPass)
    server.connection.dispatch({ type: 'connection.retry' });
}
