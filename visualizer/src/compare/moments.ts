/** Compares two moments of one log, machine by machine. Pure. */
import { stateText } from '../../../src/event-log/replay/divergence.js';
import type { FoldedState } from '../../../src/event-log/replay/folded-actor.js';
import type { Lane } from '../log/lane.js';
import { laneAt } from '../log/lane-names.js';
import type { LogBook } from '../log/log-book.js';
import { addressOf } from '../log/rows.js';
import { differences } from '../state/difference.js';
import type { ComparedEntry, LaneComparison, MomentsView, Point } from './messages.js';

/** Entries that are listed for each machine. */
const MOST = 25;

type Machines = ReadonlyMap<string, FoldedState>;

export function compareMoments(book: LogBook, from: number, to: number): MomentsView {
  const [first, last] = [Math.min(from, to), Math.max(from, to)];
  const before = book.foldedStates(from);
  const after = book.foldedStates(to);
  const received = entriesBetween(book, first, last);
  const lanes = book.lanes.flatMap((lane, number) => {
    const positions = received.get(number) ?? [];
    const compared = compareLane(lane.name, before, after, positions.length);
    if (compared === undefined) return [];
    const entries = positions.slice(0, MOST).map((position) => entryAt(book, lane, position));
    return [{ lane: { ...compared, entries }, first: positions[0] ?? Infinity }];
  });
  return {
    from: pointAt(book, from),
    to: pointAt(book, to),
    lanes: lanes.toSorted((a, b) => a.first - b.first).map(({ lane }) => lane),
    equal: book.lanes.length - lanes.length,
  };
}

/** Undefined if nothing differs. */
function compareLane(
  name: string,
  before: Machines,
  after: Machines,
  count: number,
): Omit<LaneComparison, 'entries'> | undefined {
  const [was, is] = [machineOf(name, before), machineOf(name, after)];
  const states = [was?.folded.state ?? null, is?.folded.state ?? null] as const;
  const changes =
    was === undefined || is === undefined ? [] : differences(was.folded.context, is.folded.context);
  const isOther = was?.address !== is?.address;
  if (stateText(states[0]) === stateText(states[1]) && changes.length === 0 && count === 0 && !isOther)
    return undefined;
  return { name, states, changes, count };
}

function machineOf(name: string, machines: Machines): { address: string; folded: FoldedState } | undefined {
  const address = addressOf(name, machines);
  const folded = address === undefined ? undefined : machines.get(address);
  return address === undefined || folded === undefined ? undefined : { address, folded };
}

/** Positions by the number of the lane: what it received, and where another machine made it change its state. */
function entriesBetween(book: LogBook, first: number, last: number): ReadonlyMap<number, readonly number[]> {
  const found = new Map<number, Set<number>>();
  const add = (lane: number, position: number): void => {
    const known = found.get(lane);
    if (known === undefined) found.set(lane, new Set([position]));
    else known.add(position);
  };
  for (let position = first + 1; position <= last; position += 1) {
    const label = book.labelOf(position);
    const isNews = label?.kind !== 'snapshot' && label?.category !== 'wire';
    if (isNews && book.laneOf(position) >= 0) add(book.laneOf(position), position);
  }
  for (const [number, lane] of book.lanes.entries())
    for (let change = lane.changeAt(first) + 1; change <= lane.changeAt(last); change += 1)
      add(number, lane.changes.at(change));
  return new Map([...found].map(([lane, positions]) => [lane, [...positions].sort((a, b) => a - b)]));
}

function entryAt(book: LogBook, lane: Lane, position: number): ComparedEntry {
  const entry = book.entry(position);
  const own =
    entry === undefined || entry.kind === 'snapshot' || entry.kind === 'note'
      ? undefined
      : [entry, ...(entry.derived ?? [])].find(({ to }) => laneAt(to) === lane.name)?.event.type;
  const state = book.values[lane.values.at(lane.changeAt(position))];
  return {
    ...pointAt(book, position),
    type: own ?? book.labelOf(position)?.type ?? '',
    state: state ?? null,
  };
}

function pointAt(book: LogBook, position: number): Point {
  return { position, seq: book.seqOf(position), at: book.timeOf(position) };
}
