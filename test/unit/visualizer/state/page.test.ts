/** Small functions of the page: rows, differences, durations, addresses. */
import { describe, expect, it } from 'vitest';
import type { InspectedStatus } from '../../../../src/inspector/page-protocol.js';
import type { Row } from '../../../../visualizer/src/log/rows.js';
import { differences } from '../../../../visualizer/src/state/difference.js';
import { chosenRows, fleetRows } from '../../../../visualizer/src/state/fleet.js';
import type { FleetOrder } from '../../../../visualizer/src/state/page.js';
import { takeAccess } from '../../../../visualizer/src/state/runtime.js';
import { count, duration, Times } from '../../../../visualizer/src/state/times.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const row = (name: string, more: Partial<Row> = {}): Row => ({
  name,
  address: `$/${name}#1`,
  state: 'ready',
  substate: '',
  tags: [],
  transport: 'stdio',
  tools: 1,
  attempt: 1,
  maxAttempts: 5,
  nextAttemptAt: null,
  error: null,
  restarts: 0,
  lastFailure: null,
  ...more,
});

const status = (name: string, more: Partial<InspectedStatus> = {}): InspectedStatus =>
  ({
    ...row(name),
    server: name,
    toolCount: 3,
    url: null,
    pid: 7,
    authUrl: null,
    allowed: ['connection.stop'],
    ...more,
  }) as InspectedStatus;

describe('the fleet of the page', () => {
  it('takes the state from the log and the rest from the troupe while it runs.', () => {
    const rows = fleetRows(
      [row('files', { state: 'reconnecting' }), row('gone')],
      new Map([
        ['files', status('files')],
        ['off', status('off', { state: 'stopped' })],
      ]),
    );
    expect(rows).toMatchObject([
      { name: 'files', state: 'reconnecting', tools: 3, pid: 7, allowed: ['connection.stop'] },
      { name: 'off', state: 'stopped' },
    ]);
  });

  it('shows only the log, and offers no commands, in the past.', () => {
    expect(fleetRows([row('files')], undefined)).toMatchObject([{ name: 'files', tools: 1, allowed: null }]);
  });

  it('can be searched by what the rows show and by fields, filtered by state, and sorted.', () => {
    const rows = fleetRows(
      [
        row('files'),
        row('web', { state: 'failed', error: { code: 'http-status', message: 'It answers 500.' } }),
      ],
      undefined,
    );
    const names = (text: string, states: readonly string[] = [], order: FleetOrder = 'added'): string[] =>
      chosenRows(rows, { text, states, order }).map(({ name }) => name);
    expect(names('FIL')).toEqual(['files']);
    expect(names('answers 500')).toEqual(['web']);
    expect(names('', ['ready'])).toEqual(['files']);
    expect(names('web', ['ready'])).toEqual([]);
    expect(names('code:http-* -connection:files')).toEqual(['web']);
    expect(names('state:ready transport:stdio')).toEqual(['files']);
    expect(names('', [], 'trouble')).toEqual(['web', 'files']);
    expect(names('', [], 'name')).toEqual(['files', 'web']);
  });
});

describe('the differences of two snapshots', () => {
  it('are listed by field, including new and removed ones.', () => {
    const found = differences({ a: 1, b: { c: [1], d: 2 }, e: 5 }, { a: 1, b: { c: [1, 2], d: 2 }, f: null });
    expect(found).toEqual([
      { path: 'b.c', before: [1], after: [1, 2] },
      { path: 'e', before: 5, after: undefined },
      { path: 'f', before: undefined, after: null },
    ]);
    expect(differences({ a: [{ b: 1 }] }, { a: [{ b: 1 }] })).toEqual([]);
  });
});

describe('times and numbers', () => {
  it('have a short form.', () => {
    expect([0, 999, 4_230, 59_400, 200_000, 7_500_000, 273_600_000].map(duration)).toEqual([
      '0 ms',
      '999 ms',
      '4.2 s',
      '59 s',
      '3 min 20 s',
      '2 h 5 min',
      '3 d 4 h',
    ]);
    expect(count(1_234_567)).toBe('1,234,567');
  });
});

