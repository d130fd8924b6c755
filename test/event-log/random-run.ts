/** A manager with real connections that live through whatever a list of choices says, while they are recorded. */
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { createActor, type ActorRefFrom } from 'xstate';
import type { ConnectionCommand, ConnectionEvent } from '../../machines/connection.events.js';
import type { connectionMachine } from '../../machines/connection.machine.js';
import { managerMachine } from '../../machines/manager.machine.js';
import type { FailurePhase, Verdict } from '../../machines/policy/failure.js';
import { withDoor } from '../../src/actors/door.js';
import { makeRecorder } from '../../src/event-log/make-recorder.js';
import { NumberedClock } from '../../src/event-log/numbered-clock.js';
import { createControlledClock } from '../support/controlled-clock.js';
import { PLAIN_POLICY } from '../support/connection-driver.js';
import { HeldEffects, type Slot } from '../support/held-effects.js';
import { childSpec } from '../support/manager-driver.js';
import { sampleFailure, VERDICTS } from '../support/sample-failures.js';
import { MemoryLog } from './memory-log.js';

const NAMES = ['files', 'a/b', 'web#1', 'docs', 'constructor'] as const;
/** Those that are there from the start; the last one comes where a step adds it. */
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
  cachedGateMs: 250,
  retryBurst: 2,
  retryEveryMs: 100,
};
const SLOTS: readonly Slot[] = [
  'resolveConfig',
  'openTransport',
  'handshake',
  'listTools',
  'enrichCatalog',
  'authorize',
  'probe',
  'releaseSession',
  'drainCalls',
  'closeSession',
  'killSession',
];
const COMMANDS: readonly ConnectionCommand[] = [
  { type: 'connection.start' },
  { type: 'connection.stop', reason: 'stop' },
  { type: 'connection.retry' },
  { type: 'connection.restart' },
  { type: 'connection.refresh' },
  { type: 'connection.reload', transport: 'http', policy: PLAIN_POLICY },
  { type: 'trust.granted' },
  { type: 'trust.denied' },
];
const FACTS = [
  'session.stable',
  'session.idle',
  'session.quiet',
  'session.lost',
  'catalog.listChanged',
  'catalog.extrasChanged',
] as const;

const name = fc.constantFrom(...NAMES);

/** What happens next. Effects come up often, so that most connections are ready for a while. */
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
  { weight: 2, arbitrary: fc.record({ do: fc.constant('rest' as const) }) },
);

export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

export interface RandomRunOptions {
  /** After how many steps the recording begins. Default 0: at the start. */
  readonly attachAfter?: number;
  /** Size of a part. Default: one part. */
  readonly partSize?: number;
}

/** Plays the steps, then stops everything; gives what was recorded. */
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
  #recorder: ReturnType<typeof makeRecorder> | undefined;
  readonly #failed: unknown[] = [];

  constructor({ partSize = Infinity }: RandomRunOptions) {
    this.log = new MemoryLog(partSize);
    const connection = withDoor(this.#effects.machine, () => {});
    this.#manager = createActor(managerMachine.provide({ actors: { connection } }), {
      input: INPUT,
      clock: this.#timers,
    });
    this.#manager.start();
  }

  attach(): void {
    this.#recorder = makeRecorder({
      system: { manager: this.#manager, timers: this.#timers },
      sink: this.log,
      clock: this.#clock,
      seed: 1,
      input: INPUT,
      failed: (error) => this.#failed.push(error),
    });
    this.#recorder.start();
  }

  async start(): Promise<void> {
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
          this.#effects.succeed(
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
        return this.#child(each.name)?.send(null as unknown as ConnectionEvent);
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
    await this.#recorder?.close();
    if (this.#failed.length > 0) throw this.#failed[0];
    return this.log;
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
        : type === 'catalog.listChanged'
          ? { type, generation, at }
          : type === 'catalog.extrasChanged'
            ? { type, generation, at, list: at % 2 === 0 ? 'resources' : 'prompts' }
            : { type, generation };
    this.#effects.tell(each, fact);
  }

  #child(each: string): ActorRefFrom<typeof connectionMachine> | undefined {
    const { children } = this.#manager.getSnapshot();
    return Object.hasOwn(children, each) ? children[each] : undefined;
  }

  #failure(verdict: Verdict, phase: FailurePhase) {
    return sampleFailure(verdict, phase, this.#clock.now());
  }
}
