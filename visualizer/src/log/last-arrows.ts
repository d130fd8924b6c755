/** The last messages up to a moment, of as many lanes as there is room for. */
import type { LogEntry } from '../../../src/event-log/format/entry.js';
import { arrowsOf, type Arrow } from './arrows.js';
import type { ArrowQuery, ArrowView } from './desk-messages.js';
import { laneAt, MANAGER_LANE } from './lane-names.js';
import type { LogBook } from './log-book.js';

export function lastArrows(book: LogBook, { names, mostLanes, upTo, most, hasWire }: ArrowQuery): ArrowView {
  const wanted = names === undefined ? undefined : new Set(names);
  const rooms = new Rooms(mostLanes);
  /** What the manager sends belongs to the manager as well. */
  const isReceiver = (lane: string): boolean =>
    lane === MANAGER_LANE ||
    (((wanted?.has(lane) ?? true) || wanted?.has(MANAGER_LANE) === true) && rooms.take(lane));
  const isWanted = (position: number): boolean => {
    const lane = book.lanes[book.laneOf(position)]?.name;
    if (!hasWire && book.labelOf(position)?.category === 'wire') return false;
    if (lane === undefined) return wanted === undefined;
    return wanted?.has(lane) !== false && (lane === MANAGER_LANE || rooms.take(lane));
  };
  const found: { readonly position: number; readonly entry: LogEntry }[] = [];
  let count = 0;
  for (let position = Math.min(upTo, book.length - 1); position >= 0 && count < most; position -= 1) {
    const read = isWanted(position) ? book.entry(position) : undefined;
    if (read === undefined) continue;
    const isShown = (address: string): boolean => isReceiver(laneAt(book.addressIn(position, address)));
    const entry = within({ ...read, at: book.timeOf(position) }, isShown);
    found.push({ position, entry });
    count += arrowsOf(position, entry).length;
  }
  const arrows: Arrow[] = found
    .reverse()
    .flatMap(({ position, entry }) => arrowsOf(position, entry, rooms.taken > 1, book.runOf(position)));
  return { arrows, leftOut: rooms.refused };
}

/** Without the messages to lanes that are not shown. */
function within(entry: LogEntry, isShown: (address: string) => boolean): LogEntry {
  if (!('derived' in entry) || entry.derived === undefined) return entry;
  return { ...entry, derived: entry.derived.filter(({ to }) => isShown(to)) };
}

/** The lanes that are shown, first come first served. */
class Rooms {
  readonly #taken = new Set<string>();
  readonly #refused = new Set<string>();

  constructor(private readonly most: number) {}

  get taken(): number {
    return this.#taken.size;
  }

  get refused(): number {
    return this.#refused.size;
  }

  take(lane: string): boolean {
    if (!this.#taken.has(lane)) (this.#taken.size < this.most ? this.#taken : this.#refused).add(lane);
    return this.#taken.has(lane);
  }
}
