/** One actor through the whole of a log: when it was in which state, and what is worth a mark. */
import { Numbers } from './numbers.js';

export class Lane {
  /** Positions at which the state changed, and the numbers of the states that were come to. */
  readonly changes = new Numbers();
  readonly values = new Numbers();
  /** Positions of what is worth a mark, and the numbers of their labels. */
  readonly marks = new Numbers();
  readonly markLabels = new Numbers();
  #last = -1;

  /** `name` is that of the connection; empty for the manager. */
  constructor(readonly name: string) {}

  note(position: number, value: number): void {
    if (value === this.#last) return;
    this.#last = value;
    this.changes.add(position);
    this.values.add(value);
  }

  mark(position: number, label: number): void {
    this.marks.add(position);
    this.markLabels.add(label);
  }

  /** Index of the change that it stands on at that position; -1 before the first. */
  changeAt(position: number): number {
    return this.changes.countUpTo(position) - 1;
  }
}
