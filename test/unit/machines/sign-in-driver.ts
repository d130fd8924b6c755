/**
 * The real sign-in chart; a test controls all of its effects.
 *
 * 1. Nothing settles by itself. 2. When a method resolves, everything that follows from it has happened.
 */
import { setImmediate as turn } from 'node:timers/promises';
import {
  createActor,
  fromCallback,
  fromPromise,
  type ActorRefFrom,
  type InspectionEvent,
  type StateValue,
} from 'xstate';
import type { Failure } from '../../../machines/policy/failure.js';
import type { TokenFacts } from '../../../machines/policy/token-life.js';
import type {
  SignInContext,
  SignInEmitted,
  SignInEvent,
  SignInInput,
} from '../../../machines/sign-in/sign-in.events.js';
import { signInMachine } from '../../../machines/sign-in/sign-in.machine.js';
import { verdict, type TransitionVerdict } from '../../../machines/verdict.js';

const PROMISES = [
  'readTokens',
  'renewToken',
  'lookForOther',
  'beginSignIn',
  'askPerson',
  'exchangeCode',
  'dropClient',
  'finishWork',
  'cutWork',
] as const;
const CALLBACKS = ['watchForOthers', 'openRedirect'] as const;

export type PromiseSlot = (typeof PROMISES)[number];
type CallbackSlot = (typeof CALLBACKS)[number];

export const LIFE_MS = 3_600_000;

export const facts = (token: number, more: Partial<TokenFacts> = {}): TokenFacts => ({
  token,
  scopes: ['look'],
  expiresInMs: LIFE_MS,
  ...more,
});

export const failureAt = (at: number, message = 'no luck'): Failure => ({
  code: 'auth-required',
  message,
  phase: 'handshake',
  at,
});

interface Held {
  readonly input: unknown;
  readonly succeed: (output: object) => void;
  readonly fail: (failure: Failure) => void;
}

export class SignInDriver {
  readonly emitted: SignInEmitted[] = [];
  /** How often each effect has started. */
  readonly begun = new Map<string, number>();
  /** Effects that started while they were already running. */
  readonly twice: string[] = [];
  now = 0;
  readonly #actor: ActorRefFrom<typeof signInMachine>;
  readonly #promises = new Map<PromiseSlot, Held>();
  readonly #callbacks = new Map<CallbackSlot, { readonly input: unknown }>();

  constructor(input: Partial<SignInInput> = {}, inspect?: (event: InspectionEvent) => void) {
    const promises = PROMISES.map((slot) => [slot, this.#hold(slot)]);
    const callbacks = CALLBACKS.map((slot) => [slot, this.#keep(slot)]);
    const machine = signInMachine.provide({ actors: Object.fromEntries([...promises, ...callbacks]) });
    this.#actor = createActor(machine, {
      input: { server: 'port', attended: true, interactive: true, ...input },
      ...(inspect && { inspect }),
    });
    this.#actor.on('*', (event) => this.emitted.push(event));
    this.#actor.subscribe({ error: () => {} });
    this.#actor.start();
  }

  get snapshot() {
    return this.#actor.getSnapshot();
  }

  get context(): SignInContext {
    return this.snapshot.context;
  }

  /** The atomic state of the token and that of the sign-in. */
  get path(): string {
    const { token, signIn } = this.snapshot.value as Record<string, StateValue>;
    return `${leafOf(token)}+${leafOf(signIn)}`;
  }

  /** The running effects. */
  get running(): readonly string[] {
    return [...this.#promises.keys(), ...this.#callbacks.keys()].toSorted();
  }

  /** The types of the emitted events since the last call. */
  get newEvents(): readonly string[] {
    return this.emitted.splice(0).map(({ type }) => type);
  }

  inputOf(slot: PromiseSlot | CallbackSlot): unknown {
    return this.#promises.get(slot as PromiseSlot)?.input ?? this.#callbacks.get(slot as CallbackSlot)?.input;
  }

  isRunning(slot: PromiseSlot | CallbackSlot): boolean {
    return this.running.includes(slot);
  }

  async send(event: SignInEvent): Promise<TransitionVerdict> {
    const answer = verdict(this.snapshot, event);
    this.#actor.send(event);
    await turn();
    return answer;
  }

  async settle(slot: PromiseSlot, output: object = {}): Promise<void> {
    this.#take(slot).succeed(output);
    await turn();
  }

  async fail(slot: PromiseSlot): Promise<void> {
    this.#take(slot).fail(failureAt(this.now));
    await turn();
  }

  read(found: TokenFacts | null): Promise<void> {
    return this.settle('readTokens', { found, at: this.now });
  }

  renew(found: TokenFacts | null, adopted = false): Promise<void> {
    return this.settle('renewToken', { found, adopted, at: this.now });
  }

  async wanted(at = this.now): Promise<TransitionVerdict> {
    this.now = at;
    return this.send({ type: 'token.wanted', at });
  }

  #take(slot: PromiseSlot): Held {
    const held = this.#promises.get(slot);
    if (held === undefined) throw new Error(`'${slot}' does not run.`);
    this.#promises.delete(slot);
    return held;
  }

  #begin(slot: PromiseSlot | CallbackSlot): void {
    if (this.isRunning(slot)) this.twice.push(slot);
    this.begun.set(slot, (this.begun.get(slot) ?? 0) + 1);
  }

  #hold(slot: PromiseSlot) {
    return fromPromise<object, unknown>(
      ({ input, signal }) =>
        new Promise((succeed, fail) => {
          const held: Held = { input, succeed, fail };
          this.#begin(slot);
          this.#promises.set(slot, held);
          const over = (): void => {
            if (this.#promises.get(slot) === held) this.#promises.delete(slot);
          };
          signal.addEventListener('abort', over, { once: true });
        }),
    );
  }

  #keep(slot: CallbackSlot) {
    return fromCallback<SignInEvent, unknown>(({ input }) => {
      const kept = { input };
      this.#begin(slot);
      this.#callbacks.set(slot, kept);
      return () => {
        if (this.#callbacks.get(slot) === kept) this.#callbacks.delete(slot);
      };
    });
  }
}

function leafOf(value: StateValue | undefined): string {
  if (value === undefined || typeof value === 'string') return value ?? '';
  return leafOf(Object.values(value)[0]);
}
