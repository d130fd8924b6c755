/** Where a line of the time is drawn: at whole steps of the clock of whoever reads. */

const HOUR = 3_600e3;

/** Moments from one to another, milliseconds since the epoch, each `step` after the one before. */
export function* ticksOf(from: number, to: number, step: number): Generator<number> {
  const ahead = offsetAt(from);
  for (let even = Math.ceil((from - ahead) / step) * step + ahead; ; even += step) {
    // Where the clocks were changed, an hour is still an hour, but a day is not 24.
    const at = step > HOUR ? even - ahead + offsetAt(even) : even;
    if (at > to) return;
    yield at;
  }
}

function offsetAt(at: number): number {
  return new Date(at).getTimezoneOffset() * 60_000;
}
