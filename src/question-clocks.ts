/** The clocks that stand still while a server has a person or a model of the host asked. */

/** What can stand still. Neither is more than once in a row. */
export interface PausableClock {
  pause(): void;
  resume(): void;
}

export class QuestionClocks {
  #questions = 0;
  /** Undefined until the first is there, as most sessions are idle for most of the time. */
  #clocks: Set<PausableClock> | undefined;

  /** Somebody is asked. */
  get areStill(): boolean {
    return this.#questions > 0;
  }

  begin(): void {
    this.#questions += 1;
    if (this.#questions === 1) for (const clock of this.#clocks ?? []) clock.pause();
  }

  end(): void {
    this.#questions -= 1;
    if (this.#questions === 0) for (const clock of this.#clocks ?? []) clock.resume();
  }

  /** Until the returned function is called. */
  hold(clock: PausableClock): () => void {
    this.#clocks ??= new Set();
    this.#clocks.add(clock);
    if (this.areStill) clock.pause();
    return () => {
      this.#clocks?.delete(clock);
      clock.resume();
    };
  }
}
