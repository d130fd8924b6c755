/**
 * Records a manager with real connections and the machines of a configuration and a sign-in, driven by a list of
 * choices.
 */
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { createActor, type ActorRefFrom, type AnyActorRef } from 'xstate';
import type { ConnectionCommand, ConnectionEvent } from '../../machines/connection/connection.events.js';
import type { connectionMachine } from '../../machines/connection/connection.machine.js';
import { managerMachine } from '../../machines/manager/manager.machine.js';
import type { SignInEvent } from '../../machines/sign-in/sign-in.events.js';
import type { FailurePhase, Verdict } from '../../machines/policy/failure.js';
import { withConnectionFilter } from '../../src/actor-system/event-filter.js';
import { makeRecorder } from '../../src/event-log/record/make-recorder.js';
import { NumberedClock } from '../../src/actor-system/numbered-clock.js';
import { RootSupervisor } from '../../src/actor-system/root-actors.js';
import { createControlledClock } from './controlled-clock.js';
import { PLAIN_POLICY } from './connection-driver.js';
import { leasePolicy } from '../../machines/policy/lease-term.js';
import { HeldLeaseEffects } from './held-lease.js';
import { HeldConfiguration } from './held-configuration.js';
import { HeldSignIn } from './held-sign-in.js';
import { HeldEffects, type Slot } from './held-effects.js';
import { childSpec } from './manager-driver.js';
import { sampleFailure, VERDICTS } from './sample-failures.js';
import { MemoryLog } from './memory-log.js';

const NAMES = ['files', 'a/b', 'web#1', 'docs', 'constructor'] as const;
/** Names of the connections. All but the last exist from the start; a step adds the last. */
const FIRST = NAMES.slice(0, 4);
const TRANSPORTS = {
  files: 'stdio',
  'a/b': 'stdio',
  'web#1': 'http',
  docs: 'http',
  constructor: 'in-process',
} as const;
const INPUT = {
  startSlots: 1,
  slotHoldMs: 500,
  startGateMs: 10_000,
  retryBurst: 2,
  retryEveryMs: 100,
};
const SLOTS: readonly Slot[] = [
  'resolveConfig',
  'openTransport',
  'handshake',
  'readTools',
  'adoptTools',
  'retireSession',
  'enrichCatalog',
  'authorize',
  'probe',
  'releaseSession',
  'drainCalls',
  'closeSession',
  'killSession',
];
const RELOAD: ConnectionCommand = {
  type: 'connection.reload',
  transport: 'http',
  policy: PLAIN_POLICY,
  wanted: false,
};
const COMMANDS: readonly ConnectionCommand[] = [
  { type: 'connection.start' },
  { type: 'connection.stop', reason: 'stop' },
  { type: 'connection.retry' },
  { type: 'connection.restart' },
  { type: 'connection.refresh' },
  RELOAD,
  { type: 'trust.granted' },
  { type: 'trust.denied' },
];
const FACTS = [
  'session.stable',
  'session.idle',
  'session.quiet',
  'session.lost',
  'session.unreachable',
  'catalog.listChanged',
  'catalog.extrasChanged',
] as const;

const CONFIGURATION_POLICY = { restMs: 300, mostMs: 2_000, retryAfterMs: [1_000, 2_000] };
const CONFIGURATION_STEPS = [
  'change',
  'ask',
  'read',
  'readPartly',
  'failToRead',
  'failToWatch',
  'crash',
  'close',
] as const;

const SIGN_IN_STEPS = [
  'begin session',
  'send request',
  'refuse token',
  'refuse again',
  'demand scope',
  'join',
  'leave',
  'open redirect',
  'answer',
  'refuse answer',
  'settle',
  'fail',
  'crash',
  'close',
] as const;

const LEASE_STEPS = [
  'want',
  'unwant',
  'change holder',
  'give',
  'refuse',
  'renew',
  'lose',
  'run out',
  'end',
  'stay',
  'release',
  'fail',
  'crash',
] as const;

