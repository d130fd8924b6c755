/**
 * Plays a log through the real actors: the effects do nothing until the log says what came of them, and a timer fires
 * when the log says that it did. Needs a log from the start.
 */
import {
  createActor,
  fromCallback,
  type ActorLogic,
  type AnyActorRef,
  type EventObject,
  type Snapshot,
} from 'xstate';
import { connectionMachine } from '../../machines/connection.machine.js';
import { managerMachine, type ManagerInput } from '../../machines/manager.machine.js';
import { withDoor } from '../actors/door.js';
import type { Clock } from '../ports.js';
import { MANAGER } from './address.js';
import type { CauseEntry, LogHeader } from './entry.js';
import { fromLogged } from './logged-event.js';
import { NumberedClock } from './numbered-clock.js';
import { ObservedSystem, type Group, type MachineState } from './observed-system.js';

/** Timers that fire by their number and never by themselves. */
class CommandedClock implements Clock {
  readonly #timers = new Map<number, () => void>();
  #set = 0;

  now(): number {
    return 0;
  }

  setTimeout(fn: () => void): number {
    this.#set += 1;
    this.#timers.set(this.#set, fn);
    return this.#set;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as number);
  }

  /** False where no such timer is set. */
  fire(number: number): boolean {
    const fn = this.#timers.get(number);
    this.#timers.delete(number);
    fn?.();
    return fn !== undefined;
  }
}

export class Rerun {
  readonly #clock = new CommandedClock();
  readonly #manager: AnyActorRef;
  readonly #observed: ObservedSystem;
  /** The machines and effects that came last, by the address without its incarnation. */
  readonly #actors = new Map<string, { readonly address: string; readonly ref: AnyActorRef }>();
  #error: unknown;

  /** Throws where the header's input is none. */
  constructor({ input }: LogHeader) {
    const timers = new NumberedClock(this.#clock);
    this.#manager = createActor(stubbed, {
      input: input as unknown as ManagerInput,
      clock: timers,
    });
    this.#manager.subscribe({ error: () => {} });
    this.#observed = new ObservedSystem(
      { manager: this.#manager, timers },
      { actor: (ref, address) => this.#know(ref, address), error: (error) => (this.#error = error) },
    );
    this.#manager.start();
    this.#know(this.#manager, MANAGER);
    this.#observed.attach();
  }

  machines(): readonly MachineState[] {
    return this.#observed.machines();
  }

  /** Does what the entry says was done. Gives the reason where that cannot be done here. */
  play(entry: CauseEntry): string | undefined {
    const why = this.#play(entry);
    if (this.#error === undefined) return why;
    const error = this.#error;
    this.#error = undefined;
    return `made the replay fail: ${error instanceof Error ? error.message : 'without an error'}`;
  }

  /** What followed from everything that was played since the last time. */
  takeGroup(): Group | undefined {
    return this.#observed.takeGroup();
  }

  stop(): void {
    this.#observed.detach();
    this.#manager.stop();
  }

  #play({ kind, to, from, event, timer }: CauseEntry): string | undefined {
    if (kind === 'timer')
      return this.#clock.fire(timer ?? 0) ? undefined : `names timer ${timer}, which is not set`;
    const receiver = this.#find(to);
    if (receiver === undefined) return `is for ${to}, which does not exist`;
    if (kind === 'send') {
      receiver.send(fromLogged(event));
      return undefined;
    }
    const effect = this.#find(from ?? '');
    const isAtWork = (effect?.getSnapshot() as Snapshot<unknown> | undefined)?.status === 'active';
    if (effect === undefined || !isAtWork) return `is from ${from}, which is not at work`;
    effect.send({ type: OUTCOME, event: fromLogged(event) });
    return undefined;
  }

  #find(address: string): AnyActorRef | undefined {
    const latest = this.#actors.get(withoutIncarnation(address));
    return latest?.address === address ? latest.ref : undefined;
  }

  #know(ref: AnyActorRef, address: string): void {
    this.#actors.set(withoutIncarnation(address), { address, ref });
  }
}

/** Incarnations of what is above an actor count: only its own is left out. */
function withoutIncarnation(address: string): string {
  return address.slice(0, address.lastIndexOf('#'));
}

/** Tells an effect what came of it. */
const OUTCOME = 'replay.outcome';

interface Outcome extends EventObject {
  readonly event: EventObject & { readonly output?: unknown; readonly error?: unknown };
}

/** An effect that settles when it is told to. */
const settling: ActorLogic<Snapshot<unknown>, EventObject> = {
  getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined }),
  getPersistedSnapshot: (snapshot) => snapshot,
  transition: (snapshot, told) => {
    if (told.type === 'xstate.stop') return { status: 'stopped', output: undefined, error: undefined };
    if (told.type !== OUTCOME) return snapshot;
    const { event } = told as Outcome;
    return event.type.startsWith('xstate.error.')
      ? { status: 'error', output: undefined, error: event.error }
      : { status: 'done', output: event.output, error: undefined };
  },
};

/** An effect that says what it is told to say. */
const saying = fromCallback<EventObject>(({ receive, sendBack }) => {
  receive((told) => sendBack((told as Outcome).event));
});

const STUBS = {
  resolveConfig: settling as never,
  openTransport: settling as never,
  handshake: settling as never,
  listTools: settling as never,
  enrichCatalog: settling as never,
  authorize: settling as never,
  probe: settling as never,
  releaseSession: settling as never,
  drainCalls: settling as never,
  closeSession: settling as never,
  killSession: settling as never,
  prepareSession: settling as never,
  retireSession: settling as never,
  watchSession: saying as never,
};

const connection = withDoor(connectionMachine.provide({ actors: STUBS }), () => {});
const stubbed = managerMachine.provide({ actors: { connection } });
