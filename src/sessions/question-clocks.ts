/**
 * The questions of a server to a person or a model of the host: which clocks stand still until the answer, and which code
 * runs to give it. A call that is made to answer a question must not stand still, since the question waits for the call.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** A clock that can stand still. `pause` and `resume` alternate. */
export interface PausableClock {
  pause(): void;
  resume(): void;
}

export class QuestionClocks {
  #questions = 0;
  /** Undefined until the first clock is held, since most sessions are idle for most of the time. */
  #clocks: Set<PausableClock> | undefined;

  /** A question is open. */
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

  /** Stops the clock during questions, until the returned function is called. */
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

/** The server whose question the current asynchronous context answers. */
const asker = new AsyncLocalStorage<string>();

/** Runs code that answers a question of that server, with everything that the code waits for. */
export function answering<T>(server: string, answer: () => T): T {
  return asker.run(server, answer);
}

export function isAnswering(server: string): boolean {
  return asker.getStore() === server;
}