const name = fc.constantFrom(...NAMES);

/** The next step. Effects are frequent, so that most connections are ready for some time. */
export const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: fc.constant('settle' as const), name, pick: fc.nat(99) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      name,
      pick: fc.nat(99),
      verdict: fc.constantFrom(...VERDICTS),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('fact' as const),
      name,
      fact: fc.constantFrom(...FACTS),
      isStale: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('command' as const),
      name,
      command: fc.constantFrom(...COMMANDS),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 100, 500, 1_000, 60_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('network' as const), online: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('jump' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('add' as const), name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const), name }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('configuration' as const),
      what: fc.constantFrom(...CONFIGURATION_STEPS),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('sign in' as const),
      what: fc.constantFrom(...SIGN_IN_STEPS),
      pick: fc.nat(9),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('lease' as const), what: fc.constantFrom(...LEASE_STEPS) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('go well' as const), name }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('replace' as const), name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('call' as const), name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('rest' as const) }) },
);

export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

export interface RandomRunOptions {
  /** Number of steps before the recording starts. Default 0. */
  readonly attachAfter?: number;
  /** Size of a part. Default: one part. */
  readonly partSize?: number;
}

/** Performs the steps, then stops everything; returns the recording. */
export async function recordRandomRun(
  steps: readonly Step[],
  options: RandomRunOptions = {},
): Promise<MemoryLog> {
  const run = new RandomRun(options);
  if (options.attachAfter === undefined) run.attach();
  await run.start();
  for (const [index, each] of steps.entries()) {
    if (index === options.attachAfter) {
      await turn();
      run.attach();
    }
    await run.do(each);
  }
  await turn();
  if (options.attachAfter !== undefined && options.attachAfter >= steps.length) run.attach();
  return run.end();
}

class RandomRun {
  readonly log: MemoryLog;
  readonly #clock = createControlledClock();
  readonly #timers = new NumberedClock(this.#clock);
  readonly #effects = new HeldEffects(() => this.#clock.now());
  readonly #manager: ActorRefFrom<typeof managerMachine>;
  readonly #roots = new RootSupervisor(this.#timers, () => {});
  readonly #configuration = new HeldConfiguration();
  readonly #signIn = new HeldSignIn();
  readonly #lease = new HeldLeaseEffects();
  #recorder: ReturnType<typeof makeRecorder> | undefined;
  readonly #failed: unknown[] = [];

