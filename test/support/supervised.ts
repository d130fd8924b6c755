/** Fake servers on a controlled clock, for tests of internals that the façade hides. */
import { afterEach } from 'vitest';
import { TrustedEntries } from '../../src/trust/trusted-entries.js';
import { ConfigReader } from '../../src/servers/config-reader.js';
import { InputAnswers } from '../../src/config/entry/inputs.js';
import type { ServerConfig, ServerSettings } from '../../src/config/entry/server-config.js';
import type { EffectPorts } from '../../src/actors/effect-ports.js';
import { CallCheck } from '../../src/calls/call-check.js';
import { Catalogs } from '../../src/catalog/catalogs.js';
import { Extras } from '../../src/catalog/extras.js';
import type { Connection } from '../../src/servers/connection.js';
import { Publisher } from '../../src/lifecycle/publish.js';
import { Lifetime } from '../../src/lifecycle/lifetime.js';
import { silentLogger } from '../../src/ports.js';
import { NO_MASK } from '../../src/secrets/secrets.js';
import { createClient } from '../../src/protocol/protocol-client.js';
import { EraVerdicts } from '../../src/protocol/era.js';
import { SessionPreferences } from '../../src/requests/session-preferences.js';
import type { Runtime } from '../../src/servers/server.js';
import { Servers } from '../../src/servers/servers.js';
import { Sessions } from '../../src/sessions/sessions.js';
import { SchemaValidator } from '../../src/schemas/schema-validator.js';
import { createControlledClock, type ControlledClock } from './controlled-clock.js';
import { recordEvents, type EventRecord } from './event-record.js';
import { fake, FakeServer, fakeTransports } from './fake-server.js';
import { passTime } from './test-troupe.js';

export interface Supervised {
  readonly servers: Servers;
  readonly connection: Connection;
  readonly sessions: Sessions;
  readonly clock: ControlledClock;
  readonly events: EventRecord;
  readonly server: FakeServer;
}

export interface SupervisedOptions {
  readonly settings?: ServerSettings;
  readonly ports?: Partial<EffectPorts>;
  /** The scope of the entry. An entry of an untrusted scope needs approval. */
  readonly scope?: 'host' | 'project';
}

/** `make` starts one connection, `a`; everything is stopped after the test. */
export function useSupervised(): { make(server?: FakeServer, options?: SupervisedOptions): Supervised } {
  const made: Supervised[] = [];
  afterEach(async () => {
    for (const { servers, sessions, clock } of made.splice(0)) {
      servers.close();
      await passTime(clock, sessions.closeAll());
    }
  });
  return {
    make(server = new FakeServer(), options = {}) {
      const one = supervise(server, options);
      made.push(one);
      return one;
    },
  };
}

function supervise(
  server: FakeServer,
  { settings = {}, ports = {}, scope = 'host' }: SupervisedOptions,
): Supervised {
  const clock = createControlledClock();
  const publisher = new Publisher(clock, silentLogger);
  const sessions = new Sessions();
  const trustedEntries = new TrustedEntries();
  const servers = new Servers({
    terms: {
      env: {},
      workspaceFolder: '.',
      trustedEntries,
      answers: new InputAnswers(undefined),
      seed: 1,
      tokenMask: () => NO_MASK,
      redact: NO_MASK,
    },
    reader: new ConfigReader({}, trustedEntries, publisher.publish),
    manager: {
      startSlots: 4,
      slotHoldMs: 2_000,
      startGateMs: 10_000,
      retryBurst: 20,
      retryEveryMs: 100,
    },
    declared: () => ({ clientInfo: { name: 'test', version: '0' }, capabilities: {} }),
    runtime: () => runtime,
  });
  const effects: EffectPorts = {
    clock,
    sessions,
    servers,
    catalogs: new Catalogs(),
    extras: new Extras(),
    wishes: new SessionPreferences(),
    publish: publisher.publish,
    createTransport: fakeTransports.createTransport,
    eras: new EraVerdicts(clock),
    createClient: (_server, era, firstId) =>
      createClient(era, { clientInfo: { name: 'test', version: '0' }, capabilities: {}, firstId }),
    ...ports,
  };
  const check = new CallCheck({
    publish: publisher.publish,
    mask: (name) => servers.mask(name),
    validator: new SchemaValidator(),
    checksArguments: true,
    coercesArguments: true,
  });
  let lastCall = 0;
  const runtime: Runtime = {
    publisher,
    lifetime: new Lifetime(),
    effects,
    calls: {
      clock,
      publish: publisher.publish,
      mask: (name) => servers.mask(name),
      nextCall: () => (lastCall += 1),
      check,
      hooks: [],
      remember: (name, secrets) => servers.remember(name, secrets),
    },
    toolCount: () => 0,
    toolsLeftOut: () => [],
    spawn: (spec) => servers.supervisor.add(spec),
  };
  const events = recordEvents(publisher.events$);
  const config: ServerConfig =
    scope === 'project' ? { command: server.command, ...settings } : fake(server, settings);
  const { connection } = servers.enroll({
    name: 'a',
    source: 'a test',
    scope,
    shadows: [],
    baseDir: '/',
    config,
    hash: 'hash',
  });
  servers.open();
  servers.startAll();
  return { servers, connection, sessions, clock, events, server };
}
