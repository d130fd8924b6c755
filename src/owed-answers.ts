/**
 * Which calls a server still owes an answer, while it is silent: as long as it does, it may be busy with that.
 *
 * O1. A call is owed until it ends. When its time was over, and nothing was heard since it was sent, it is overdue.
 * O2. From then until something is heard, what is sent is owed nothing: else a host that goes on calling would wait for
 *     a dead server for ever, one limit after the other. What was sent before keeps its own limit.
 *
 * `heardAt` is the time of the last sign of life, in milliseconds since the epoch. It changes with each, and that is all
 * that counts: the clock may be set back.
 */
export interface OwedCall {
  readonly heardAt: number;
  /** Which of the server's silences it was sent in, when another call was overdue; 0 where none was. */
  readonly silence: number;
}

export class OwedAnswers {
  #calls = 0;
  /** Calls of the present silence that are owed nothing. */
  #late = 0;
  #silences = 0;
  /** `heardAt` of the present silence; undefined where no call is overdue. */
  #silentAt: number | undefined;

  /** Calls that have not ended. */
  get calls(): number {
    return this.#calls;
  }

  isOwed(heardAt: number): boolean {
    return this.#calls > (this.#isOverdue(heardAt) ? this.#late : 0);
  }

  begin(heardAt: number): OwedCall {
    const isLate = this.#isOverdue(heardAt);
    this.#calls += 1;
    if (isLate) this.#late += 1;
    return { heardAt, silence: isLate ? this.#silences : 0 };
  }

  /** Whether the server is overdue with that call. `isTooLate`: it ended because its time was over. */
  end(call: OwedCall, heardAt: number, isTooLate: boolean): boolean {
    this.#calls -= 1;
    if (call.silence !== 0 && call.silence === this.#silences) this.#late -= 1;
    if (!isTooLate || call.heardAt !== heardAt) return false;
    if (!this.#isOverdue(heardAt)) {
      this.#silentAt = heardAt;
      this.#silences += 1;
      this.#late = 0;
    }
    return true;
  }

  #isOverdue(heardAt: number): boolean {
    return this.#silentAt === heardAt;
  }
}