  constructor({ partSize = Infinity }: RandomRunOptions) {
    this.log = new MemoryLog(partSize);
    const connection = withConnectionFilter(this.#effects.machine, () => {});
    this.#manager = createActor(managerMachine.provide({ actors: { connection } }), {
      input: INPUT,
      clock: this.#timers,
    });
    this.#manager.start();
  }

  attach(): void {
    this.#recorder = makeRecorder({
      system: { manager: this.#manager, timers: this.#timers, roots: this.#roots },
      sink: this.log,
      clock: this.#clock,
      seed: 1,
      input: INPUT,
      failed: (error) => this.#failed.push(error),
    });
    this.#recorder.start();
  }

  async start(): Promise<void> {
    this.#manager.send({ type: 'manager.open' });
    this.#manager.send({
      type: 'manager.start',
      specs: FIRST.map((each) => childSpec(each, { transport: TRANSPORTS[each] })),
    });
    await turn();
  }

  async do(each: Step): Promise<void> {
    switch (each.do) {
      case 'settle':
        return this.#end(each.name, each.pick, (slot) =>
          this.#succeed(
            each.name,
            slot,
            slot === 'resolveConfig' && each.pick === 0 ? { kind: 'untrusted' } : {},
          ),
        );
      case 'fail':
        return this.#end(each.name, each.pick, (slot) =>
          this.#effects.fail(each.name, slot, this.#failure(each.verdict, 'launch')),
        );
      case 'fact':
        return this.#fact(each.name, each.fact, each.isStale);
      case 'command':
        return this.#child(each.name)?.send(each.command);
      case 'advance':
        return this.#clock.advance(each.ms);
      case 'network':
        return this.#manager.send({ type: 'network.changed', online: each.online, at: 0 });
      case 'jump':
        return this.#manager.send({ type: 'clock.jumped' });
      case 'add':
        if (this.#child(each.name)?.getSnapshot().status !== 'active') {
          this.#manager.send({
            type: 'manager.add',
            spec: childSpec(each.name, { transport: TRANSPORTS[each.name] }),
          });
        }
        return;
      case 'crash':
        return crash(this.#child(each.name));
      case 'configuration':
        return this.#configure(each.what);
      case 'sign in':
        return this.#handleSignIn(each.what, each.pick);
      case 'lease':
        return this.#handleLease(each.what);
      case 'go well':
        return this.#goWell(each.name);
      case 'replace':
        await this.#goWell(each.name);
        this.#child(each.name)?.send(RELOAD);
        return this.#goWell(each.name);
      case 'call':
        return this.#child(each.name)?.send({ type: 'call.waiting', at: this.#clock.now() });
      case 'rest':
        await turn();
    }
  }

  async end(): Promise<MemoryLog> {
    this.#manager.send({ type: 'manager.stop' });
    await turn();
    for (const each of NAMES) {
      for (const slot of ['drainCalls', 'closeSession'] as const) {
        if (this.#effects.running(each).includes(slot)) this.#effects.succeed(each, slot, {});
        await turn();
      }
    }
    this.#manager.stop();
    this.#roots.stop();
    await this.#recorder?.close();
    if (this.#failed.length > 0) throw this.#failed[0];
    return this.log;
  }

  /** Lets every effect of the connection succeed until a start or a succession has ended. */
  async #goWell(each: (typeof NAMES)[number]): Promise<void> {
    for (let step = 0; step < 7; step += 1) {
      this.#end(each, step, (slot) => this.#succeed(each, slot));
      await turn();
    }
  }

  #succeed(each: (typeof NAMES)[number], slot: Slot, output: object = {}): void {
    const opened = slot === 'openTransport' ? { transport: TRANSPORTS[each] } : {};
    this.#effects.succeed(each, slot, { ...opened, ...output });
  }

  #end(each: string, pick: number, settle: (slot: Slot) => void): void {
    const running = SLOTS.filter((slot) => this.#effects.running(each).includes(slot));
    const slot = running[pick % Math.max(1, running.length)];
    if (slot !== undefined) settle(slot);
  }

  #fact(each: string, type: (typeof FACTS)[number], isStale: boolean): void {
    if (!this.#effects.running(each).includes('watchSession')) return;
    const generation = (this.#child(each)?.getSnapshot().context.generation ?? 0) - (isStale ? 1 : 0);
    const at = this.#clock.now();
    const fact: ConnectionEvent =
      type === 'session.lost'
        ? { type, generation, failure: this.#failure('retry', 'session') }
        : type === 'session.unreachable'
          ? { type, generation, count: 1 + (at % 2), failure: this.#failure('retry', 'session') }
          : type === 'catalog.listChanged'
            ? { type, generation, at }
            : type === 'catalog.extrasChanged'
              ? { type, generation, at, list: at % 2 === 0 ? 'resources' : 'prompts' }
              : { type, generation };
    this.#effects.report(each, fact);
  }

  /** Starts with its first step, and again after its end. */
  #configure(what: (typeof CONFIGURATION_STEPS)[number]): void {
    const id = 'configuration';
    const at = this.#clock.now();
    const ref =
      this.#roots.ref(id) ??
      this.#roots.start(id, this.#configuration.machine, { policy: CONFIGURATION_POLICY, readable: true });
    if (what === 'change') this.#configuration.send({ type: 'files.changed', at });
    else if (what === 'failToWatch') this.#configuration.send({ type: 'watch.failed', message: 'ENOSPC' });
    else if (what === 'ask') ref.send({ type: 'reload.asked' });
    else if (what === 'close') ref.send({ type: 'configuration.close' });
    else if (what === 'crash') crash(ref);
    else if (what === 'failToRead') this.#configuration.fail({ message: 'a bug', at });
    else this.#configuration.succeed({ readable: what === 'read', at });
  }

  /** Starts with its first step, and again after its end. */
  #handleSignIn(what: (typeof SIGN_IN_STEPS)[number], pick: number): void {
    const id = 'signIn:1';
    const at = this.#clock.now();
    const failure = this.#failure('authorize', 'handshake');
    if (what === 'settle') return this.#signIn.settle(pick, at);
    if (what === 'fail') return this.#signIn.settle(pick, at, failure);
    const ref =
      this.#roots.ref(id) ??
      this.#roots.start(id, this.#signIn.machine, { server: 'docs', attended: true, interactive: true });
    const events: Readonly<Record<Exclude<typeof what, 'crash'>, SignInEvent>> = {
      'begin session': { type: 'tokens.outdated' },
      'send request': { type: 'token.wanted', at },
      'refuse token': { type: 'token.refused', token: pick % 3, scopes: [] },
      'refuse again': { type: 'token.refusedAgain', token: pick % 3 },
      'demand scope': { type: 'scope.demanded', token: pick % 3, scopes: ['write'] },
      join: { type: 'signIn.joined' },
      leave: { type: 'signIn.left' },
      'open redirect': { type: 'redirect.opened' },
      answer: { type: 'answer.given', answer: pick },
      'refuse answer': { type: 'answer.refused', failure },
      close: { type: 'account.closing' },
    };
    if (what === 'crash') crash(ref);
    else ref.send(events[what]);
  }

  /** Starts with its first step, and again after its end. */
  #handleLease(what: (typeof LEASE_STEPS)[number]): void {
    const id = 'lease:1';
    const at = this.#clock.now();
    const ref =
      this.#roots.ref(id) ??
      this.#roots.start(id, this.#lease.machine, { server: 'ledger', policy: leasePolicy(10_000) });
    if (what === 'want') ref.send({ type: 'lease.wanted' });
    else if (what === 'unwant') ref.send({ type: 'lease.unwanted' });
    else if (what === 'change holder') ref.send({ type: 'holder.changed' });
    else if (what === 'crash') crash(ref);
    else if (what === 'give') this.#lease.settle('acquireLease', { token: String(at), at });
    else if (what === 'refuse') this.#lease.settle('acquireLease', { token: null, at });
    else if (what === 'renew') this.#lease.settle('renewLease', { isHeld: true, at });
    else if (what === 'lose') this.#lease.settle('renewLease', { isHeld: false, at });
    else if (what === 'run out') this.#lease.settle('keepTerm', { at });
    else if (what === 'end') this.#lease.settle('endServer', { isGone: true, at });
    else if (what === 'stay') this.#lease.settle('endServer', { isGone: false, at });
    else if (what === 'release') this.#lease.settle('releaseLease', { at });
    else
      for (const effect of this.#lease.running) this.#lease.settle(effect, new Error('The engine is gone.'));
  }

  #child(each: string): ActorRefFrom<typeof connectionMachine> | undefined {
    const { children } = this.#manager.getSnapshot();
    return Object.hasOwn(children, each) ? children[each] : undefined;
  }

  #failure(verdict: Verdict, phase: FailurePhase) {
    return sampleFailure(verdict, phase, this.#clock.now());
  }
}

/** No guard can read such an event. XState itself cannot if the actor has stopped. */
function crash(ref: AnyActorRef | undefined): void {
  if (ref?.getSnapshot().status === 'active') ref.send(null);
}
