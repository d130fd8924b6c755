/** A moment of an event log, as a person names it. */
import { InvalidArgumentError } from 'commander';

/** The number of an entry, or a time in milliseconds since the epoch that may depend on when the log begins. */
export type Moment = { readonly entry: number } | { readonly time: (startedAt: number) => number };

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const AFTER_START = /^\+(\d{1,9}(?:\.\d{1,3})?)s?$/;
const TIME_OF_DAY = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,3}))?)?(Z?)$/i;

/**
 * A whole number is that of an entry; `+1.5s` counts from the beginning of the log, as a timeline does; `14:02:31` is
 * the first such time of the log, here, or with a Z in UTC; anything else is a time with its date, as `Date` reads it.
 */
export function toMoment(text: string): Moment {
  if (/^\d{1,15}$/.test(text)) return { entry: Number(text) };
  const [, seconds] = AFTER_START.exec(text) ?? [];
  if (seconds !== undefined) return { time: (startedAt) => startedAt + Number(seconds) * 1_000 };
  const ofDay = TIME_OF_DAY.exec(text);
  if (ofDay !== null) return { time: (startedAt) => firstAfter(startedAt, ofDay) };
  const time = Date.parse(text);
  if (/\d{4}/.test(text) && Number.isFinite(time)) return { time: () => time };
  throw new InvalidArgumentError(
    'Expected the number of an entry, seconds from the beginning such as +1.5s, a time such as 14:02:31, or one with its date such as 2026-01-31T12:00:00Z.',
  );
}

/** A minute that has begun counts: whoever names no seconds means the whole of it. */
function firstAfter(startedAt: number, [, hours, minutes, seconds, fraction, zone]: RegExpExecArray): number {
  const date = new Date(startedAt);
  const [hour = 0, minute = 0, second = 0, millisecond = 0] = [
    hours,
    minutes,
    seconds ?? 0,
    (fraction ?? '').padEnd(3, '0'),
  ].map(Number);
  const time =
    zone === ''
      ? date.setHours(hour, minute, second, millisecond)
      : date.setUTCHours(hour, minute, second, millisecond);
  return time < startedAt - MINUTE_MS ? time + DAY_MS : time;
}
