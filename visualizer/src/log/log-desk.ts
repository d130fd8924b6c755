/**
 * Answers the page's questions about a log. One log is open at a time; opening another one drops it.
 *
 * Longer than 300 lines because every question of the page is answered here.
 *
 * Owns no bytes and no index (`log-book.ts`) and no place to run (`worker/`). Needs neither a page nor Node.
 */
import { isJsonObject } from '../../../src/json/json-object.js';
import { phaseOf } from '../../../machines/manager/manager.phase.js';
import { detailsOf } from '../../../src/event-log/format/by-shape.js';
import type { LogEntry } from '../../../src/event-log/format/entry.js';
import type { FoldedState } from '../../../src/event-log/replay/folded-actor.js';
import { CallIndex } from '../calls/call-index.js';
import { callListOf, callViewOf } from '../calls/call-views.js';
import { positionOf } from '../link/place.js';
import { laneViewOf } from './bars.js';
import type {
  ActorView,
  BookSummary,
  Charts,
  EntryLine,
  EntryView,
  MomentView,
  Overview,
  Question,
  Questions,
  StretchView,
  WhyView,
} from './desk-messages.js';
import { Search, type EntryQuery, type Found } from './find-entries.js';
import { commandWords, inWords } from './in-words.js';
import { laneAt, laneInWords, splitRun } from './lane-names.js';
import { spaced } from '../words/entry-words.js';
import type { Lane } from './lane.js';
import { lastArrows } from './last-arrows.js';
import { LogBook } from './log-book.js';
import { addressOf, auxiliaryRowsOf, rowsOf, type PastOfRow } from './rows.js';
import { sharePage } from './share-page.js';
import { Story } from './story.js';
import type { RowSource } from '../search/entry-subject.js';
import { toolAnswers } from './tool-answers.js';
import { Visits } from './visits.js';
import { duration } from '../state/times.js';

/** Maximum size of live data that is kept, bytes. Beyond that, the older half is dropped. */
const MAX_KEPT = 64 * 1_024 * 1_024;
/** Number of public states and of failures that explain the present one. */
const MOST_STAYS = 4;
const MOST_TROUBLES = 100;

type Answers = { readonly [Q in Question]: (ask: Questions[Q]['ask']) => unknown };

