/**
 * The connection chart with its real effects, each of which waits to begin until the walk has given the server its orders. So
 * a path decides what happens next, and the real server how.
 *
 * H1. An effect begins when the walk lets it. Its limits, transports and processes are its own.
 * H2. What a session reports is held until the path expects it. Commands, facts and timers enter only when the path says so,
 *     from wherever they come: an event that nobody expects is dropped.
 */
import { fromCallback, fromPromise, type AnyActorRef, type EventObject } from 'xstate';
import type { ConnectionInput } from '../../../machines/connection/connection.events.js';
import type { ConnectionMachine } from '../../../machines/connection/connection.machine.js';
import { MAX_DELAY_MS } from '../../../machines/policy/backoff.js';
import type { TransitionCoverage } from '../transition-coverage.js';

interface Effect {
  /** How long it may take, in milliseconds of the clock. */
  readonly limitMs: number;
  /** Runs it for real. */
  readonly begin: () => Promise<unknown>;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How an effect ended. */
export type Ended = { readonly output: unknown } | { readonly error: unknown };

interface PromiseScope {
  readonly self: AnyActorRef;
}

/** XState keeps the function of a logic in its `config`, which its types do not show. */
interface WithFunction {
  config(scope: object): unknown;
}

/** Fields in which a path differs from the real event: times, and terms of the entry that the model chose. */
const OF_THE_PATH = ['at', 'policy', 'wanted', 'transport'] as const;

interface Held {
  send(event: unknown): void;
  getSnapshot(): ReturnType<ConnectionMachine['getInitialSnapshot']>;
}

export class HeldConnection {
  readonly #input: ConnectionInput;
  readonly #coverage: TransitionCoverage | undefined;
  readonly #waiting = new Map<string, Effect>();
  readonly #facts: EventObject[] = [];
  #actor: Held | undefined;
  #expected: EventObject | undefined;
  #isOver = false;

  constructor(input: ConnectionInput, coverage: TransitionCoverage | undefined) {
    this.#input = input;
    this.#coverage = coverage;
  }

  get hasBegun(): boolean {
    return this.#actor !== undefined;
  }

  get actor(): Held {
    if (this.#actor === undefined) throw new Error('The connection has not started.');
    return this.#actor;
  }

  /** For `machines.connection`. */
  readonly adapt = (machine: ConnectionMachine): ConnectionMachine => {
    const { actors, delays } = machine.implementations;
    const { watchSession, ...effects } = actors as unknown as Record<string, WithFunction>;
    const held = machine.provide({
      actors: {
        ...Object.fromEntries(Object.entries(effects).map(([slot, effect]) => [slot, this.#held(effect)])),
        watchSession: fromCallback((scope) => {
          const sendBack = (event: EventObject): void => this.#note(event, scope);
          return watchSession?.config({ ...scope, sendBack }) as (() => void) | undefined;
        }),
      } as never,
      actions: { claimStart: () => {} },
      delays: Object.fromEntries(Object.keys(delays).map((name) => [name, MAX_DELAY_MS])),
    });
    const walked = Object.create(held) as ConnectionMachine;
    walked.getInitialSnapshot = (scope, input) => {
      this.#actor = scope.self as unknown as Held;
      return held.getInitialSnapshot(scope, { ...this.#input, name: input?.name ?? this.#input.name });
    };
    walked.transition = (snapshot, event, scope) => {
      const entering = this.#entering(event);
      return entering === undefined ? snapshot : held.transition(snapshot, entering as typeof event, scope);
    };
    return this.#coverage?.connection(walked) ?? walked;
  };

  /** The state is waiting for this effect. */
  isWaiting(id: string): boolean {
    return this.#waiting.has(id);
  }

  /** How long an effect that waits may take, or one of its steps, in milliseconds of the clock. */
  limitOf(id: string): number {
    return this.#waiting.get(id)?.limitMs ?? 0;
  }

  /** Lets an effect begin; `onend` is called when it has ended, before the chart learns of it. */
  begin(id: string, onend: (ended: Ended) => void): void {
    const { begin, resolve, reject } = this.#take(id);
    begin().then(
      (output) => {
        onend({ output });
        resolve(output);
      },
      (error: unknown) => {
        onend({ error });
        reject(error);
      },
    );
  }

  /** Ends an effect that does not run. */
  give(id: string, ended: Ended): void {
    const { resolve, reject } = this.#take(id);
    if ('error' in ended) reject(ended.error);
    else resolve(ended.output);
  }

  /** Sends an event of the path to the chart, as nothing else did. */
  send(event: EventObject): void {
    this.expect(event);
    this.actor.send(event);
    this.#expected = undefined;
  }

  /** The next real event of this type enters, once. */
  expect(event: EventObject | undefined): void {
    this.#expected = event;
  }

  get isExpecting(): boolean {
    return this.#expected !== undefined;
  }

  /** Forgets what sessions have reported so far. */
  forgetFacts(): void {
    this.#facts.length = 0;
  }

  /** The first fact of a type that a session has reported, with the times of the path. */
  factLike(event: EventObject): EventObject | undefined {
    const fact = this.#facts.find(({ type, ...about }) => {
      const isCounted = !('count' in event) || (about as { count?: unknown }).count === event.count;
      return type === event.type && isCounted;
    });
    return fact && withFieldsOf(event, fact);
  }

  /** From now on everything runs as it would without the walk. */
  letGo(): void {
    this.#isOver = true;
    for (const id of [...this.#waiting.keys()]) this.begin(id, () => {});
  }

  #take(id: string): Effect {
    const effect = this.#waiting.get(id);
    if (effect === undefined) throw new Error(`The effect '${id}' is not waiting.`);
    this.#waiting.delete(id);
    return effect;
  }

  #held(effect: WithFunction) {
    return fromPromise<unknown, unknown>((scope) => {
      const begin = async (): Promise<unknown> => effect.config(scope);
      if (this.#isOver) return begin();
      const { id } = (scope as unknown as PromiseScope).self;
      const { limitMs = 0, drainMs = 0, closeMs = 0 } = scope.input as Partial<Record<string, number>>;
      const limit = Math.max(limitMs, drainMs, closeMs);
      return new Promise((resolve, reject) =>
        this.#waiting.set(id, { limitMs: limit, begin, resolve, reject }),
      );
    });
  }

  #note(event: EventObject, { sendBack }: { sendBack: (event: EventObject) => void }): void {
    if (this.#isOver) sendBack(event);
    else this.#facts.push(event);
  }

  #entering(event: EventObject): EventObject | undefined {
    if (this.#isOver || /^xstate\.(?!after)/.test(event.type)) return event;
    const expected = this.#expected;
    if (expected?.type !== event.type) return undefined;
    this.#expected = undefined;
    return withFieldsOf(expected, event);
  }
}

function withFieldsOf(path: EventObject, real: EventObject): EventObject {
  const fields = OF_THE_PATH.filter((field) => field in path);
  return { ...real, ...Object.fromEntries(fields.map((field) => [field, (path as never)[field]])) };
}
