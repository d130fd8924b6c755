/** How a user names a moment of an event log. */
import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { toMoment } from '../../../../src/cli/arguments/moment.js';

const STARTED = Date.parse('2026-01-31T23:50:30.250Z');

function timeOf(text: string, startedAt = STARTED): string {
  const moment = toMoment(text);
  if (!('time' in moment)) throw new Error(`${text} is an entry number.`);
  return new Date(moment.time(startedAt)).toISOString();
}

describe('a moment of a log', () => {
  it('is an entry, given by its number.', () => {
    expect(toMoment('0')).toEqual({ entry: 0 });
    expect(toMoment('120')).toEqual({ entry: 120 });
    expect(toMoment('#1200')).toEqual({ entry: 1200 });
  });

  it.each([
    ['+0', '2026-01-31T23:50:30.250Z'],
    ['+1.5s', '2026-01-31T23:50:31.750Z'],
    ['+0.001s', '2026-01-31T23:50:30.251Z'],
    ['+90', '2026-01-31T23:52:00.250Z'],
  ])('counts from the start of the log: %s.', (text, time) => {
    expect(timeOf(text)).toBe(time);
  });

  it.each([
    ['23:55Z', '2026-01-31T23:55:00.000Z'],
    ['23:50Z', '2026-01-31T23:50:00.000Z'],
    ['23:50:31.5z', '2026-01-31T23:50:31.500Z'],
    ['9:05:07Z', '2026-02-01T09:05:07.000Z'],
    ['00:00Z', '2026-02-01T00:00:00.000Z'],
  ])('is the first occurrence of that time in the log: %s.', (text, time) => {
    expect(timeOf(text)).toBe(time);
  });

  it('is in local time unless it names a time zone.', () => {
    const begin = new Date(2026, 0, 31, 14, 2, 0).getTime();
    expect(timeOf('14:02:31', begin)).toBe(new Date(2026, 0, 31, 14, 2, 31).toISOString());
    expect(timeOf('3:00', begin)).toBe(new Date(2026, 1, 1, 3, 0, 0).toISOString());
  });

  it.each(['entry 1234', 'foo 2026', '31.1.2026', 'may be 1234'])(
    'is refused if it is ambiguous: %s.',
    (text) => {
      expect(() => toMoment(text)).toThrow(InvalidArgumentError);
    },
  );

  it('is a date and a time.', () => {
    expect(timeOf('Sat Jan 31 2026 12:00:00 GMT')).toBe('2026-01-31T12:00:00.000Z');
    expect(timeOf('31 January 2026 12:00 UTC')).toBe('2026-01-31T12:00:00.000Z');

    expect(timeOf('2026-01-31T12:00:00Z')).toBe('2026-01-31T12:00:00.000Z');
  });
});
