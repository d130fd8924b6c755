/**
 * A recorded manager and its connections. fast-check chooses the order of their effects, timers, losses and commands,
 * which happen one at a time.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type * as fc from 'fast-check';
import { createActor, type ActorRefFrom } from 'xstate';
import {
  CONNECTION_COMMANDS,
  type ConnectionCommand,
  type ConnectionEvent,
} from '../../../machines/connection/connection.events.js';
import type { connectionMachine } from '../../../machines/connection/connection.machine.js';
import type { ManagerInput } from '../../../machines/manager/manager.events.js';
import { managerMachine } from '../../../machines/manager/manager.machine.js';
import { withConnectionFilter } from '../../../src/actor-system/event-filter.js';
import { makeRecorder } from '../../../src/event-log/record/make-recorder.js';
import { NumberedClock } from '../../../src/actor-system/numbered-clock.js';
import { RootSupervisor } from '../../../src/actor-system/root-actors.js';
import type { Clock } from '../../../src/ports.js';
import { MemoryLog } from '../../support/memory-log.js';
import { pathOf } from '../../support/connection-driver.js';
import { generationOf, HeldEffects, type HeldEffect, type Slot } from '../../support/held-effects.js';
import { childSpec } from '../../support/manager-driver.js';
import { sampleFailure, VERDICTS } from '../../support/sample-failures.js';
import { MODEL_POLICY } from './lifecycle-model.js';

export const FLEET = { files: 'stdio', notes: 'stdio', web: 'http' } as const;
export type Member = keyof typeof FLEET;
export const MEMBERS = Object.keys(FLEET) as readonly Member[];

const INPUT: ManagerInput = {
  startSlots: 1,
  slotHoldMs: 500,
  startGateMs: 10_000,
  cachedGateMs: 250,
  retryBurst: 1,
  retryEveryMs: 100,
};

/** Maximum number of steps while the fleet runs freely, and then until it has stopped. */
const MAX_REPORTS = 150;

export interface Choices {
  /** How the effects end, in order. */
  readonly ends: readonly ('well' | (typeof VERDICTS)[number])[];
  /** The reports of watched sessions, in order. */
  readonly reports: readonly ('lost' | 'unreachable' | 'quiet' | 'changed' | 'stable' | 'idle')[];
  readonly commands: readonly { readonly to: Member; readonly type: ConnectionCommand['type'] }[];
}

/** Effects that end sessions. */
const ENDINGS: readonly Slot[] = ['releaseSession', 'closeSession', 'killSession', 'retireSession'];

export interface SessionNote {
  readonly name: string;
  readonly what: 'begun' | 'gone' | 'all gone';
  readonly generation: number;
  /** Whether another session is in use. */
  readonly isBesides: boolean;
}

export class ScheduledFleet {
  readonly log = new MemoryLog();
  /** Every state that each connection was in, in order. */
  readonly paths: Record<Member, string[]> = { files: [], notes: [], web: [] };
  /** Sessions that were started or ended, in order. */
  readonly sessions: SessionNote[] = [];
  readonly #scheduler: fc.Scheduler;
  readonly #choices: Choices;
  readonly #timers = new Map<number, { readonly at: number; readonly fn: () => void }>();
  readonly #effects: HeldEffects;
  readonly #manager: ActorRefFrom<typeof managerMachine>;
  readonly #recorder: ReturnType<typeof makeRecorder>;
  #now = 1_000_000;
  #ids = 0;
  #ended = 0;
  #reported = 0;
  #isCalm = false;