export class LogDesk {
  #book = new LogBook();
  #isWhole = false;
  #isGrowing = false;
  #visits = new Map<Lane, Visits>();
  #stories = new Map<Lane, Story>();
  /** The latest search, by its words. */
  #search: { readonly key: string; readonly search: Search } | undefined;
  #calls = new CallIndex(this.#book);
  readonly #answers: Answers = {
    moment: ({ position }) => this.#moment(position),
    actor: ({ name, position }) => this.#actor(name, position),
    why: ({ name, position }) => this.#why(name, position),
    stretches: ({ names, window }): StretchView => ({
      stretches: names
        .flatMap((name) => this.#book.lane(name) ?? [])
        .map((lane) => laneViewOf(this.#book, lane, window)),
      values: this.#book.values,
    }),
    overview: ({ columns }) => this.#overview(columns),
    find: (query) => this.#find(query),
    lines: ({ positions }) => positions.flatMap((position) => this.#line(position) ?? []),
    entry: ({ position }) => this.#entry(position),
    arrows: (query) => lastArrows(this.#book, query),
    positionAt: ({ time }) => this.#book.positionAt(time),
    positionOf: (place) => positionOf(this.#book, place),
    calls: async (query) => callListOf(this.#book, await this.#callsNow(), query),
    call: async ({ number }) => {
      const call = (await this.#callsNow()).callOf(number);
      return call === undefined ? undefined : callViewOf(this.#book, call);
    },
    callAt: async ({ position }) => (await this.#callsNow()).callAt(position)?.number,
    share: ({ template }) => new Blob([...sharePage(template, this.#book.pieces())], { type: 'text/html' }),
    ...toolAnswers(() => ({ book: this.#book, charts: this.charts, turn: this.turn })),
  };

  /** `turn` lets other work run. */
  constructor(
    private readonly charts: Charts,
    private readonly turn: () => Promise<void>,
    private readonly mostKept = MAX_KEPT,
  ) {}

  answer<Q extends Question>(
    question: Q,
    ask: Questions[Q]['ask'],
  ): Questions[Q]['answer'] | Promise<Questions[Q]['answer']> {
    return this.#answers[question](ask) as Questions[Q]['answer'];
  }

  /** Starts with an empty log. */
  clear(): void {
    this.#begin(new LogBook());
  }

  /** Takes live data. */
  append(bytes: Uint8Array<ArrayBuffer>): void {
    this.#book.append(bytes);
    const shorter = this.#book.size > this.mostKept ? this.#book.shortened(this.mostKept / 2) : undefined;
    if (shorter !== undefined) this.#begin(shorter);
  }

  /** No more data comes. */
  end(): void {
    this.#book.end();
    this.#isWhole = true;
    this.#isGrowing = false;
  }

  /**
   * Reads a whole log. Calls `progress` with the number of bytes so far, and `grew` for everything that a file gets while it is
   * followed. It is on the disk as well, so all of it is kept. Rejects if the pieces do.
   */
  async read(
    pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
    progress: (size: number) => void,
    grew: () => void = () => {},
  ): Promise<void> {
    this.clear();
    const book = this.#book;
    for await (const piece of pieces) {
      if (book !== this.#book) return;
      book.append(piece);
      this.#isGrowing = book.isCaughtUp;
      if (book.isCaughtUp) grew();
      else progress(book.size);
    }
    if (book === this.#book) this.end();
  }

  summary(): BookSummary {
    const { header, problem, length, lanes, missed, leftOut, before } = this.#book;
    const { package: by, machines } = header ?? {};
    return {
      length,
      firstAt: this.#book.timeOf(0),
      lastAt: this.#book.timeOf(length - 1),
      names: lanes.slice(1).map(({ name }) => name),
      runs: this.#book.runs,
      missed,
      leftOut,
      before,
      problem: problem === undefined ? null : { code: problem.code, message: problem.message },
      writtenBy: by === undefined ? null : `${by.name} ${by.version}`,
      hasOtherCharts:
        machines !== undefined &&
        Object.entries(machines).some(([name, hash]) => this.charts[name]?.hash !== hash),
      isWhole: this.#isWhole || this.#isGrowing,
      isGrowing: this.#isGrowing && this.#book.labelOf(length - 1)?.type !== 'end',
      report: this.#book.report ?? null,
    };
  }

  #begin(book: LogBook): void {
    this.#book = book;
    this.#isWhole = false;
    this.#isGrowing = false;
    this.#visits = new Map();
    this.#stories = new Map();
    this.#search = undefined;
    this.#calls = new CallIndex(book);
  }

  #moment(position: number): MomentView {
    const foldedStates = this.#book.foldedStates(position);
    const manager = foldedStates.get('$')?.state;
    return {
      position,
      at: this.#book.timeOf(position),
      manager: manager === undefined ? '' : phaseOf(manager),
      rows: rowsOf(foldedStates).map((row) => ({ ...row, ...this.#pastOf(row.name, position) })),
      auxiliaries: auxiliaryRowsOf(foldedStates),
    };
  }

  /** What the row of a connection says about its past. */
  #pastOf(name: string, position: number): PastOfRow {
    const story = this.#storyOf(name);
    const [last] = story?.troubles(position, 1) ?? [];
    return {
      restarts: story?.restarts(position) ?? 0,
      lastFailure:
        last === undefined
          ? null
          : { at: last.at, position: last.position, code: last.failure.code, message: last.failure.message },
    };
  }

  #why(name: string, position: number): WhyView | undefined {
    const story = this.#storyOf(name);
    return (
      story && {
        name,
        stays: story.stays(position, MOST_STAYS),
        restarts: story.restarts(position),
        troubles: story.troubles(position, MOST_TROUBLES),
      }
    );
  }

  #storyOf(name: string): Story | undefined {
    const lane = this.#book.lane(name);
    if (lane === undefined) return undefined;
    const story = this.#stories.get(lane) ?? new Story(this.#book, lane);
    this.#stories.set(lane, story);
    return story;
  }

  #actor(name: string, position: number): ActorView | undefined {
    const lane = this.#book.lane(name);
    const foldedStates = this.#book.foldedStates(position);
    const address = addressOf(name, foldedStates);
    const folded = address === undefined ? undefined : foldedStates.get(address);
    if (lane === undefined || address === undefined || folded === undefined) return undefined;
    const change = lane.changeAt(position);
    return {
      name,
      address,
      position,
      ...folded,
      details: detailsOf(folded.details),
      since: this.#storyOf(name)?.stays(position, 1)[0]?.at,
      change: this.#change(lane, change, address),
      visits: this.#visitsOf(lane).upTo(change),
    };
  }

  #change(lane: Lane, change: number, address: string): ActorView['change'] {
    if (change < 0) return null;
    const position = lane.changes.at(change);
    const entry = this.#book.entry(position);
    return {
      position,
      at: this.#book.timeOf(position),
      isExact: this.#book.labelOf(position)?.kind !== 'snapshot',
      from: this.#book.values[lane.values.at(change - 1)] ?? null,
      events: entry === undefined ? [] : eventsTo(splitRun(address)[0], entry),
    };
  }

  #visitsOf(lane: Lane): Visits {
    const known = this.#visits.get(lane);
    if (known !== undefined) return known;
    const visits = new Visits(lane, (number) => this.#book.values[number]);
    this.#visits.set(lane, visits);
    return visits;
  }

  #overview(columns: number): Overview {
    const book = this.#book;
    const [first, last] = [book.timeOf(0), book.timeOf(book.length - 1)];
    const column = Math.max(1e-6, (last - first) / columns);
    const counts = Array.from({ length: columns + 1 }, (_, index) => book.positionAt(first + index * column));
    const entries = counts.slice(1).map((count, index) => count - (counts[index] ?? 0));
    const troubles = entries.map(() => 0);
    for (const lane of book.lanes) {
      for (let index = 0; index < lane.marks.length; index += 1) {
        const { category } = book.label(lane.markLabels.at(index)) ?? {};
        if (category !== 'failure' && category !== 'rejection') continue;
        const place = Math.min(columns - 1, Math.floor((book.timeOf(lane.marks.at(index)) - first) / column));
        troubles[place] = (troubles[place] ?? 0) + 1;
      }
    }
    return { entries, troubles };
  }

  async #find(query: EntryQuery): Promise<Found | undefined> {
    const key = JSON.stringify(query);
    if (this.#search?.key !== key) this.#search = { key, search: new Search(this.#book, query, this.#rows) };
    const { search } = this.#search;
    // A call is more than the entries that name it.
    if (query.text?.includes('call:') === true) await this.#callsNow();
    return search.go(this.turn, () => this.#search?.search !== search);
  }

  get #rows(): RowSource {
    const calls = this.#calls;
    return {
      lineOf: (position, entry) => this.#line(position, entry),
      callsAt: (position) => calls.callAt(position)?.attempts.map(({ number }) => number) ?? [],
    };
  }

  #line(position: number, entry = this.#book.entry(position)): EntryLine | undefined {
    const label = this.#book.labelOf(position);
    if (label === undefined || entry === undefined) return undefined;
    const { kind, type, category } = label;
    return {
      position,
      seq: entry.seq,
      at: this.#book.timeOf(position),
      kind,
      type,
      category,
      lane: this.#book.lanes[this.#book.laneOf(position)]?.name,
      words: wordsOf(entry),
    };
  }

  #entry(position: number): EntryView | undefined {
    const entry = this.#book.entry(position);
    const line = this.#line(position, entry);
    if (line === undefined || entry === undefined) return undefined;
    const to = entry.kind === 'note' ? undefined : this.#book.addressIn(position, entry.to);
    const folded = (at: number): FoldedState | undefined =>
      to === undefined || at < 0 ? undefined : this.#book.stateOf(at, to);
    // In this order, because a fold only goes forwards.
    const before = folded(position - 1);
    return { ...line, json: entry, before, after: folded(position) };
  }

  /** The calls up to the end of the log. */
  async #callsNow(): Promise<CallIndex> {
    const calls = this.#calls;
    await calls.go(this.turn, () => calls !== this.#calls);
    return calls;
  }
}

function eventsTo(address: string, entry: LogEntry): string[] {
  if (entry.kind === 'snapshot' || entry.kind === 'note') return [];
  return [entry, ...(entry.derived ?? [])].filter(({ to }) => to === address).map(({ event }) => event.type);
}

function wordsOf(entry: LogEntry): string {
  if (entry.kind === 'snapshot') return `of ${laneInWords(laneAt(entry.to))}`;
  if (entry.kind === 'note') return noteWords(entry.note);
  const failure = failureWords(entry.event['error']) ?? failureWords(entry.event['failure']);
  if (failure !== undefined) return failure;
  const derived = entry.derived?.length ?? 0;
  return derived === 0 ? '' : `and ${derived} more message${derived === 1 ? '' : 's'}`;
}

function failureWords(failure: unknown): string | undefined {
  if (!isJsonObject(failure)) return undefined;
  const { code, message } = failure;
  if (typeof message !== 'string') return undefined;
  return typeof code === 'string' ? `${code}: ${message}` : message;
}

function tookWords(ms: unknown): string {
  return typeof ms === 'number' ? duration(ms) : inWords(ms);
}

function noteWords(note: Readonly<Record<string, unknown>>): string {
  const { type, event, state, tool, outcome, durationMs, direction, method, ms } = note;
  if (type === 'connection.rejected')
    return `${commandWords(event)} is not possible while ${spaced(inWords(state))}`;
  if (type === 'call.started') return inWords(tool);
  if (type === 'call.finished') return `${inWords(tool)}: ${inWords(outcome)} after ${tookWords(durationMs)}`;
  if (type === 'wire')
    return `${inWords(direction)} ${typeof method === 'string' ? method : ''}${typeof ms === 'number' ? ` · ${tookWords(ms)}` : ''}`;
  if (type === 'gap') return `${inWords(note['leftOut'])} entries were left out`;
  if (type === 'gap.notes') return `${inWords(note['leftOut'])} notes were left out`;
  return '';
}
