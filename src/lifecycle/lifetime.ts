/**
 * The phase of a troupe, read from the tags of the manager's chart. The manager is created late, since cached tools need
 * not wait for its charts to load; until then a troupe is idle, or reads its sources if `start` was called.
 */
import type { ActorRefFrom } from 'xstate';
import type { ManagerTag } from '../../machines/manager/manager.events.js';
import type { managerMachine } from '../../machines/manager/manager.machine.js';
import { NotReadyError } from '../errors.js';

export class Lifetime {
  #manager: ActorRefFrom<typeof managerMachine> | undefined;
  /** `start` was called before there was a manager. */
  #isOpen = false;
  #failure: string | undefined;
  /** Closed after the manager died, which its chart can no longer show. */
  #isClosedWithout = false;

  /** `start` was called. A manager that is created later must be opened, too. */
  open(): void {
    this.#isOpen = true;
  }

  /** From now on the phase is read from that manager. */
  begin(manager: ActorRefFrom<typeof managerMachine>): void {
    this.#manager = manager;
  }

  /** The manager has crashed because of an internal error. */
  fail(message: string): void {
    this.#failure = message;
  }

  /** The troupe is closed although its manager has died. */
  closeWithout(): void {
    this.#isClosedWithout = true;
  }

  /** Why the manager died; undefined while it lives. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** `start` has not been called. */
  get isIdle(): boolean {
    return this.#manager === undefined ? !this.#isOpen : this.#is('idle');
  }

  /** The connections were started, or never will be. */
  get hasStarted(): boolean {
    return this.#manager !== undefined && !this.#is('unstarted');
  }

  /** The first attempts are over. */
  get isSettled(): boolean {
    return this.#failure !== undefined || this.#is('settled');
  }

  /** It is closing or closed: nothing more is started. */
  get isClosed(): boolean {
    return this.#isClosedWithout || this.#is('closed');
  }

  /** No connection is left, or the manager has died. */
  get hasEnded(): boolean {
    return this.#failure !== undefined || this.#is('ended');
  }

  /** Why nothing can be requested: `start` was not called, or the troupe is closed. Undefined while it runs. */
  get whyIdle(): NotReadyError | undefined {
    if (this.isClosed) return closedError();
    return this.isIdle ? new NotReadyError('The troupe has not started: call start() first.') : undefined;
  }

  /** Throws a `NotReadyError` if it is closing or closed. */
  refuseClosed(server?: string): void {
    if (this.isClosed) throw closedError(server);
  }

  #is(tag: ManagerTag): boolean {
    return this.#manager?.getSnapshot().hasTag(tag) === true;
  }
}

export function closedError(server?: string): NotReadyError {
  return new NotReadyError('The troupe is closed.', { server });
}
