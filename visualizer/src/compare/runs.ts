/**
 * Compares two runs, connection by connection: each by the order of its own entries, not by time. What differs in every run
 * is left out (`normal-form.ts`). Pure.
 */
import { connectionName, isMachineAddress } from '../../../src/actor-system/actor-path.js';
import { wholeOf } from '../../../src/event-log/format/by-shape.js';
import { Digest } from '../../../src/event-log/format/digest.js';
import {
  textOf,
  type LogEntry,
  type NoteEntry,
  type SnapshotEntry,
} from '../../../src/event-log/format/entry.js';
import { stateText } from '../../../src/event-log/replay/divergence.js';
import { Fold } from '../../../src/event-log/replay/fold.js';
import type { FoldedState } from '../../../src/event-log/replay/folded-actor.js';
import type { LogBook } from '../log/log-book.js';
import { differences, type Difference } from '../state/difference.js';
import { aligned } from './alignment.js';
import type { ComparedEntry, ConnectionComparison, RunComparison, RunDifference } from './messages.js';
import { normalForm, type RunTerms } from './normal-form.js';

/** Differences that are listed for each connection. */
const MOST = 40;
/** Entries between two turns of other work. */
const TURN_AFTER = 2_000;
/** Notes that tell what happened; the others are about messages and gaps. */
const NOTES: ReadonlySet<string> = new Set(['call.finished', 'connection.rejected']);

export interface Run {
  readonly book: LogBook;
  /** Only the start with this number of each connection; null for all. */
  readonly start: number | null;
}

/** What happened to one connection at one entry. */
interface Happening extends ComparedEntry {
  readonly address: string;
  /** What corresponds has the same key. */
  readonly key: string;
  /** Of the data of its events, to skip what is equal. */
  readonly digest: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly terms: RunTerms;
}

/** `turn` lets other work run. */
export async function compareRuns(a: Run, b: Run, turn: () => Promise<void>): Promise<RunComparison> {
  const [ours, theirs] = [await happeningsOf(a, turn), await happeningsOf(b, turn)];
  const compared: { readonly connection: ConnectionComparison; readonly first: number }[] = [];
  const equal: string[] = [];
  for (const name of new Set([...ours.keys(), ...theirs.keys()])) {
    const [left, right] = [ours.get(name) ?? [], theirs.get(name) ?? []];
    const found = await differencesOf({ book: a.book, all: left }, { book: b.book, all: right }, turn);
    if (found.length === 0) equal.push(name);
    else
      compared.push({ connection: viewOf(name, left, right, found), first: startOf(found[0], left, right) });
  }
  const ordered = compared.toSorted((one, other) => one.first - other.first);
  return { connections: ordered.map(({ connection }) => connection), equal };
}

/** How often the connection that was started most often was started. */
export function startsIn(book: LogBook): number {
  const starts = [...book.foldedStates(book.length - 1).keys()].map((address) =>
    connectionName(address) === undefined ? 1 : startNumber(address),
  );
  return Math.max(1, ...starts);
}

