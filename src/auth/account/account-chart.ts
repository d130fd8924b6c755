/**
 * Runs the chart of one account: sends it facts and listens to what it emits. If the chart crashes because of an internal error,
 * its supervisor restarts it, and pending promises reject.
 */
import type { ActorRefFrom, AnyActorRef, SnapshotFrom } from 'xstate';
import type { SignInEmitted, SignInEvent, SignInInput } from '../../../machines/sign-in/sign-in.events.js';
import type { signInMachine } from '../../../machines/sign-in/sign-in.machine.js';
import { verdict, type TransitionVerdict } from '../../../machines/verdict.js';
import type { ObservableRoots, RootActors } from '../../actor-system/root-actors.js';
import { messageOf } from '../../text/error-message.js';
import { TransportError } from '../../failures/transport-error.js';

export type AccountRoots = RootActors & Pick<ObservableRoots, 'follow'>;

type SignInRef = ActorRefFrom<typeof signInMachine>;

export interface SignInListener {
  next(emitted: SignInEmitted): void;
  /** The chart has ended. */
  fail(error: Error): void;
}

export class AccountChart {
  readonly #listeners = new Set<SignInListener>();
  readonly #unfollow: () => void;
  #ref: SignInRef;

  /** `id`: the id of the actor. */
  constructor(roots: AccountRoots, id: string, machine: typeof signInMachine, input: SignInInput) {
    this.#unfollow = roots.follow((ref) => {
      if (ref.id === id) this.#ref = this.#follow(ref);
    });
    this.#ref = roots.start(id, machine, input);
  }

  get snapshot(): SnapshotFrom<typeof signInMachine> {
    return this.#ref.getSnapshot();
  }

  verdict(event: SignInEvent): TransitionVerdict {
    return verdict(this.snapshot, event);
  }

  /** Must not be called while an actor is processing. */
  send(event: SignInEvent): void {
    this.#ref.send(event);
  }

  /** Calls the listener until the returned function is called, which returns whether it was still listening. */
  listen(listener: SignInListener): () => boolean {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Settles with the first value or error that `read` returns for an emitted event. Rejects if the chart ends. */
  until<T>(read: (emitted: SignInEmitted) => T | Error | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = this.listen({
        next: (emitted) => {
          const outcome = read(emitted);
          if (outcome === undefined) return;
          stop();
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
        },
        fail: (error) => {
          reject(error);
          stop();
        },
      });
    });
  }

  /** Resolves when the chart has ended. Never rejects. */
  async close(hurry: AbortSignal): Promise<void> {
    this.#unfollow();
    if (this.snapshot.status !== 'active') return;
    const cut = (): void => this.send({ type: 'account.hurried' });
    const ended = new Promise<void>((resolve) => {
      this.#ref.subscribe({ error: () => resolve(), complete: resolve });
    });
    this.send({ type: 'account.closing' });
    if (hurry.aborted) cut();
    hurry.addEventListener('abort', cut, { once: true });
    await ended;
    hurry.removeEventListener('abort', cut);
  }

  #follow(ref: AnyActorRef): SignInRef {
    const followed = ref as SignInRef;
    followed.on('*', (emitted) => {
      for (const listener of this.#listeners) listener.next(emitted);
    });
    followed.subscribe({
      error: (error) => this.#fail(messageOf(error)),
      complete: () => this.#fail('The troupe is closed.'),
    });
    return followed;
  }

  #fail(message: string): void {
    for (const listener of this.#listeners) listener.fail(new TransportError({ code: 'internal', message }));
  }
}
