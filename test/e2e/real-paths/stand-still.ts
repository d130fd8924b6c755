/** A host that stands still, as while its machine sleeps: whatever was due meanwhile is due at once. */

const MARGIN_MS = 100;

export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms + MARGIN_MS);
}
