/** A roster on a clock that stands still, whose connections have fake servers; for what the façade keeps to itself. */
import { afterEach } from 'vitest';
import type { ServerConfig, ServerSettings } from '../../src/options.js';
import type { EffectPorts } from '../../src/actors/effect-ports.js';
import { CallCheck } from '../../src/calls/call-check.js';
import { Catalogs } from '../../src/catalog/catalogs.js';
import { Extras } from '../../src/catalog/extras.js';
import type { Connection } from '../../src/connection.js';
import { Publisher } from '../../src/lifecycle/publish.js';
import { silentLogger } from '../../src/ports.js';
import { createSessionClient } from '../../src/protocol/session-client.js';
import { Wishes } from '../../src/requests/wishes.js';
import { Roster } from '../../src/roster.js';
import { ServerTable } from '../../src/server-table.js';
import { Sessions } from '../../src/sessions.js';
import { SchemaValidator } from '../../src/validation/schema-validator.js';
import { createControlledClock, type ControlledClock } from '../support/controlled-clock.js';
import { recordEvents, type EventRecord } from '../support/event-record.js';
import { fake, FakeServer, fakeTransports } from '../support/fake-server.js';
import { passTime } from '../support/test-troupe.js';

export interface Supervised {
  readonly roster: Roster;
  readonly connection: Connection;
  readonly sessions: Sessions;
  readonly clock: ControlledClock;
  readonly events: EventRecord;
  readonly server: FakeServer;
}

export interface SupervisedOptions {
  readonly settings?: ServerSettings;
  readonly ports?: Partial<EffectPorts>;
  /** An entry of this scope; an untrusted one has to be approved. */
  readonly scope?: 'host' | 'project';
}

/** `make` starts one connection, `a`; everything is ended after the test. */
export function useSupervised(): { make(server?: FakeServer, options?: SupervisedOptions): Supervised } {
  const made: Supervised[] = [];
  afterEach(async () => {
    for (const { roster, sessions, clock } of made.splice(0)) {
      roster.close();
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
  const table = new ServerTable({
    env: {},
    workspaceFolder: '.',
    policy: undefined,
    trust: undefined,
    retryCalls: undefined,
    seed: 1,
  });
  const effects: EffectPorts = {
    clock,
    sessions,
    servers: table,
    catalogs: new Catalogs(),
    extras: new Extras(),
    wishes: new Wishes(),
    publish: publisher.publish,
    createTransport: fakeTransports.createTransport,
    createClient: async () =>
      createSessionClient({ clientInfo: { name: 'test', version: '0' }, capabilities: {} }),
    ...ports,
  };
  const manager = {
    startSlots: 4,
    slotHoldMs: 2_000,
    startGateMs: 10_000,
    cachedGateMs: 250,
    retryBurst: 20,
    retryEveryMs: 100,
  };
  const check = new CallCheck({
    publish: publisher.publish,
    mask: (server) => table.mask(server),
    validator: new SchemaValidator(),
    checksArguments: true,
  });
  const roster = new Roster({ table, publisher, effects, manager, toolCount: () => 0, check });
  const events = recordEvents(publisher.events$);
  const config: ServerConfig =
    scope === 'project' ? { command: server.command, ...settings } : fake(server, settings);
  const connection = roster.enroll({
    name: 'a',
    source: 'a test',
    scope,
    shadows: [],
    baseDir: '/',
    config,
    hash: 'hash',
  });
  roster.startAll();
  return { roster, connection, sessions, clock, events, server };
}
