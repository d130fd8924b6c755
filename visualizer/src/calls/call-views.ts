/** What the page shows of calls: a list in some order, and one call as a span with its steps and its payload. */
import { isJsonObject, type JsonObject } from '../../../src/json/json-object.js';
import { laneTitle } from '../log/lane-names.js';
import type { LogBook } from '../log/log-book.js';
import { fitting, parseQuery, type Subject } from '../search/query.js';
import type { Attempt, Call, CallIndex } from './call-index.js';

export const CALL_ORDERS = ['slowest', 'latest', 'first'] as const;
export type CallOrder = (typeof CALL_ORDERS)[number];
export const CALL_GROUPS = ['all', 'failed', 'repeated', 'open'] as const;
export type CallGroup = (typeof CALL_GROUPS)[number];

export interface CallQuery {
  /** The lane; undefined for all. */
  readonly lane: string | undefined;
  readonly group: CallGroup;
  readonly order: CallOrder;
  /** As in `search/query.ts`. */
  readonly text: string;
  /** Maximum number of rows. */
  readonly most: number;
}

export interface CallRow {
  readonly number: number;
  readonly lane: string;
  readonly tool: string;
  /** Position of its first entry. */
  readonly position: number;
  /** Milliseconds since the epoch. */
  readonly from: number;
  /** The end of the log if it has none. */
  readonly to: number;
  readonly ms: number;
  /** Empty while it has none. */
  readonly outcome: string;
  readonly attempts: number;
}

export interface CallList {
  readonly rows: readonly CallRow[];
  /** How many there are in each group, among those that the search finds. */
  readonly counts: Readonly<Record<CallGroup, number>>;
}

export interface CallStep {
  readonly position: number;
  readonly at: number;
  readonly kind: 'started' | 'sent' | 'received' | 'finished' | 'failure';
  /** Number of the attempt; undefined for what happened to the connection meanwhile. */
  readonly attempt: number | undefined;
  readonly outcome: string;
}

/** What was sent or received. Null if it was too long to be recorded, undefined if no content was recorded. */
export interface Payload {
  readonly request: unknown;
  readonly answer: unknown;
}

export interface CallView extends CallRow {
  /** In order. */
  readonly steps: readonly CallStep[];
  /** Of the last attempt that was sent. */
  readonly payload: Payload;
}

export const CALL_FIELDS = ['connection', 'tool', 'outcome', 'call', 'session'] as const;
/** Maximum number of failures of the connection among the steps. */
const MOST_FAILURES = 50;

const NO_PARTS: ReadonlySet<string> = new Set();

export function callListOf(book: LogBook, index: CallIndex, query: CallQuery): CallList {
  const { order, group, most } = query;
  const isFound = finder(book, query);
  const counts = { all: 0, failed: 0, repeated: 0, open: 0 };
  const found: Call[] = [];
  for (const call of index.calls) {
    if (!isFound(call)) continue;
    for (const each of CALL_GROUPS) if (isIn(each, call)) counts[each] += 1;
    if (isIn(group, call)) found.push(call);
  }
  const rows = shown(book, found, order, most).map((call) => rowOf(book, call));
  return { rows, counts };
}

function shown(book: LogBook, calls: readonly Call[], order: CallOrder, most: number): readonly Call[] {
  if (order === 'first') return calls.slice(0, most);
  if (order === 'latest') return calls.slice(-most).reverse();
  const took = Float64Array.from(calls, (call) => spanOf(book, call).ms);
  const sorted = Uint32Array.from(calls.keys()).sort((a, b) => (took[b] ?? 0) - (took[a] ?? 0) || a - b);
  return [...sorted.subarray(0, most)].flatMap((place) => calls[place] ?? []);
}

export function isFailed({ outcome }: Pick<CallRow, 'outcome'>): boolean {
  return outcome !== '' && outcome !== 'answered';
}

function isIn(group: CallGroup, { attempts }: Call): boolean {
  const outcome = attempts.at(-1)?.outcome ?? '';
  if (group === 'failed') return isFailed({ outcome });
  if (group === 'repeated') return attempts.length > 1;
  return group === 'all' || outcome === '';
}

function finder(book: LogBook, { lane, text }: CallQuery): (call: Call) => boolean {
  const number = lane === undefined ? undefined : book.lanes.findIndex(({ name }) => name === lane);
  const query = parseQuery(text, CALL_FIELDS);
  const fits = fitting(query, CALL_FIELDS, NO_PARTS);
  return (call) =>
    (number === undefined || call.lane === number) &&
    (query.terms.length === 0 || fits(subjectOf(book, call)));
}

