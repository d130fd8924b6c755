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
import type { LogBook } from '../log/log-book.js';

export interface Attempt {
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
  /** Milliseconds, as recorded. */
  durationMs: number | undefined;
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
const TOOL_CALL = /,"direction":"(sent|received)","method":"tools\/call","id":("(?:[^"\\]|\\.)*"|\d+)/u;
const SESSION = /,"generation":(\d+)/u;

/** Attempts of one session that wait for a message. */
interface Open {
  readonly unsent: Attempt[];
  readonly byId: Map<string, Attempt>;
}

export class CallIndex {
  /** In the order in which they began. */
  readonly calls: Call[] = [];
  /** By number of the attempt. */
  readonly #byNumber = new Map<number, { readonly call: Call; readonly attempt: Attempt }>();
  readonly #byPosition = new Map<number, Call>();
  readonly #open = new Map<string, Open>();
  #next = 0;

  constructor(private readonly book: LogBook) {}

  /** The call with an attempt of that number. */
  callOf(number: number): Call | undefined {
    return this.#byNumber.get(number)?.call;
  }

  /** The call to which an entry belongs. */
  callAt(position: number): Call | undefined {
    return this.#byPosition.get(position);
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
    if (type === 'wire') this.#message(position, server);
    else if (type === 'call.started' || type === 'call.finished') this.#note(position, server, type);
  }

  #note(position: number, server: string, type: string): void {
    const entry = this.book.entry(position);
    if (entry?.kind !== 'note') return;
    const { call: number, tool, generation, repeats, outcome, durationMs } = entry.note;
    if (!Number.isSafeInteger(number) || typeof tool !== 'string') return;
    const known = this.#byNumber.get(number as number);
    const isStart = type === 'call.started';
    if (isStart && known !== undefined) return;
    const { call, attempt } =
      known ??
      this.#add(position, isStart, {
        ...{ server, tool, number: number as number },
        ...{ generation: wholeOf(generation), repeats: wholeOf(repeats) },
      });
    this.#byPosition.set(position, call);
    if (isStart || attempt.finished !== -1) return;
    attempt.finished = position;
    attempt.outcome = typeof outcome === 'string' ? outcome : '?';
    attempt.durationMs = numberOf(durationMs, undefined);
    const { unsent } = this.#openOf(server, attempt.generation);
    const index = unsent.indexOf(attempt);
    if (index !== -1) unsent.splice(index, 1);
  }

  #add(
    position: number,
    isStart: boolean,
    fields: { server: string; tool: string; number: number; generation: number; repeats: number },
  ): { readonly call: Call; readonly attempt: Attempt } {
    const { server, tool, number, generation, repeats } = fields;
    const attempt: Attempt = {
      ...{ number, generation, started: isStart ? position : -1 },
      ...{ sent: -1, received: -1, finished: -1, outcome: '', durationMs: undefined },
    };
    let call = this.#byNumber.get(repeats)?.call;
    if (call === undefined) {
      call = { number, server, tool, lane: this.book.laneOf(position), attempts: [] };
      this.calls.push(call);
    }
    call.attempts.push(attempt);
    if (isStart) this.#openOf(server, generation).unsent.push(attempt);
    const added = { call, attempt };
    this.#byNumber.set(number, added);
    return added;
  }

  #message(position: number, server: string): void {
    const text = this.book.text(position);
    const found = TOOL_CALL.exec(text);
    if (found === null) return;
    const [, direction, id = ''] = found;
    const generation = Number(SESSION.exec(text)?.[1] ?? 0);
    const { unsent, byId } = this.#openOf(server, generation);
    const attempt = direction === 'sent' ? unsent.shift() : byId.get(id);
    if (attempt === undefined) return;
    if (direction === 'sent') {
      attempt.sent = position;
      byId.set(id, attempt);
    } else {
      attempt.received = position;
      byId.delete(id);
    }
    const call = this.callOf(attempt.number);
    if (call !== undefined) this.#byPosition.set(position, call);
  }

  #openOf(server: string, generation: number): Open {
    const key = `${generation} ${server}`;
    let open = this.#open.get(key);
    if (open === undefined) {
      open = { unsent: [], byId: new Map() };
      this.#open.set(key, open);
    }
    return open;
  }
}
