/** The ticks of a time axis: at whole steps of the local clock. */

const HOUR = 3_600e3;

/** Moments in a range, milliseconds since the epoch, `step` apart. */
export function* ticksOf(from: number, to: number, step: number): Generator<number> {
  const ahead = offsetAt(from);
  for (let even = Math.ceil((from - ahead) / step) * step + ahead; ; even += step) {
    // At a change to or from daylight saving, an hour is still an hour, but a day is not 24.
    const at = step > HOUR ? even - ahead + offsetAt(even) : even;
    if (at > to) return;
    yield at;
  }
}

function offsetAt(at: number): number {
  return new Date(at).getTimezoneOffset() * 60_000;
}