function subjectOf(book: LogBook, { lane, tool, attempts }: Call): Subject {
  const title = laneTitle(book.lanes[lane]?.name ?? '');
  const outcomes = attempts.map(({ outcome }) => outcome);
  const values: Readonly<Record<string, readonly string[]>> = {
    connection: [title],
    tool: [tool],
    outcome: outcomes,
    call: attempts.map(({ number }) => String(number)),
    session: attempts.map(({ generation }) => String(generation)),
  };
  const shown = [title, tool, ...outcomes].join(' ').toLowerCase();
  return { shows: (word) => shown.includes(word), valuesOf: (field) => values[field] ?? [] };
}

/** The end of the log stands for the end of a call that has none. */
function spanOf(book: LogBook, { attempts }: Call): Pick<CallRow, 'from' | 'to' | 'ms'> {
  const [first, last] = [attempts[0], attempts.at(-1)];
  const isOver = last !== undefined && last.finished !== -1;
  const to = book.timeOf(isOver ? last.finished : book.length - 1);
  const recorded = first?.durationMs ?? NaN;
  const isBegun = first !== undefined && first.started !== -1;
  const from = isBegun ? book.timeOf(first.started) : to - (recorded || 0);
  // The times of a log are whole milliseconds, but a recorded duration need not be.
  return { from, to, ms: attempts.length === 1 && recorded >= 0 ? recorded : to - from };
}

function rowOf(book: LogBook, call: Call): CallRow {
  const { number, lane, tool, attempts } = call;
  const [first, last] = [attempts[0], attempts.at(-1)];
  return {
    ...spanOf(book, call),
    ...{ number, tool },
    position: first === undefined ? -1 : firstOf(first),
    lane: book.lanes[lane]?.name ?? '',
    outcome: last?.outcome ?? '',
    attempts: attempts.length,
  };
}

function firstOf({ started, finished }: Attempt): number {
  return started === -1 ? finished : started;
}

export function callViewOf(book: LogBook, call: Call): CallView {
  const row = rowOf(book, call);
  const ofAttempts = call.attempts.flatMap((attempt) => stepsOf(book, attempt));
  const steps = [...ofAttempts, ...failuresOf(book, call, row.position)];
  const { sent, received } = call.attempts.findLast((attempt) => attempt.sent !== -1) ?? {};
  const request = bodyOf(book, sent);
  const answer = bodyOf(book, received);
  return {
    ...row,
    steps: steps.toSorted((a, b) => a.position - b.position),
    payload: {
      request:
        isJsonObject(request) && isJsonObject(request['params']) ? request['params']['arguments'] : request,
      answer: isJsonObject(answer) ? (answer['result'] ?? answer['error']) : answer,
    },
  };
}

function stepsOf(book: LogBook, attempt: Attempt): CallStep[] {
  return (['started', 'sent', 'received', 'finished'] as const).flatMap((kind) => {
    const position = attempt[kind];
    if (position === -1) return [];
    const outcome = kind === 'finished' ? attempt.outcome : '';
    return { position, at: book.timeOf(position), kind, attempt: attempt.number, outcome };
  });
}

/** Losses and other failures of the connection during the call. A loss is recorded just after the call that it ends. */
function failuresOf(book: LogBook, { lane: number, attempts }: Call, position: number): CallStep[] {
  const lane = book.lanes[number];
  if (lane === undefined) return [];
  const steps: CallStep[] = [];
  const finished = attempts.at(-1)?.finished ?? -1;
  const end = finished === -1 ? book.length : book.positionAt(book.timeOf(finished)) + 1;
  for (let index = lane.marks.countUpTo(position); index < lane.marks.length; index += 1) {
    const at = lane.marks.at(index);
    if (at >= end || steps.length === MOST_FAILURES) break;
    if (book.label(lane.markLabels.at(index))?.category !== 'failure') continue;
    steps.push({ position: at, at: book.timeOf(at), kind: 'failure', attempt: undefined, outcome: '' });
  }
  return steps;
}

function bodyOf(book: LogBook, position: number | undefined): unknown {
  if (position === undefined || position === -1) return undefined;
  const entry = book.entry(position);
  const note: JsonObject = entry?.kind === 'note' ? entry.note : {};
  return note['body'];
}
