/** What a log tells of each connection: how long it was in which state, how often it was tried, and what went wrong. */
import type { StateValue } from 'xstate';
import { toFailure, type Failure } from '../../machines/policy/failure.js';
import { isObject, textOf, type LogEntry, type NoteEntry } from './entry.js';
import { connectionName } from './address.js';
import { isSame, stateText } from './divergence.js';
import type { Standing } from './folded-actor.js';

/** How many failures, and how many rejections, are kept of a connection. */
const MOST = 20;

/** A command that the state did not accept. */
export interface Rejection {
  readonly entry: number;
  readonly at: number;
  readonly event: string;
  readonly state: string;
}

export interface ConnectionSummary {
  /** The state it came to, substates included. */
  state: string;
  /** Number of its last session. */
  generation: number;
  /** Milliseconds in each top-level state, in the order in which they were first taken. */
  readonly states: Record<string, number>;
  /** How often a transport was opened. */
  attempts: number;
  /** The first failures, in order. */
  readonly failures: Failure[];
  /** How many failures there were of each code. */
  readonly failureCodes: Record<string, number>;
  /** The first commands that the state did not accept, in order. */
  readonly rejected: Rejection[];
}

/** A connection went from one state to another. */
export interface StateChange {
  readonly entry: number;
  readonly at: number;
  readonly connection: string;
  /** Null where it came to be. */
  readonly from: string | null;
  readonly to: string;
}

interface Told {
  readonly summary: ConnectionSummary;
  /** Of the latest connection of that name. */
  address: string;
  top: string;
  state: StateValue | undefined;
  since: number;
  failure: unknown;
}

export class Summary {
  readonly #connections = new Map<string, Told>();

  /** `changed` hears of every change of a state. */
  constructor(private readonly changed: (change: StateChange) => void = () => {}) {}

  /** By name. */
  get connections(): ReadonlyMap<string, ConnectionSummary> {
    return new Map([...this.#connections].map(([name, { summary }]) => [name, summary]));
  }

  /** After the entry was played, which is told as of `at`: where it left the machines that it is about. */
  end(entry: LogEntry, at: number, standingOf: (address: string) => Standing | undefined): void {
    if (entry.kind === 'note') this.#noteRejection(entry, at);
    for (const address of touchedBy(entry)) {
      const name = connectionName(address);
      const standing = standingOf(address);
      if (name !== undefined && standing !== undefined)
        this.#note(entry, at, { address, connection: name }, standing);
    }
  }

  /** The log is over at that time. */
  close(at: number): void {
    for (const told of this.#connections.values()) spend(told, at);
  }

  #noteRejection({ seq, note }: NoteEntry, at: number): void {
    const rejected = this.#connections.get(textOf(note['connection']))?.summary.rejected;
    if (note.type !== 'connection.rejected' || rejected === undefined || rejected.length === MOST) return;
    rejected.push({ entry: seq, at, event: textOf(note['event']), state: textOf(note['state']) });
  }

  #note(
    entry: LogEntry,
    at: number,
    { address, connection }: { readonly address: string; readonly connection: string },
    { state, context }: Standing,
  ): void {
    const told = this.#toldOf(connection, at, state);
    const { summary } = told;
    const isNew = told.address !== address;
    told.address = address;
    const to = state === told.state ? summary.state : stateText(state);
    told.state = state;
    if (to !== summary.state) {
      this.changed({
        entry: entry.seq,
        at,
        connection,
        from: isNew ? null : summary.state,
        to,
      });
      if (to.startsWith('launching.opening')) summary.attempts += 1;
      summary.state = to;
      spend(told, at);
      told.top = topOf(state);
    }
    summary.generation = Number(context['generation'] ?? 0);
    const { failure } = context;
    // A snapshot has a machine go on from what was read: the same once more, as another object.
    const isKnown = failure === told.failure || (entry.kind === 'snapshot' && isSame(failure, told.failure));
    told.failure = failure;
    if (isKnown) return;
    if (isObject(failure)) noteFailure(summary, toFailure(failure), at - entry.at);
  }

  #toldOf(connection: string, at: number, state: StateValue): Told {
    const known = this.#connections.get(connection);
    if (known !== undefined) return known;
    const summary: ConnectionSummary = {
      state: '',
      generation: 0,
      states: emptyRecord(),
      attempts: 0,
      failures: [],
      failureCodes: emptyRecord(),
      rejected: [],
    };
    const told = { summary, address: '', top: topOf(state), state: undefined, since: at, failure: null };
    this.#connections.set(connection, told);
    return told;
  }
}

/** Without a prototype: the names in it are those of a log. */
function emptyRecord(): Record<string, number> {
  return Object.create(null) as Record<string, number>;
}

function touchedBy(entry: LogEntry): Set<string> {
  if (entry.kind === 'note') return new Set();
  const derived = entry.kind === 'snapshot' ? [] : (entry.derived ?? []);
  return new Set([entry.to, ...derived.map(({ to }) => to)]);
}

function spend(told: Told, at: number): void {
  const { states } = told.summary;
  states[told.top] = (states[told.top] ?? 0) + Math.max(0, at - told.since);
  told.since = at;
}

function noteFailure(
  { failures, failureCodes }: ConnectionSummary,
  failure: Failure,
  setBackMs: number,
): void {
  failureCodes[failure.code] = (failureCodes[failure.code] ?? 0) + 1;
  if (failures.length < MOST) failures.push({ ...failure, at: failure.at + setBackMs });
}

function topOf(state: StateValue): string {
  return stateText(state).split('.')[0] ?? '';
}
