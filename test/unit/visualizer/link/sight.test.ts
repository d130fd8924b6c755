/** What the page shows, as a fragment of its address. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placeText, positionOf, readPlace } from '../../../../visualizer/src/link/place.js';
import { FIRST_SIGHT, readFragment, toFragment, type Sight } from '../../../../visualizer/src/link/sight.js';
import { keyIn } from '../../../../visualizer/src/state/runtime.js';
import { FLEET_ORDERS, VIEWS } from '../../../../visualizer/src/state/page.js';
import { CATEGORIES } from '../../../../visualizer/src/log/labels.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { bookOf } from '../../../support/sample-book.js';
import { callLog } from '../../../support/call-log.js';

useLeakCheck();

const anyText = fc.string({ unit: 'binary', maxLength: 30 }).map((text) => text.toWellFormed());
const time = fc.integer({ min: 0, max: 4e12 });
const place = fc.record({ seq: fc.nat(), at: time });
const sights: fc.Arbitrary<Sight> = fc.record({
  view: fc.constantFrom(...VIEWS),
  selected: anyText,
  chart: fc.option(anyText.filter((text) => text !== '')),
  filter: fc.record({
    text: anyText,
    categories: fc.subarray([...CATEGORIES]),
    isNarrow: fc.boolean(),
  }),
  fleet: fc.record({
    text: anyText,
    states: fc.subarray(['ready', 'failed']),
    order: fc.constantFrom(...FLEET_ORDERS),
  }),
  sequence: fc.record({ isNarrow: fc.boolean(), hasWire: fc.boolean() }),
  calls: fc.record({
    text: anyText,
    group: fc.constantFrom('all', 'failed'),
    order: fc.constantFrom('slowest', 'first'),
    isNarrow: fc.boolean(),
  }),
  call: fc.option(fc.nat()),
  window: fc.option(time.map((from) => ({ from, to: from + 100 }))),
  moment: fc.option(place),
  entry: fc.option(place),
});

describe('the fragment of a sight', () => {
  it('is empty at first, and can be read by people.', () => {
    expect(toFragment(FIRST_SIGHT)).toBe('');
    const sight: Sight = {
      ...FIRST_SIGHT,
      view: 'events',
      selected: 'files',
      filter: { text: 'connection:files code:process-exited', categories: ['failure'], isNarrow: false },
      moment: { seq: 71, at: Date.UTC(2026, 4, 12, 8, 30, 0, 720) },
    };
    expect(toFragment(sight)).toBe(
      'view=events&connection=files&at=2026-05-12T08:30:00.720Z~71' +
        '&search=connection:files+code:process-exited&kinds=failure',
    );
  });

  it('gives the same sight again, and is no key.', () => {
    fc.assert(
      fc.property(sights, (sight) => {
        const fragment = toFragment(sight);
        expect(readFragment(fragment)).toEqual({ sight, ignored: [] });
        expect(keyIn(`#${fragment}`)).toBe('');
      }),
    );
  });

  it('is taken as far as it can be understood.', () => {
    const { sight, ignored } = readFragment(
      'view=events&entry=x&at=soon&kinds=call,x&shoe=size&window=1~2&call=-1',
    );
    expect(sight).toEqual({ ...FIRST_SIGHT, view: 'events' });
    expect(ignored).toEqual(['entry=x', 'at=soon', 'kinds=call,x', 'shoe=size', 'window=1~2', 'call=-1']);
    expect(readFragment('x'.repeat(10_000)).sight).toEqual(FIRST_SIGHT);
    expect(readFragment('%E0%A4%A&view=%ff').ignored).toHaveLength(2);
  });
});

describe('a place in a log', () => {
  it('is a number, a time or both.', () => {
    const at = Date.UTC(2026, 4, 12, 8, 30);
    for (const each of [{ seq: 7 }, { at }, { at, seq: 7 }]) expect(readPlace(placeText(each))).toEqual(each);
    for (const text of ['', '~', '~7', '7~8', 'x', '2026-13-01', '2026-05-12~x', '2026-05-12~1~2', '-1'])
      expect(readPlace(text)).toBeUndefined();
  });

  it('is found by its number, and by its time if another entry has the number.', async () => {
    const book = bookOf(await callLog(false));
    const last = book.length - 1;
    const [seq, at] = [book.entry(last)?.seq, book.timeOf(last)];
    expect(positionOf(book, { seq, at })).toBe(last);
    expect(positionOf(book, { seq })).toBe(last);
    expect(positionOf(book, { seq: 1, at })).toBe(last);
    expect(positionOf(book, { seq: 9_999 })).toBe(-1);
    expect(positionOf(book, { at: at + 60_000 })).toBe(-1);
    expect(positionOf(book, { at: 0, seq: 1 })).toBe(-1);
  });
});
