/** Blocks the host, as if its machine slept: timers that became due meanwhile all run afterwards. */

const MARGIN_MS = 100;

export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms + MARGIN_MS);
}
