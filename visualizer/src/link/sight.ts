/**
 * What the page shows, as the fragment of its address: `view=events&connection=files&search=code:process-exited`. Only
 * what differs from the beginning is in it. A fragment that a person has changed is taken as far as it can be understood.
 *
 * S1. The key of a running troupe never is a part of it (`state/runtime.ts`): it has no `=`.
 * S2. The same sight has the same fragment.
 */
import { CALL_GROUPS, CALL_ORDERS } from '../calls/call-views.js';
import { CATEGORIES } from '../log/labels.js';
import { EMPTY, FLEET_ORDERS, VIEWS, type Page } from '../state/page.js';
import { placeText, readPlace, readTime, type Place } from './place.js';

/** The choices of the person. Positions are places, because a position counts from the oldest entry that is kept. */
export interface Sight extends Pick<
  Page,
  'view' | 'selected' | 'chart' | 'filter' | 'fleet' | 'sequence' | 'calls' | 'call' | 'window'
> {
  /** The shown moment; null for the end. */
  readonly moment: Place | null;
  /** The open entry. */
  readonly entry: Place | null;
}

export const FIRST_SIGHT: Sight = { ...pick(EMPTY), moment: null, entry: null };

/** Longest fragment that is read, characters. */
const LONGEST = 8_000;

export function pick(page: Page): Omit<Sight, 'moment' | 'entry'> {
  const { view, selected, chart, filter, fleet, sequence, calls, call, window } = page;
  return { view, selected, chart, filter, fleet, sequence, calls, call, window };
}

/** The fields of a fragment, in their order: how each is written, and how it is read. */
interface Field {
  readonly name: string;
  readonly write: (sight: Sight) => string | null;
  /** Undefined if the text is not one. */
  readonly read: (text: string, sight: Sight) => Partial<Sight> | undefined;
}

const FIELDS: readonly Field[] = [
  {
    name: 'view',
    write: ({ view }) => view,
    read: (text) => when(oneOf(VIEWS, text), (view) => ({ view })),
  },
  { name: 'connection', write: ({ selected }) => selected, read: (selected) => ({ selected }) },
  { name: 'chart', write: ({ chart }) => chart, read: (chart) => ({ chart }) },
  {
    name: 'at',
    write: ({ moment }) => moment && placeText(moment),
    read: (text) => when(readPlace(text), (moment) => ({ moment })),
  },
  {
    name: 'entry',
    write: ({ entry }) => entry && placeText(entry),
    read: (text) => when(readPlace(text), (entry) => ({ entry })),
  },
  {
    name: 'call',
    write: ({ call }) => (call === null ? null : String(call)),
    read: (text) => (/^\d{1,15}$/u.test(text) ? { call: Number(text) } : undefined),
  },
  {
    name: 'search',
    write: ({ filter }) => filter.text,
    read: (text, { filter }) => ({ filter: { ...filter, text } }),
  },
  {
    name: 'kinds',
    write: ({ filter }) => filter.categories.join(','),
    read: (text, { filter }) =>
      when(eachOf(CATEGORIES, text), (categories) => ({ filter: { ...filter, categories } })),
  },
  {
    name: 'only',
    write: ({ filter, sequence, calls }) =>
      [filter.isNarrow && 'events', sequence.isNarrow && 'sequence', calls.isNarrow && 'calls']
        .filter((name) => name !== false)
        .join(',') || 'none',
    read: (text, { filter, sequence, calls }) =>
      when(text === 'none' ? [] : eachOf(['events', 'sequence', 'calls'], text), (names) => ({
        filter: { ...filter, isNarrow: names.includes('events') },
        sequence: { ...sequence, isNarrow: names.includes('sequence') },
        calls: { ...calls, isNarrow: names.includes('calls') },
      })),
  },
  {
    name: 'wire',
    write: ({ sequence }) => (sequence.hasWire ? 'shown' : 'hidden'),
    read: (text, { sequence }) =>
      when(oneOf(['shown', 'hidden'], text), (shown) => ({
        sequence: { ...sequence, hasWire: shown === 'shown' },
      })),
  },
  {
    name: 'fleet',
    write: ({ fleet }) => fleet.text,
    read: (text, { fleet }) => ({ fleet: { ...fleet, text } }),
  },
  {
    name: 'states',
    write: ({ fleet }) => fleet.states.join(','),
    read: (text, { fleet }) => ({
      fleet: { ...fleet, states: text.split(',').filter((name) => name !== '') },
    }),
  },
  {
    name: 'order',
    write: ({ fleet }) => fleet.order,
    read: (text, { fleet }) => when(oneOf(FLEET_ORDERS, text), (order) => ({ fleet: { ...fleet, order } })),
  },
  {
    name: 'calls',
    write: ({ calls }) => calls.text,
    read: (text, { calls }) => ({ calls: { ...calls, text } }),
  },
  {
    name: 'group',
    write: ({ calls }) => calls.group,
    read: (text, { calls }) => when(oneOf(CALL_GROUPS, text), (group) => ({ calls: { ...calls, group } })),
  },
  {
    name: 'calls-order',
    write: ({ calls }) => calls.order,
    read: (text, { calls }) => when(oneOf(CALL_ORDERS, text), (order) => ({ calls: { ...calls, order } })),
  },
  {
    name: 'window',
    write: ({ window }) => window && [window.from, window.to].map((at) => placeText({ at })).join('~'),
    read: (text) => {
      const [from, to, ...more] = text.split('~').map(readTime);
      const isWindow = from !== undefined && to !== undefined && from < to && more.length === 0;
      return isWindow ? { window: { from, to } } : undefined;
    },
  },
];

/** Without `#`; empty for the first sight. */
export function toFragment(sight: Sight): string {
  return FIELDS.flatMap(({ name, write }) => {
    const text = write(sight);
    return text === null || text === '' || text === write(FIRST_SIGHT) ? [] : `${name}=${readable(text)}`;
  }).join('&');
}

export interface ReadSight {
  readonly sight: Sight;
  /** The parts that were not understood, as they were written. */
  readonly ignored: readonly string[];
}

export function readFragment(fragment: string): ReadSight {
  let sight = FIRST_SIGHT;
  const ignored: string[] = [];
  if (fragment.length > LONGEST) return { sight, ignored: [`${fragment.slice(0, 40)}…`] };
  for (const [name, text] of new URLSearchParams(fragment)) {
    const change = FIELDS.find((field) => field.name === name)?.read(text, sight);
    if (change === undefined) ignored.push(`${name}=${text}`);
    else sight = { ...sight, ...change };
  }
  return { sight, ignored };
}

/** Escapes only what would end the text or change it. */
function readable(text: string): string {
  return encodeURIComponent(text)
    .replaceAll(/%(?:3A|2C|2F|24|7E)/gu, decodeURIComponent)
    .replaceAll('%20', '+');
}

function when<T, R>(value: T | undefined, make: (value: T) => R): R | undefined {
  return value === undefined ? undefined : make(value);
}

function oneOf<T extends string>(known: readonly T[], text: string): T | undefined {
  return known.find((name) => name === text);
}

/** Undefined if one of them is not known. */
function eachOf<T extends string>(known: readonly T[], text: string): T[] | undefined {
  const names = text.split(',').map((name) => oneOf(known, name));
  return names.includes(undefined) ? undefined : (names as T[]);
}
