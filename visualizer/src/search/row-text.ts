/** What the row of an entry shows. The list and the search use it alike, so a search finds what can be read. */
import type { EntryLine } from '../log/desk-messages.js';
import { laneTitle } from '../log/lane-names.js';

export interface RowText {
  readonly kind: string;
  readonly lane: string;
  readonly event: string;
  readonly words: string;
}

export function rowTextOf({ category, kind, lane, type, words }: Omit<EntryLine, 'seq' | 'at'>): RowText {
  return {
    kind: category === 'other' ? kind : category,
    lane: lane === undefined ? '' : laneTitle(lane),
    event: type === '' ? 'snapshot' : type,
    words,
  };
}
