/**
 * Plays a log without actors: every machine is moved on by its own part of the log, one pure transition after the
 * other. It can begin at any snapshot, so any moment of a log is reached from the one before. Runs in a browser.
 *
 * P1. What the machines told each other is taken from the log, not made anew: a machine that went another way does not
 *     lead the others astray.
 * P2. Nothing of a log makes it throw: what makes no sense is a misfit.
 */
import type { ConnectionContext } from '../../machines/connection.events.js';
import { connectionMachine } from '../../machines/connection.machine.js';
import { managerMachine } from '../../machines/manager.machine.js';
import { isStale } from '../actors/door.js';
import { connectionName, isMachineAddress, MANAGER } from './address.js';
import type { CauseEntry, Delivery, LogEntry, SnapshotEntry } from './entry.js';
import { FoldedActor, foldedChart, nothing, type Standing } from './folded-actor.js';
import { fromLogged } from './logged-event.js';

/** What a log says and the fold cannot follow. */
export interface Misfit {
  readonly entry: LogEntry;
  /** Address of the actor. */
  readonly actor: string;
  readonly why: string;
}

/** The fold has the children of the manager; what it spawns by itself is nobody. */
const manager = foldedChart(managerMachine.provide({ actors: { connection: nothing as never } }));

const connection = foldedChart(connectionMachine, (context, event) =>
  isStale(context as unknown as ConnectionContext, event),
);

export class Fold {
  readonly #actors = new Map<string, FoldedActor>();
  /** The latest incarnation of every connection, by name, as the manager looks for them. */
  readonly #children: Record<string, FoldedActor> = Object.create(null) as Record<string, FoldedActor>;
  readonly #misfit: (misfit: Misfit) => void;

  /** `misfit` hears of what cannot be followed. */
  constructor(misfit: (misfit: Misfit) => void = () => {}) {
    this.#misfit = misfit;
  }

  /** Addresses of every machine that there is or was, in the order in which they came. */
  get actors(): Iterable<string> {
    return this.#actors.keys();
  }

  /** Where that machine stands; undefined for one that the log has not told of. */
  standing(address: string): Standing | undefined {
    return this.#actors.get(address)?.standing;
  }

  /** Moves on by one entry. */
  take(entry: LogEntry): void {
    if (entry.kind === 'snapshot') this.#resume(entry);
    else if (entry.kind !== 'note') this.#deliverAll(entry);
  }

  #deliverAll(entry: CauseEntry): void {
    this.#deliver(entry, entry);
    for (const delivery of entry.derived ?? []) this.#deliver(entry, delivery);
  }

  #deliver(entry: CauseEntry, { to, event }: Delivery): void {
    const known = this.#actors.get(to);
    if (event.type === 'xstate.init') {
      if (known === undefined) this.#begin(entry, to, event['input']);
      return;
    }
    if (known === undefined) {
      this.#misfit({ entry, actor: to, why: 'is told something and does not exist' });
      return;
    }
    known.send(fromLogged(event));
  }

  #begin(entry: LogEntry, address: string, input: unknown): void {
    const name = connectionName(address);
    if (name === undefined || !isMachineAddress(address)) {
      this.#misfit({ entry, actor: address, why: 'begins and is no connection' });
      return;
    }
    this.#keep(address, name, FoldedActor.begin(connection, name, input));
  }

  #resume(entry: SnapshotEntry): void {
    const { to, status, state, context } = entry;
    const standing = { status, state, context };
    try {
      const name = connectionName(to);
      if (to === MANAGER)
        this.#actors.set(
          to,
          FoldedActor.resume(manager, standing, () => this.#children),
        );
      else if (name !== undefined && isMachineAddress(to))
        this.#keep(to, name, FoldedActor.resume(connection, standing));
    } catch {
      this.#misfit({ entry, actor: to, why: 'is in a state that its chart does not have' });
    }
  }

  #keep(address: string, name: string, actor: FoldedActor): void {
    this.#actors.set(address, actor);
    this.#children[name] = actor;
  }
}
