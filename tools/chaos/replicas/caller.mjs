/** Calls one server by one client, one call after the other, until it is stopped. */
import { setTimeout as pause } from 'node:timers/promises';

const WORK_MS = [0, 40];
const PAUSE_MS = [5, 60];

/** Milliseconds of the clock of the beats. */
export const now = () => Number(process.hrtime.bigint()) / 1e6;

export class Caller {
  calls = [];
  #isOver = false;
  #work;

  constructor({ client, name, server, random }) {
    this.#work = this.#run(client, name, server, random);
  }

  /** Number of calls that began after that moment and succeeded. */
  succeededSince(moment) {
    return this.calls.filter((call) => call.startedAt >= moment && call.outcome === 'succeeded').length;
  }

  /** Resolves when its last call has settled. */
  stop() {
    this.#isOver = true;
    return this.#work;
  }

  async #run(client, name, server, random) {
    while (!this.#isOver) {
      await client.ready();
      if (this.#isOver) return;
      const call = {
        id: `${name}-${server}-${this.calls.length + 1}`,
        client: name,
        server,
        startedAt: now(),
      };
      this.calls.push(call);
      const { outcome, about } = await client.call(call.id, server, random.between(...WORK_MS));
      Object.assign(call, { outcome, about, settledAt: now() });
      await pause(random.between(...PAUSE_MS));
    }
  }
}
