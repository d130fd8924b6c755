/** Every key that the page listens to, as its help lists them. A test compares the list with the handlers. */

export interface KeyGroup {
  /** Where they work. */
  readonly place: string;
  readonly keys: readonly (readonly [keys: readonly string[], effect: string])[];
}

const LEFT = 'ArrowLeft';
const RIGHT = 'ArrowRight';
const UP = 'ArrowUp';
const DOWN = 'ArrowDown';

export const KEYS: readonly KeyGroup[] = [
  {
    place: 'Everywhere',
    keys: [
      [
        ['1', '2', '3', '4', '5', '6', '7', '8', '9'],
        'Show Fleet, Chart, Timeline, Events, Sequence, Calls, Compare, Simulate, Details',
      ],
      [['/'], 'Search'],
      [[','], 'One entry back'],
      [['.'], 'One entry forward'],
      [['l'], 'Back to live, or to the end'],
      [['n'], 'Words or raw names'],
      [['Escape'], 'Close the open entry or call'],
      [['?'], 'These keys'],
    ],
  },
  {
    place: 'Events',
    keys: [[['t'], 'Copy the open entry as a test']],
  },
  {
    place: 'Compare',
    keys: [
      [['a'], 'The shown moment becomes A'],
      [['b'], 'The shown moment becomes B'],
    ],
  },
  {
    place: 'Simulate',
    keys: [
      [['u'], 'Undo the last'],
      [['r'], 'Back to the start'],
    ],
  },
  { place: 'Views', keys: [[[LEFT, RIGHT], 'Previous or next view']] },
  {
    place: 'Lists',
    keys: [
      [[UP, DOWN], 'Previous or next item'],
      [['PageUp', 'PageDown'], 'One screen up or down'],
      [['Home', 'End'], 'First or last item'],
      [['Enter', ' '], 'Open the item'],
    ],
  },
  {
    place: 'Chart',
    keys: [
      [[LEFT, RIGHT, UP, DOWN], 'Move the picture'],
      [['+', '=', '-'], 'Zoom in or out'],
      [['0'], 'The whole chart'],
      [['f'], 'Follow the active state'],
    ],
  },
  {
    place: 'Timeline',
    keys: [
      [[LEFT, RIGHT], 'Move in time; with Shift, further'],
      [[UP, DOWN], 'Previous or next lane'],
      [['+', '-'], 'Zoom in or out'],
      [['0'], 'All of the time'],
    ],
  },
  {
    place: 'Slider',
    keys: [
      [[LEFT, DOWN], 'Back by 1 %'],
      [[RIGHT, UP], 'Forward by 1 %'],
      [['PageDown', 'PageUp'], 'Back or forward by 10 %'],
    ],
  },
];

const SIGNS: Readonly<Record<string, string>> = {
  [LEFT]: '←',
  [RIGHT]: '→',
  [UP]: '↑',
  [DOWN]: '↓',
  PageUp: 'Page Up',
  PageDown: 'Page Down',
  ' ': 'Space',
};

/** A key as it is printed on a keyboard. */
export function keySign(key: string): string {
  return SIGNS[key] ?? key;
}