describe('the times of entries', () => {
  const at = (day: number, hour: number, year = 2026): number =>
    new Date(year, 10, day, hour, 3, 7, 120).getTime();

  it('have no date if it is the same for all.', () => {
    const times = new Times(at(27, 9), at(27, 18));
    expect(times.hasDays).toBe(false);
    expect(times.at(at(27, 14))).toBe('14:03:07.120');
    expect(times.second(at(27, 14))).toBe('14:03:07');
  });

  it('have a date if there are several, or if theirs is different from the others.', () => {
    const times = new Times(at(27, 23), at(28, 1));
    expect(times.hasDays).toBe(true);
    expect(times.at(at(27, 23))).toBe('Nov 27 23:03:07.120');
    expect(times.second(at(28, 0))).toBe('Nov 28 00:03:07');
    expect(new Times(at(28, 1), at(28, 9)).at(at(25, 8))).toBe('Nov 25 08:03:07.120');
    expect(new Times(at(28, 1), at(28, 9)).at(at(28, 1, 2025))).toBe('Nov 28, 2025 01:03:07.120');
  });

  it('are a dash if they are unknown.', () => {
    expect([new Times(NaN, NaN).at(NaN), new Times(0, 0).second(NaN)]).toEqual(['–', '–']);
  });
});

describe('the token of the page', () => {
  function windowAt(address: string, storage = new Map<string, string>()) {
    const url = new URL(address);
    return {
      location: url,
      history: {
        replaceState: (_: unknown, __: string, to: string) => void (url.href = to),
      },
      sessionStorage: {
        getItem: (key: string) => storage.get(key) ?? null,
        setItem: (key: string, value: string) => void storage.set(key, value),
      },
    };
  }

  it('is its fragment, and the rest of the address is the server.', () => {
    expect(takeAccess(windowAt('http://127.0.0.1:5000/index.html#abc'))).toEqual({
      address: 'http://127.0.0.1:5000/',
      token: 'abc',
    });
    expect(takeAccess(windowAt('http://127.0.0.1:5000/'))).toBeUndefined();
    expect(takeAccess(windowAt('file:///tmp/troupe.html#abc'))).toBeUndefined();
  });

  it('leaves the address, and is there after the page was loaded again, until another one comes.', () => {
    const storage = new Map<string, string>();
    const first = windowAt('http://127.0.0.1:5000/#abc', storage);
    expect(takeAccess(first)).toMatchObject({ token: 'abc' });
    expect(first.location.href).toBe('http://127.0.0.1:5000/');
    expect(takeAccess(windowAt(first.location.href, storage))).toMatchObject({ token: 'abc' });
    expect(takeAccess(windowAt('http://127.0.0.1:5000/#def', storage))).toMatchObject({ token: 'def' });
    expect(takeAccess(windowAt('http://127.0.0.1:5000/', storage))).toMatchObject({ token: 'def' });
  });

  it('may come before what the page shows, which stays in the address.', () => {
    const storage = new Map<string, string>();
    const first = windowAt('http://127.0.0.1:5000/#abc&view=events&search=a', storage);
    expect(takeAccess(first)).toMatchObject({ token: 'abc' });
    expect(first.location.href).toBe('http://127.0.0.1:5000/#view=events&search=a');
    expect(takeAccess(windowAt(first.location.href, storage))).toMatchObject({ token: 'abc' });
    expect(storage.size).toBe(1);
    expect(takeAccess(windowAt('http://127.0.0.1:5000/#view=events'))).toBeUndefined();
  });

  it('stays in the address if the browser stores nothing.', () => {
    const window = windowAt('http://127.0.0.1:5000/#abc');
    Object.assign(window, {
      sessionStorage: {
        getItem: () => {
          throw new Error('SecurityError');
        },
        setItem: () => {
          throw new Error('SecurityError');
        },
      },
    });
    expect(takeAccess(window)).toMatchObject({ token: 'abc' });
    expect(window.location.hash).toBe('#abc');
  });
});