  constructor(scheduler: fc.Scheduler, choices: Choices) {
    this.#scheduler = scheduler;
    this.#choices = choices;
    this.#effects = new HeldEffects(
      () => this.#now,
      (effect) => this.#began(effect),
    );
    const clock = this.#clock();
    const timers = new NumberedClock(clock);
    const connection = withConnectionFilter(this.#effects.machine, () => {});
    this.#manager = createActor(managerMachine.provide({ actors: { connection } }), {
      input: INPUT,
      clock: timers,
    });
    this.#manager.on('added', ({ name }) => this.#follow(name as Member));
    this.#manager.start();
    this.#recorder = makeRecorder({
      system: { manager: this.#manager, timers, roots: new RootSupervisor(timers, () => {}) },
      sink: this.log,
      clock,
      seed: 1,
      input: INPUT,
      failed: (error) => {
        throw error;
      },
    });
    this.#recorder.start();
  }

  /** Runs all chosen steps, then stops the fleet and lets all effects succeed. */
  async run(): Promise<void> {
    this.#manager.send({ type: 'manager.open' });
    this.#manager.send({
      type: 'manager.start',
      specs: MEMBERS.map((name) => childSpec(name, { transport: FLEET[name], policy: MODEL_POLICY })),
    });
    for (const { to, type } of this.#choices.commands) {
      this.#later(`${to}: ${type}`, () => this.#child(to)?.send(commandOf(type)));
    }
    await this.#pass();
    this.#isCalm = true;
    this.#manager.send({ type: 'manager.stop' });
    await turn();
    await this.#pass();
    this.#manager.stop();
    await this.#recorder.close();
  }

  get state(): string {
    return pathOf(this.#manager.getSnapshot().value.phase);
  }

  get running(): string[] {
    return MEMBERS.flatMap((name) => this.#effects.running(name));
  }

  get timers(): number {
    return this.#timers.size;
  }

  async #pass(): Promise<void> {
    for (let left = MAX_REPORTS; left > 0 && this.#scheduler.count() > 0; left -= 1) {
      if (this.#isCalm && this.state === 'closed') return;
      await this.#scheduler.waitOne();
      await turn();
    }
  }

  /** Schedules a step. What the step waits for must already be scheduled, or it would wait forever. */
  #later(words: string, happen: () => void): void {
    void this.#scheduler.schedule(Promise.resolve(), words).then(happen);
  }

  /** A timer fires late or never. The order of two due timers is random. */
  #clock(): Clock {
    return {
      now: () => this.#now,
      setTimeout: (fn, ms) => {
        this.#ids += 1;
        const id = this.#ids;
        this.#timers.set(id, { at: this.#now + ms, fn });
        this.#later(`timer of ${ms} ms`, () => {
          const timer = this.#timers.get(id);
          if (timer === undefined) return;
          this.#timers.delete(id);
          this.#now = Math.max(this.#now, timer.at);
          timer.fn();
        });
        return id;
      },
      clearTimeout: (handle) => {
        this.#timers.delete(handle as number);
      },
    };
  }

  #began(effect: HeldEffect): void {
    const { slot, input } = effect;
    const { name } = input;
    if (slot === 'openTransport') this.#note(effect, 'begun');
    if (slot === 'watchSession') this.#later(`${name}: a session speaks`, () => this.#speak(name));
    else this.#later(`${name}: ${slot} ends`, () => this.#end(effect, slot));
  }

  #end(effect: HeldEffect, slot: Slot): void {
    const { name } = effect.input;
    if (!this.#effects.running(name).includes(slot)) return;
    this.#ended += 1;
    const how = this.#isCalm
      ? 'well'
      : (this.#choices.ends[this.#ended % this.#choices.ends.length] ?? 'well');
    const { context } = this.#child(name)!.getSnapshot();
    const whose = generationOf(effect) > context.generation ? 'successor' : 'current';
    const isBesides = this.#isReady(name);
    if (ENDINGS.includes(slot) && (how === 'well' || isBesides)) {
      this.#note(effect, isBesides ? 'gone' : 'all gone');
    }
    if (how !== 'well') return this.#effects.fail(name, slot, sampleFailure(how, 'launch', this.#now), whose);
    const transport = context.next?.transport ?? context.transport;
    this.#effects.succeed(name, slot, slot === 'openTransport' ? { transport } : {}, whose);
  }

  #note(effect: HeldEffect, what: SessionNote['what']): void {
    const { name } = effect.input;
    this.sessions.push({ name, what, generation: generationOf(effect), isBesides: this.#isReady(name) });
  }

  #isReady(name: string): boolean {
    return this.#child(name)?.getSnapshot().matches('ready') ?? false;
  }

  #speak(name: string): void {
    if (!this.#effects.running(name).includes('watchSession')) return;
    const { generation } = this.#child(name)!.getSnapshot().context;
    this.#reported += 1;
    const report = this.#choices.reports[this.#reported % this.#choices.reports.length] ?? 'quiet';
    this.#effects.report(name, factOf(report, generation, this.#now));
    if (!['lost', 'unreachable', 'idle'].includes(report) && this.#reported < MAX_REPORTS) {
      this.#later(`${name}: a session speaks again`, () => this.#speak(name));
    }
  }

  #follow(name: Member): void {
    this.#child(name)?.subscribe({
      next: ({ value }) => {
        const path = pathOf(value);
        if (path !== this.paths[name].at(-1)) this.paths[name].push(path);
      },
      error: () => {},
    });
  }

  #child(name: string): ActorRefFrom<typeof connectionMachine> | undefined {
    return this.#manager.getSnapshot().children[name];
  }
}

function commandOf(type: ConnectionCommand['type']): ConnectionCommand {
  if (type === 'connection.stop') return { type, reason: 'stop' };
  if (type === 'connection.reload') return { type, transport: 'http', policy: MODEL_POLICY, wanted: false };
  return { type };
}

function factOf(report: Choices['reports'][number], generation: number, at: number): ConnectionEvent {
  switch (report) {
    case 'lost':
      return { type: 'session.lost', generation, failure: sampleFailure('retry', 'session', at) };
    case 'unreachable':
      return {
        type: 'session.unreachable',
        generation,
        count: MODEL_POLICY.maxUnreachable,
        failure: sampleFailure('retry', 'session', at),
      };
    case 'changed':
      return { type: 'catalog.listChanged', generation, at };
    default:
      return { type: `session.${report}`, generation };
  }
}

/** The random choices of a run, except the order. */
export function choicesOf(arbitraries: typeof fc): fc.Arbitrary<Choices> {
  return arbitraries.record({
    ends: arbitraries.array(arbitraries.constantFrom('well', 'well', 'well', 'well', ...VERDICTS), {
      minLength: 12,
      maxLength: 12,
    }),
    reports: arbitraries.array(
      arbitraries.constantFrom('lost', 'unreachable', 'quiet', 'changed', 'stable', 'idle'),
      {
        minLength: 6,
        maxLength: 6,
      },
    ),
    commands: arbitraries.array(
      arbitraries.record({
        to: arbitraries.constantFrom(...MEMBERS),
        type: arbitraries.constantFrom(...CONNECTION_COMMANDS),
      }),
      { maxLength: 8 },
    ),
  });
}
