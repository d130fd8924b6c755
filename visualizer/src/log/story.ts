/**
 * What happened to one connection, up to any moment: its public states, how often it came back, and its failures.
 *
 * T1. The index grows with the log: each change and each mark is looked at once.
 * T2. A failure counts as the loss of a session if the connection was ready before and is not any more, and as an attempt
 *     if it was not ready. Any other failure, such as a list that could not be read, changed nothing.
 */
import type { ConnectionState } from '../../../machines/connection/connection.states.js';
import { publicState } from '../../../machines/connection/public-state.js';
import type { Failure } from '../../../machines/policy/failure.js';
import { failureOf } from '../../../src/event-log/format/by-shape.js';
import type { Lane } from './lane.js';
import type { LogBook } from './log-book.js';
import { Numbers } from './numbers.js';

/** A failure of a connection. */
export interface Trouble {
  readonly position: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: 'loss' | 'attempt' | 'other';
  readonly failure: Failure;
}

/** A public state and when it began. */
export interface Stay {
  readonly state: ConnectionState;
  /** Of the change that led there. */
  readonly position: number;
  readonly at: number;
  /** False if only a snapshot shows it, so that it began earlier, at an unknown time. */
  readonly isExact: boolean;
}

export class Story {
  readonly #book: LogBook;
  readonly #lane: Lane;
  /** Indices of the lane's changes to another public state. */
  readonly #stays = new Numbers();
  /** How often it was ready, up to each of them. */
  readonly #ready = new Numbers();
  /** Positions. */
  readonly #failures = new Numbers();
  #changesSeen = 0;
  #marksSeen = 0;
  #latest: Trouble | undefined;

  constructor(book: LogBook, lane: Lane) {
    this.#book = book;
    this.#lane = lane;
  }

  /** How often it became ready again. */
  restarts(position: number): number {
    const index = this.#lastStay(position);
    return index < 0 ? 0 : Math.max(0, this.#ready.at(index) - 1);
  }

  /** The last public states, the newest first. */
  stays(position: number, most: number): readonly Stay[] {
    const last = this.#lastStay(position);
    return Array.from({ length: Math.min(most, last + 1) }, (_, back) => this.#stay(last - back));
  }

  /** The last failures, the newest first. */
  troubles(position: number, most: number): readonly Trouble[] {
    this.#grow();
    const found: Trouble[] = [];
    for (let index = this.#failures.countUpTo(position) - 1; index >= 0 && found.length < most; index -= 1) {
      const trouble = this.#trouble(this.#failures.at(index));
      if (trouble !== undefined) found.push(trouble);
    }
    return found;
  }

  #lastStay(position: number): number {
    this.#grow();
    const change = this.#lane.changeAt(position);
    return this.#stays.countUpTo(change) - 1;
  }

  #stay(index: number): Stay {
    const change = this.#stays.at(index);
    const position = this.#lane.changes.at(change);
    return {
      state: this.#stateAt(change),
      position,
      at: this.#book.timeOf(position),
      isExact: this.#book.labelOf(position)?.kind !== 'snapshot',
    };
  }

  #stateAt(change: number): ConnectionState {
    return publicState(this.#book.values[this.#lane.values.at(change)] ?? '').state;
  }

  #grow(): void {
    const { changes, marks, markLabels } = this.#lane;
    for (; this.#changesSeen < changes.length; this.#changesSeen += 1) {
      const change = this.#changesSeen;
      const state = this.#stateAt(change);
      if (change > 0 && state === this.#stateAt(change - 1)) continue;
      const before = this.#ready.length === 0 ? 0 : this.#ready.at(this.#ready.length - 1);
      this.#stays.add(change);
      this.#ready.add(before + (state === 'ready' ? 1 : 0));
    }
    for (; this.#marksSeen < marks.length; this.#marksSeen += 1) {
      const { category } = this.#book.label(markLabels.at(this.#marksSeen)) ?? {};
      if (category === 'failure') this.#failures.add(marks.at(this.#marksSeen));
    }
  }

  #trouble(position: number): Trouble | undefined {
    if (this.#latest?.position === position) return this.#latest;
    const entry = this.#book.entry(position);
    if (entry === undefined || entry.kind === 'note' || entry.kind === 'snapshot') return undefined;
    const { failure: lost, error } = entry.event;
    const failure = failureOf(lost ?? error);
    if (failure === undefined) return undefined;
    const trouble = { position, at: this.#book.timeOf(position), kind: this.#kindAt(position), failure };
    const newest = this.#failures.at(this.#failures.length - 1);
    if (position === newest) this.#latest = trouble;
    return trouble;
  }

  #kindAt(position: number): Trouble['kind'] {
    const after = this.#lane.changeAt(position);
    const before = this.#lane.changeAt(position - 1);
    if (before < 0 || this.#stateAt(before) !== 'ready') return 'attempt';
    return this.#stateAt(after) === 'ready' ? 'other' : 'loss';
  }
}
