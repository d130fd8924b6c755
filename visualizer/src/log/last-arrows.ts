/** The last messages up to a moment, of as many lanes as there is room for. */
import type { LogEntry } from '../../../src/event-log/format/entry.js';
import { arrowsOf } from './arrows.js';
import type { ArrowQuery, ArrowView } from './desk-messages.js';
import { MANAGER_LANE } from './lane-names.js';
import type { LogBook } from './log-book.js';

export function lastArrows(book: LogBook, { names, mostLanes, upTo, most, hasWire }: ArrowQuery): ArrowView {
  const wanted = names === undefined ? undefined : new Set(names);
  const seen = new Set<string>();
  const leftOut = new Set<string>();
  const isWanted = (position: number): boolean => {
    const name = book.lanes[book.laneOf(position)]?.name;
    if (!hasWire && book.labelOf(position)?.category === 'wire') return false;
    if (name === undefined || wanted?.has(name) === false) return false;
    if (name === MANAGER_LANE || seen.has(name)) return true;
    (seen.size < mostLanes ? seen : leftOut).add(name);
    return seen.has(name);
  };
  const found: { readonly position: number; readonly entry: LogEntry }[] = [];
  let count = 0;
  for (let position = Math.min(upTo, book.length - 1); position >= 0 && count < most; position -= 1) {
    const read = isWanted(position) ? book.entry(position) : undefined;
    if (read === undefined) continue;
    const entry = { ...read, at: book.timeOf(position) };
    found.push({ position, entry });
    count += arrowsOf(position, entry).length;
  }
  const isFolded = seen.size > 1;
  const arrows = found.reverse().flatMap(({ position, entry }) => arrowsOf(position, entry, isFolded));
  return { arrows, leftOut: leftOut.size };
}
