/** What the row of an entry shows. The list and the search use it alike, so a search finds what can be read. */
import type { EntryLine } from '../log/desk-messages.js';
import { chartOf, laneTitle } from '../log/lane-names.js';
import { kindWords } from '../words/entry-words.js';
import { namesOf } from '../words/names.js';

export interface RowText {
  readonly kind: string;
  readonly lane: string;
  readonly event: string;
  readonly words: string;
}

/** `isRaw`: with the names of the log instead of words. */
export function rowTextOf(
  { category, kind, lane, type, words }: Omit<EntryLine, 'seq' | 'at'>,
  isRaw = false,
): RowText {
  const names = namesOf(kind === 'note' || lane === undefined ? 'note' : chartOf(lane), isRaw);
  return {
    kind: isRaw ? kind : kindWords(category, kind),
    lane: lane === undefined ? '' : laneTitle(lane),
    event: names.event(type) || kind,
    words,
  };
}
