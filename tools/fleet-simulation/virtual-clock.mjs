/** A clock for very many timers, which only `advance` moves. Due timers fire in order, and all timers of one moment together. */

/** Turns of the event loop in which the consequences of a moment happen. */
const TURNS = 3;

export class VirtualClock {
  /** The timers of each moment. */
  #moments = new Map();
  /** A binary heap of moments, the earliest first. */
  #heap = [];
  #now;

  constructor(start = 1_700_000_000_000) {
    this.#now = start;
  }

  now() {
    return this.#now;
  }

  setTimeout(fn, ms) {
    const at = this.#now + Math.max(0, Math.ceil(ms));
    let timers = this.#moments.get(at);
    if (timers === undefined) {
      this.#moments.set(at, (timers = new Set()));
      this.#push(at);
    }
    const timer = { fn, timers };
    timers.add(timer);
    return timer;
  }

  clearTimeout(timer) {
    timer?.timers.delete(timer);
  }

  async advance(ms) {
    const end = this.#now + ms;
    await turns(TURNS);
    while (this.#heap.length > 0 && this.#heap[0] <= end) {
      const at = this.#pop();
      this.#now = at;
      const timers = this.#moments.get(at);
      this.#moments.delete(at);
      for (const timer of timers) {
        timers.delete(timer);
        timer.fn();
      }
      if (timers !== undefined) await turns(TURNS);
    }
    this.#now = end;
  }

  #push(at) {
    const heap = this.#heap;
    let child = heap.push(at) - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (heap[parent] <= at) break;
      heap[child] = heap[parent];
      child = parent;
    }
    heap[child] = at;
  }

  #pop() {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (heap.length === 0) return first;
    let parent = 0;
    for (;;) {
      let child = 2 * parent + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1] < heap[child]) child += 1;
      if (last <= heap[child]) break;
      heap[parent] = heap[child];
      parent = child;
    }
    heap[parent] = last;
    return first;
  }
}

export async function turns(count) {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
