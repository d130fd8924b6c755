/**
 * The calls of a log: each with its attempts, and the messages of each attempt on the wire. Reads only the lines of calls
 * and their messages, in pieces, and continues when the log has grown.
 *
 * C1. A call is its first attempt and all that repeat it.
 * C2. A request on the wire belongs to the oldest attempt of its session that has none yet: messages do not name the
 *     call. An answer belongs to the request with its id.
 * C3. Anybody may have written the log: what does not fit is left out.
 */
import { numberOf, wholeOf } from '../../../src/event-log/format/by-shape.js';
import { textOf } from '../../../src/event-log/format/entry.js';
import type { JsonObject } from '../../../src/json/json-object.js';
import type { LogBook } from '../log/log-book.js';
import { Numbers } from '../log/numbers.js';

export interface Attempt {
  readonly call: Call;
  /** Number of the attempt, as in the log. */
  readonly number: number;
  readonly generation: number;
  /** Position of its beginning; -1 if that is older than the log. */
  readonly started: number;
  /** Positions of its request and its answer on the wire; -1 if they are not in the log. */
  sent: number;
  received: number;
  /** Position of its end; -1 if it has none. */
  finished: number;
  /** Empty while it has no end. */
  outcome: string;
  /** Milliseconds, as recorded; NaN if unknown. */
  durationMs: number;
}

export interface Call {
  /** Number of its first attempt, which identifies it. */
  readonly number: number;
  readonly server: string;
  readonly tool: string;
  /** Number of the lane. */
  readonly lane: number;
  readonly attempts: Attempt[];
}

/** Number of entries between two turns. */
const AT_ONCE = 2_000;
/** The part of a message that comes before its body. In a text, the quotes would be escaped. */
const TOOL_CALL =
  /,"generation":(\d+),"direction":"(sent|received)","method":"tools\/call","id":("(?:[^"\\]|\\.)*"|\d+)/u;

/** Attempts of one session that wait for a message. */
interface Open {
  readonly unsent: Attempt[];
  readonly byId: Map<string, Attempt>;
}

export class CallIndex {
  /** In the order in which they began. */
  readonly calls: Call[] = [];
  readonly #byNumber = new Map<number, Attempt>();
  /** Positions of all entries of calls, and the number of an attempt of each. */
  readonly #positions = new Numbers();
  readonly #numbers = new Numbers();
  readonly #open = new Map<string, Map<number, Open>>();
  #next = 0;

  constructor(private readonly book: LogBook) {}

  /** The call with an attempt of that number. */
  callOf(number: number): Call | undefined {
    return this.#byNumber.get(number)?.call;
  }

  /** The call to which an entry belongs. */
  callAt(position: number): Call | undefined {
    const index = this.#positions.countUpTo(position) - 1;
    return this.#positions.at(index) === position ? this.callOf(this.#numbers.at(index)) : undefined;
  }

  /** Reads the rest of the log. Stops early if `isOver` says so. */
  async go(turn: () => Promise<void>, isOver: () => boolean): Promise<void> {
    for (let read = 1; this.#next < this.book.length; read += 1) {
      const position = this.#next;
      this.#next += 1;
      this.#take(position);
      if (read % AT_ONCE !== 0) continue;
      await turn();
      if (isOver()) return;
    }
  }

  #take(position: number): void {
    const { type, server } = this.book.labelOf(position) ?? {};
    if (server === undefined) return;
    let attempt: Attempt | undefined;
    if (type === 'wire') attempt = this.#message(position, server);
    else if (type === 'call.started' || type === 'call.finished')
      attempt = this.#note(position, server, type);
    if (attempt === undefined) return;
    this.#positions.add(position);
    this.#numbers.add(attempt.number);
  }

  #note(position: number, server: string, type: string): Attempt | undefined {
    const entry = this.book.entry(position);
    if (entry?.kind !== 'note') return undefined;
    const { note } = entry;
    const number = note['call'];
    if (!Number.isSafeInteger(number)) return undefined;
    const known = this.#byNumber.get(number as number);
    if (type === 'call.started')
      return known === undefined ? this.#begin(position, position, server, note) : undefined;
    const attempt = known ?? this.#begin(position, -1, server, note);
    if (attempt === undefined || attempt.finished !== -1) return undefined;
    attempt.finished = position;
    attempt.outcome = textOf(note['outcome']) || '?';
    attempt.durationMs = numberOf(note['durationMs'], NaN);
    const { unsent } = this.#openOf(server, attempt.generation);
    if (attempt.sent === -1 && unsent.includes(attempt)) unsent.splice(unsent.indexOf(attempt), 1);
    return attempt;
  }

  /** `started` is -1 if only its end is in the log. */
  #begin(position: number, started: number, server: string, note: JsonObject): Attempt | undefined {
    const { tool } = note;
    const number = note['call'] as number;
    if (typeof tool !== 'string') return undefined;
    let call = this.#byNumber.get(wholeOf(note['repeats']))?.call;
    if (call === undefined) {
      call = { number, server, tool, lane: this.book.laneOf(position), attempts: [] };
      this.calls.push(call);
    }
    const attempt = {
      call,
      number,
      generation: wholeOf(note['generation']),
      started,
      sent: -1,
      received: -1,
      finished: -1,
      outcome: '',
      durationMs: NaN,
    };
    call.attempts.push(attempt);
    this.#byNumber.set(number, attempt);
    if (started !== -1) this.#openOf(server, attempt.generation).unsent.push(attempt);
    return attempt;
  }

  #message(position: number, server: string): Attempt | undefined {
    const text = this.book.text(position);
    const found = TOOL_CALL.exec(text);
    if (found === null) return undefined;
    const [, generation, direction, id = ''] = found;
    const { unsent, byId } = this.#openOf(server, Number(generation));
    if (direction === 'sent') {
      const attempt = unsent.shift();
      if (attempt === undefined) return undefined;
      attempt.sent = position;
      byId.set(id, attempt);
      return attempt;
    }
    const attempt = byId.get(id);
    if (attempt === undefined) return undefined;
    attempt.received = position;
    byId.delete(id);
    return attempt;
  }

  #openOf(server: string, generation: number): Open {
    let sessions = this.#open.get(server);
    if (sessions === undefined) {
      sessions = new Map();
      this.#open.set(server, sessions);
    }
    let open = sessions.get(generation);
    if (open === undefined) {
      open = { unsent: [], byId: new Map() };
      sessions.set(generation, open);
    }
    return open;
  }
}
