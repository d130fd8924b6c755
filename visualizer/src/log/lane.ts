/** One actor through the whole of a log: its states over time, and its marks. */
import { Numbers } from './numbers.js';

export class Lane {
  /** Positions at which the state changed, and the numbers of the new states. */
  readonly changes = new Numbers();
  readonly values = new Numbers();
  /** Positions of marks, and the numbers of their labels. */
  readonly marks = new Numbers();
  readonly markLabels = new Numbers();
  #last = -1;

  /** `name` as in `lane-names.ts`. */
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

  /** Index of the last change up to that position; -1 before the first. */
  changeAt(position: number): number {
    return this.changes.countUpTo(position) - 1;
  }
}
