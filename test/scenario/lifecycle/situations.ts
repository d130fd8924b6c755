/** Every state of the connection chart in which a connection can stay or wait, and a way to reach it with fake servers. */
import type { ServerSettings } from '../../../src/config/entry/server-config.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import type { FakeServer } from '../../support/fake-server.js';
import type { FakeTransportOptions } from '../../support/fake-transport.js';
import { never } from '../../support/gate.js';
import { refuse, silent, type Script } from '../../support/scripted-server.js';
import type { TestTroupe } from '../../support/test-troupe.js';

/** How a connection reaches a state, and what that needs. */
export interface Situation {
  readonly state: string;
  readonly because: string;
  readonly transport?: FakeTransportOptions;
  readonly script?: Script;
  readonly settings?: ServerSettings;
  /** Whether the module of the transport never loads. */
  readonly createHangs?: boolean;
  /** Whether the state can be reached only after the session has ended. */
  readonly afterRelease?: boolean;
  /** Whether it waits for its start slot. */
  readonly needsSlot?: boolean;
  /** Brings the connection to the state after the start. */
  readonly arrive?: (test: TestTroupe, server: FakeServer) => Promise<void> | void;
}

const failing = (): Promise<never> =>
  Promise.reject(new TransportError({ code: 'spawn-failed', message: 'It does not start.' }));

const missing = (): Promise<never> =>
  Promise.reject(new TransportError({ code: 'command-not-found', message: 'There is no such program.' }));

const unauthorized = (): Promise<never> =>
  Promise.reject(new TransportError({ code: 'auth-required', message: 'HTTP 401' }));

const ready = async ({ troupe }: TestTroupe): Promise<void> => {
  await troupe.connection('a')?.ready();
};

const readyAndThen =
  (act: (test: TestTroupe, server: FakeServer) => unknown) =>
  async (test: TestTroupe, server: FakeServer): Promise<void> => {
    await ready(test);
    await act(test, server);
  };

const stop = ({ troupe }: TestTroupe): void => {
  void troupe
    .connection('a')
    ?.stop()
    .catch(() => {});
};

const refreshWith =
  (script: Script) =>
  ({ troupe }: TestTroupe, { peer }: FakeServer): void => {
    peer.script = script;
    troupe.connection('a')?.dispatch({ type: 'connection.refresh' });
  };

const once: ServerSettings = { policy: { maxAttempts: 1 } };

export const SITUATIONS: readonly Situation[] = [
  { state: 'configuring.resolving', because: 'it has just started' },
  {
    state: 'configuring.dormant',
    because: 'it was idle',
    afterRelease: true,
    settings: { start: 'lazy', idleStopMs: 5_000 },
    arrive: readyAndThen(({ clock }) => clock.advance(5_000)),
  },
  { state: 'launching.waitingForSlot', because: 'another server has the slot', needsSlot: true },
  { state: 'launching.opening', because: 'the module never loads', createHangs: true },
  { state: 'launching.opening', because: 'the transport never starts', transport: { start: never } },
  {
    state: 'handshaking.initializing',
    because: 'the server is silent',
    script: { on: { initialize: silent } },
  },
  { state: 'handshaking.initializing', because: 'nothing is ever sent', transport: { send: never } },
  { state: 'handshaking.listing', because: 'the list never comes', script: { on: { 'tools/list': silent } } },
  {
    state: 'configuring.authorizing.releasing',
    because: 'the refused session does not end',
    transport: { start: unauthorized, close: never },
  },
  {
    state: 'configuring.authorizing.signingIn',
    because: 'the user is asked',
    afterRelease: true,
    transport: { start: unauthorized },
  },
  { state: 'ready.resting+current', because: 'it is idle', arrive: ready },
  {
    state: 'ready.probing+current',
    because: 'a ping was sent',
    script: { on: { ping: silent } },
    arrive: readyAndThen(({ clock }) => clock.advance(30_000)),
  },
  {
    state: 'ready.suspect+current',
    because: 'a ping was missed',
    script: { on: { ping: silent } },
    arrive: readyAndThen(({ clock }) => clock.advance(35_000)),
  },
  {
    state: 'ready.resting+debouncing',
    because: 'the list has changed',
    arrive: readyAndThen((_, { peer }) => peer.notify('notifications/tools/list_changed')),
  },
  {
    state: 'ready.resting+refreshing.reading',
    because: 'a refresh never ends',
    arrive: readyAndThen(refreshWith({ on: { 'tools/list': silent } })),
  },
  {
    state: 'ready.resting+stale',
    because: 'a refresh has failed',
    arrive: readyAndThen(refreshWith({ on: { 'tools/list': refuse(-32603) } })),
  },
  {
    state: 'reconnecting.releasing',
    because: 'the old session does not end',
    transport: { start: failing, close: never },
  },
  {
    state: 'reconnecting.backingOff',
    because: 'it does not start',
    afterRelease: true,
    transport: { start: failing },
  },
  {
    state: 'failed.exhausted.releasing',
    because: 'the old session does not end',
    transport: { start: failing, close: never },
    settings: once,
  },
  {
    state: 'failed.permanent.waiting',
    because: 'the program does not exist',
    afterRelease: true,
    transport: { start: missing },
  },
  {
    state: 'failed.exhausted.resting',
    because: 'the server rejects initialize',
    afterRelease: true,
    script: { on: { initialize: refuse(-32603) } },
    settings: once,
  },
  {
    state: 'shuttingDown.draining+ending',
    because: 'a call is in flight',
    script: { on: { 'tools/call': silent } },
    arrive: readyAndThen((test) => {
      void test.troupe.callTool('mcp__a__echo').catch(() => {});
      stop(test);
    }),
  },
  {
    state: 'shuttingDown.closing+ending',
    because: 'the session does not end',
    transport: { close: never },
    arrive: readyAndThen(stop),
  },
  {
    state: 'shuttingDown.killing+ending',
    because: 'the session cannot be killed',
    transport: { close: never, kill: never },
    arrive: readyAndThen(async (test) => {
      stop(test);
      await test.clock.advance(3_000);
    }),
  },
];
