/** A summary of each connection in a log: time in each state, number of attempts, failures and rejections. */
import { publicState } from '../../../machines/connection/public-state.js';
import { hasTag } from '../../../machines/connection/connection.states.js';
import type { StateValue } from 'xstate';
import type { Failure } from '../../../machines/policy/failure.js';
import { failureOf, numberOf, wholeOf } from '../format/by-shape.js';
import { textOf, type LogEntry, type NoteEntry } from '../format/entry.js';
import { connectionName } from '../../actor-system/actor-path.js';
import { stateText } from './divergence.js';
import { isSameJson } from '../../json/json-object.js';
import type { FoldedState } from './folded-actor.js';

/** Maximum number of failures, and of rejections, that are kept of a connection. */
const MOST = 20;

/** A command that the state did not accept. */
export interface Rejection {
  /** Number (`seq`) of the entry that holds the command. */
  readonly entry: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Type of the command, for instance `connection.start`. */
  readonly event: string;
  /** The state in which the command came, substates included. */
  readonly state: string;
}

/** What happened to one connection in a log. */
export interface ConnectionSummary {
  /** The last state, substates included. */
  state: string;
  /** Number of the last session, from 1. */
  generation: number;
  /** Milliseconds in each top-level state, in the order in which the states were first entered. */
  readonly states: Record<string, number>;
  /** Number of times that a transport was opened. */
  attempts: number;
  /** The first failures, in order. */
  readonly failures: Failure[];
  /** Number of failures by code. */
  readonly failureCodes: Record<string, number>;
  /** The first commands that the state did not accept, in order. */
  readonly rejected: Rejection[];
}

/** A change of a connection's state. */
export interface StateChange {
  /** Number (`seq`) of the entry that caused the change. */
  readonly entry: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Name of the server. */
  readonly server: string;
  /** The state before, substates included; null for the first state. */
  readonly from: string | null;
  /** The state after, substates included. */
  readonly to: string;
  /** The failure that came with the change; given by `replayLog`, not by a log that is only opened. */
  readonly failure?: Failure;
}

interface ServerRecord {
  readonly summary: ConnectionSummary;
  /** Address of the latest connection with that name. */
  address: string;
  top: string;
  state: StateValue | undefined;
  since: number;
  failure: unknown;
}

export class Summary {
  readonly #connections = new Map<string, ServerRecord>();

  /** Calls `changed` for every change of a state. */
  constructor(private readonly changed: (change: StateChange) => void = () => {}) {}

  /** By name. */
  get connections(): ReadonlyMap<string, ConnectionSummary> {
    return new Map([...this.#connections].map(([name, { summary }]) => [name, summary]));
  }

  /** Called after the entry was applied, with the states of the machines that it affects, as of `at`. */
  end(entry: LogEntry, at: number, foldedOf: (address: string) => FoldedState | undefined): void {
    if (entry.kind === 'note') this.#noteRejection(entry, at);
    for (const address of touchedBy(entry)) {
      const name = connectionName(address);
      const folded = foldedOf(address);
      if (name !== undefined && folded !== undefined)
        this.#note(entry, at, { address, server: name }, folded);
    }
  }

  /** The log ends at that time. */
  close(at: number): void {
    for (const record of this.#connections.values()) spend(record, at);
  }

  #noteRejection({ seq, note }: NoteEntry, at: number): void {
    const rejected = this.#connections.get(textOf(note['server']))?.summary.rejected;
    if (note.type !== 'connection.rejected' || rejected === undefined || rejected.length === MOST) return;
    rejected.push({ entry: seq, at, event: textOf(note['event']), state: textOf(note['state']) });
  }

  #note(
    entry: LogEntry,
    at: number,
    { address, server }: { readonly address: string; readonly server: string },
    { state, context }: FoldedState,
  ): void {
    const record = this.#recordOf(server, at, state);
    const { summary } = record;
    const { failure } = context;
    // In a snapshot, a machine continues with an equal failure that is another object.
    const isKnown =
      failure === record.failure || (entry.kind === 'snapshot' && isSameJson(failure, record.failure));
    record.failure = failure;
    const found = isKnown ? undefined : failureOf(failure);
    const isNew = record.address !== address;
    record.address = address;
    const to = state === record.state ? summary.state : stateText(state);
    record.state = state;
    if (to !== summary.state) {
      this.changed({
        entry: entry.seq,
        at,
        server,
        from: isNew ? null : summary.state,
        to,
        ...(found !== undefined && { failure: found }),
      });
      if (hasTag(publicState(state), 'opening')) summary.attempts += 1;
      summary.state = to;
      spend(record, at);
      record.top = publicState(state).state;
    }
    summary.generation = wholeOf(context['generation']);
    if (found !== undefined) noteFailure(summary, found, entry.at, at - entry.at);
  }

  #recordOf(server: string, at: number, state: StateValue): ServerRecord {
    const known = this.#connections.get(server);
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
    const record = {
      summary,
      address: '',
      top: publicState(state).state,
      state: undefined,
      since: at,
      failure: null,
    };
    this.#connections.set(server, record);
    return record;
  }
}

/** Without a prototype: its names come from a log. */
function emptyRecord(): Record<string, number> {
  return Object.create(null) as Record<string, number>;
}

function touchedBy(entry: LogEntry): Set<string> {
  if (entry.kind === 'note') return new Set();
  const derived = entry.kind === 'snapshot' ? [] : (entry.derived ?? []);
  return new Set([entry.to, ...derived.map(({ to }) => to)]);
}

function spend(record: ServerRecord, at: number): void {
  const { states } = record.summary;
  states[record.top] = (states[record.top] ?? 0) + Math.max(0, at - record.since);
  record.since = at;
}

function noteFailure(
  { failures, failureCodes }: ConnectionSummary,
  failure: Failure,
  at: number,
  setBackMs: number,
): void {
  failureCodes[failure.code] = (failureCodes[failure.code] ?? 0) + 1;
  if (failures.length < MOST) failures.push({ ...failure, at: numberOf(failure.at, at) + setBackMs });
}
