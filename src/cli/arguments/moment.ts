/** A moment of an event log, as a person names it. */
import { InvalidArgumentError } from 'commander';

/** The number of an entry, or a time in milliseconds since the epoch that may depend on the start of the log. */
export type Moment = { readonly entry: number } | { readonly time: (startedAt: number) => number };

const MINUTE_MS = 60_000;
const AFTER_START = /^\+(\d{1,9}(?:\.\d{1,3})?)s?$/;
const ENTRY = /^#?(\d{1,15})$/;
const TIME_OF_DAY = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,3}))?)?(Z?)$/i;
/** `Date` reads nearly anything that ends in a number as a time. */
const DATE =
  /^(?:\d{4}-\d{2}|(?:[a-z]+,? )?(?:\d{1,2} )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* (?:\d{1,2},? )?\d{4}\b)/i;

/**
 * A whole number, with or without the `#` of a timeline, is the number of an entry. `+1.5s` counts from the start of
 * the log, as a timeline does. `14:02:31` is the first such time in the log, in local time or, with a Z, in UTC.
 * Anything else is a time with its date, as `Date` reads it.
 */
export function toMoment(text: string): Moment {
  const [, entry] = ENTRY.exec(text) ?? [];
  if (entry !== undefined) return { entry: Number(entry) };
  const [, seconds] = AFTER_START.exec(text) ?? [];
  if (seconds !== undefined) return { time: (startedAt) => startedAt + Number(seconds) * 1_000 };
  const ofDay = TIME_OF_DAY.exec(text);
  if (ofDay !== null) return { time: (startedAt) => firstAfter(startedAt, ofDay) };
  const time = Date.parse(text);
  if (DATE.test(text) && Number.isFinite(time)) return { time: () => time };
  throw new InvalidArgumentError(
    'Expected the number of an entry, seconds from the beginning such as +1.5s, a time such as 14:02:31, or one with its date such as 2026-01-31T12:00:00Z.',
  );
}

/** A time within the first minute of the log belongs to its first day, even if the log begins later in that minute. */
function firstAfter(startedAt: number, [, hours, minutes, seconds, fraction, zone]: RegExpExecArray): number {
  const begin = new Date(startedAt);
  const [hour, minute, second] = [Number(hours), Number(minutes), Number(seconds ?? 0)];
  const ms = Number((fraction ?? '').padEnd(3, '0'));
  // Do not add the milliseconds of a day: with daylight saving, a local day may be an hour longer or shorter.
  const onDay = (day: number): number =>
    zone === ''
      ? new Date(
          begin.getFullYear(),
          begin.getMonth(),
          begin.getDate() + day,
          hour,
          minute,
          second,
          ms,
        ).getTime()
      : Date.UTC(
          begin.getUTCFullYear(),
          begin.getUTCMonth(),
          begin.getUTCDate() + day,
          hour,
          minute,
          second,
          ms,
        );
  const first = onDay(0);
  return first < startedAt - MINUTE_MS ? onDay(1) : first;
}