function startNumber(address: string): number {
  return Number(/#(\d+)/.exec(address)?.[1] ?? 1);
}

async function happeningsOf(
  { book, start }: Run,
  turn: () => Promise<void>,
): Promise<ReadonlyMap<string, readonly Happening[]>> {
  const fold = new Fold();
  const reader = new RunReader(book, fold, start);
  for (let position = 0; position < book.length; position += 1) {
    const entry = book.entry(position);
    if (entry === undefined) continue;
    fold.take(entry);
    reader.take(position, entry);
    if (position % TURN_AFTER === TURN_AFTER - 1) await turn();
  }
  return reader.happenings;
}

class RunReader {
  readonly happenings = new Map<string, Happening[]>();
  /** Address of the latest start of each connection. */
  readonly #latest = new Map<string, string>();
  readonly #terms = new Map<string, RunTerms>();
  readonly #book: LogBook;
  readonly #fold: Fold;
  readonly #start: number | null;

  constructor(book: LogBook, fold: Fold, start: number | null) {
    this.#book = book;
    this.#fold = fold;
    this.#start = start;
  }

  take(position: number, entry: LogEntry): void {
    if (entry.kind === 'note') return this.#note(position, entry);
    if (entry.kind === 'snapshot') return this.#snapshot(position, entry);
    const received = new Map<string, string[]>();
    for (const { to, event } of [entry, ...(entry.derived ?? [])]) {
      if (!isConnection(to)) continue;
      received.set(to, [...(received.get(to) ?? []), event.type]);
    }
    for (const [address, types] of received) this.#add(position, entry, { address, type: types.join(' + ') });
  }

  /** A snapshot is news only if the log begins with it. */
  #snapshot(position: number, entry: SnapshotEntry): void {
    const address = entry.to;
    const name = connectionName(address);
    if (name !== undefined && isConnection(address) && !this.#latest.has(name))
      this.#add(position, entry, { address, type: 'snapshot' });
  }

  #note(position: number, entry: NoteEntry): void {
    const { note } = entry;
    const address = this.#latest.get(textOf(note['server']));
    const type = textOf(note['type']);
    if (address === undefined || !NOTES.has(type)) return;
    const words = [note['event'], note['tool'], note['outcome']].map(textOf).filter((word) => word !== '');
    this.#add(position, entry, { address, type: [type, ...words].join(' ') });
  }

  #add(position: number, entry: LogEntry, { address, type }: { address: string; type: string }): void {
    const name = connectionName(address) ?? '';
    this.#latest.set(name, address);
    const folded = this.#fold.stateOf(address);
    if (folded === undefined || (this.#start !== null && startNumber(address) !== this.#start)) return;
    const { state } = folded;
    const all = this.happenings.get(name) ?? [];
    this.happenings.set(name, all);
    const point = { position, seq: this.#book.seqOf(position), at: this.#book.timeOf(position) };
    const terms = this.#termsOf(address, folded);
    const digest = new Digest().add(JSON.stringify(dataOf(entry, address, terms))).hex;
    const { context } = folded;
    all.push({
      ...point,
      address,
      type,
      state,
      key: `${type} → ${stateText(state)}`,
      digest,
      context,
      terms,
    });
  }

  /** The first context has the generation that the connection began with. */
  #termsOf(address: string, { context }: FoldedState): RunTerms {
    const known = this.#terms.get(address);
    if (known !== undefined) return known;
    const [from, to] = [this.#book.timeOf(0), this.#book.timeOf(this.#book.length - 1)];
    const terms = { from, to, generation: wholeOf(context['generation']) };
    this.#terms.set(address, terms);
    return terms;
  }
}

function isConnection(address: string): boolean {
  return isMachineAddress(address) && connectionName(address) !== undefined;
}

interface Side {
  readonly book: LogBook;
  readonly all: readonly Happening[];
}

/** `turn` lets other work run. */
async function differencesOf(a: Side, b: Side, turn: () => Promise<void>): Promise<readonly RunDifference[]> {
  const found: RunDifference[] = [];
  const contexts = new ContextDifferences();
  let known: ReadonlySet<string> = new Set();
  const keys = ({ all }: Side): readonly string[] => all.map(({ key }) => key);
  for (const [index, [left, right]] of aligned(keys(a), keys(b)).entries()) {
    if (index % TURN_AFTER === TURN_AFTER - 1) await turn();
    const [one, other] = [itemAt(a, left), itemAt(b, right)];
    if (one === null || other === null) {
      found.push({ a: one, b: other, changes: [] });
      continue;
    }
    const data =
      one.digest === other.digest ? [] : differences(dataAt(a.book, one), dataAt(b.book, other), 'event');
    const all = [...data, ...contexts.between(one, other)];
    const texts = all.map((change) => JSON.stringify(change));
    const changes = all.filter((_, at) => !known.has(texts[at] ?? ''));
    if (texts.length > 0 || known.size > 0) known = new Set(texts);
    if (changes.length > 0) found.push({ a: one, b: other, changes });
  }
  return found;
}

function itemAt({ all }: Side, index: number | undefined): Happening | null {
  return index === undefined ? null : (all[index] ?? null);
}

/** Differences of contexts, field by field. From entry to entry, most fields stay the same objects. */
class ContextDifferences {
  readonly #last = new Map<
    string,
    { readonly a: unknown; readonly b: unknown; readonly found: Difference[] }
  >();

  between({ context: a, terms }: Happening, other: Happening): readonly Difference[] {
    const fields = new Set([...Object.keys(a), ...Object.keys(other.context)]);
    return [...fields].flatMap((field) => {
      const [one, two] = [a[field], other.context[field]];
      const last = this.#last.get(field);
      if (last !== undefined && Object.is(last.a, one) && Object.is(last.b, two)) return last.found;
      const [left, right] = [normalForm(one, terms, field), normalForm(two, other.terms, field)];
      const found = differences(left, right, `context.${field}`);
      this.#last.set(field, { a: one, b: two, found });
      return found;
    });
  }
}

/** The data of the events that the connection received with the entry. */
function dataAt(book: LogBook, { position, address, terms }: Happening): unknown {
  const entry = book.entry(position);
  return entry === undefined ? null : dataOf(entry, address, terms);
}

function dataOf(entry: LogEntry, address: string, terms: RunTerms): unknown {
  if (entry.kind === 'snapshot' || entry.kind === 'note') return null;
  const events = [entry, ...(entry.derived ?? [])].filter(({ to }) => to === address);
  return normalForm(Object.fromEntries(events.map(({ event }) => [event.type, event])), terms);
}

function viewOf(
  name: string,
  left: readonly Happening[],
  right: readonly Happening[],
  found: readonly RunDifference[],
): ConnectionComparison {
  const shown = found.slice(0, MOST).map(({ a, b, changes }) => ({
    a: a && entryOf(a),
    b: b && entryOf(b),
    changes,
  }));
  return {
    name,
    counts: [left.length, right.length],
    states: [left.at(-1)?.state ?? null, right.at(-1)?.state ?? null],
    differences: shown,
    count: found.length,
  };
}

function entryOf({ position, seq, at, type, state }: ComparedEntry): ComparedEntry {
  return { position, seq, at, type, state };
}

/** Milliseconds from the first entry of its connection to the first difference, so that runs of other days compare. */
function startOf(
  first: RunDifference | undefined,
  left: readonly Happening[],
  right: readonly Happening[],
): number {
  const since = (entry: ComparedEntry | null | undefined, all: readonly Happening[]): number =>
    entry ? entry.at - (all[0]?.at ?? 0) : Infinity;
  return Math.min(since(first?.a, left), since(first?.b, right));
}
