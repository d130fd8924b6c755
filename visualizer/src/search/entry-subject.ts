/** An entry as the search sees it. A line is parsed only if its label does not decide. */
import { isJsonObject, type JsonObject } from '../../../src/json/json-object.js';
import type { LogEntry } from '../../../src/event-log/format/entry.js';
import { stateText } from '../../../src/event-log/replay/divergence.js';
import { publicState } from '../../../machines/connection/public-state.js';
import type { EntryLine } from '../log/desk-messages.js';
import { laneTitle } from '../log/lane-names.js';
import type { LogBook } from '../log/log-book.js';
import { stateWords } from '../log/state-words.js';
import { clockTime } from '../state/times.js';
import type { EntryField } from './entry-fields.js';
import type { Subject } from './query.js';
import { rowTextOf } from './row-text.js';

/** Where a row shows a time. */
const TIME = /^\d\d?:\d\d/u;

/** The part of a row that needs no parsing. */
interface Head {
  /** In lower case, with the raw kind and type. */
  readonly shown: string;
  /** The event as it is shown, and its raw type. */
  readonly events: readonly string[];
}

/** What the search cannot know from the book. */
export interface RowSource {
  /** The row of an entry in the list. */
  readonly lineOf: (position: number, entry: LogEntry) => EntryLine | undefined;
  /** Numbers of all attempts of the call to which an entry belongs. */
  readonly callsAt: (position: number) => readonly number[];
}

/** One subject for all entries of a book, moved from one to the next. */
export class EntrySubject implements Subject {
  #position = -1;
  #line: EntryLine | undefined;
  #entry: LogEntry | undefined;
  /** By label and lane. */
  readonly #heads = new Map<number, Head>();

  constructor(
    private readonly book: LogBook,
    private readonly rows: RowSource,
  ) {}

  at(position: number): this {
    this.#position = position;
    this.#line = undefined;
    this.#entry = undefined;
    return this;
  }

  shows(word: string): boolean {
    if (this.#head.shown.includes(word)) return true;
    if (TIME.test(word) && clockTime(this.book.timeOf(this.#position)).startsWith(word)) return true;
    const entry = this.#parsed;
    if (entry === undefined) return false;
    this.#line ??= this.rows.lineOf(this.#position, entry);
    if (this.#line === undefined) return false;
    const { kind, lane, event, words } = rowTextOf(this.#line);
    return `${kind} ${lane} ${event} ${words}`.toLowerCase().includes(word);
  }

  valuesOf(field: string): readonly string[] {
    return this.#values[field as EntryField]();
  }

  readonly #values: Readonly<Record<EntryField, () => readonly string[]>> = {
    connection: () => this.#lane.map(laneTitle),
    kind: () => {
      const { category = '', kind = '' } = this.book.labelOf(this.#position) ?? {};
      return [category, kind];
    },
    event: () => this.#head.events,
    entry: () => [String(this.#parsed?.seq ?? '')],
    json: () => [this.book.text(this.#position)],
    code: () => textsOf([this.#body['code'], ...this.#failures.map(({ code }) => code)]),
    state: () => this.#states,
    tool: () => textsOf([this.#body['tool'], this.#params?.['name']]),
    call: () => textsOf(this.rows.callsAt(this.#position)),
    session: () => textsOf([this.#body['generation']]),
    method: () => textsOf([this.#body['method']]),
    outcome: () => textsOf([this.#body['outcome']]),
  };

  get #lane(): readonly string[] {
    const lane = this.book.lanes[this.book.laneOf(this.#position)];
    return lane === undefined ? [] : [lane.name];
  }

  get #head(): Head {
    const [label, lane] = [this.book.labelNumber(this.#position), this.book.laneOf(this.#position)];
    const key = label * 0x10_0000 + lane + 1;
    const known = this.#heads.get(key);
    if (known !== undefined) return known;
    const seen = this.book.label(label);
    const name = this.book.lanes[lane]?.name;
    const { kind = '', type = '', category = 'other' } = seen ?? {};
    const text = rowTextOf({ position: 0, kind, type, category, lane: name, words: '' });
    const shown = [text.kind, text.lane, text.event, kind, type].join('\n').toLowerCase();
    const head = { shown, events: [type, text.event] };
    this.#heads.set(key, head);
    return head;
  }

  get #parsed(): LogEntry | undefined {
    return (this.#entry ??= this.book.entry(this.#position));
  }

  /** The note or the event. */
  get #body(): JsonObject {
    const entry = this.#parsed;
    if (entry === undefined || entry.kind === 'snapshot') return {};
    return entry.kind === 'note' ? entry.note : entry.event;
  }

  get #params(): JsonObject | undefined {
    const { body } = this.#body;
    const params = isJsonObject(body) ? body['params'] : undefined;
    return isJsonObject(params) ? params : undefined;
  }

  get #failures(): readonly JsonObject[] {
    const entry = this.#parsed;
    const { error, failure } = this.#body;
    const ofState = entry?.kind === 'snapshot' ? entry.context['failure'] : undefined;
    return [error, failure, ofState].filter(isJsonObject);
  }

  get #states(): readonly string[] {
    const entry = this.#parsed;
    if (entry === undefined) return [];
    if (entry.kind === 'note') return textsOf([entry.note['state']]);
    const [lane = ''] = this.#lane;
    const moved = 'moved' in entry ? Object.values(entry.moved ?? {}) : [];
    return [stateText(entry.state), stateWords(lane, publicState(entry.state)), ...moved.map(stateText)];
  }
}

function textsOf(values: readonly unknown[]): readonly string[] {
  return values.flatMap((value) =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : [],
  );
}
