/**
 * What a server did, session by session, as the event log of its connection tells it. Lengths of time are from the
 * begin of a session, or from a request to its answer.
 */
import { connectionName, isMachineAddress } from '../event-log/address.js';
import {
  isObject,
  type CauseEntry,
  type LogEntry,
  type NoteEntry,
  type SnapshotEntry,
} from '../event-log/entry.js';
import { stateText } from '../event-log/divergence.js';
import { isCommand } from '../actors/door.js';
import type { ConnectionPolicy } from '../../machines/policy/policy.js';
import type { ServerIdentity } from '../../machines/connection.events.js';
import { toFailure, type Failure } from '../../machines/policy/failure.js';
import { SteadyTime } from '../event-log/steady-time.js';
import { statePath, type StatePath } from '../lifecycle/state-path.js';

/** What came of one thing that the server was asked. */
export type RecordedOutcome<T> =
  { readonly afterMs: number; readonly value: T } | { readonly afterMs: number; readonly failure: Failure };

/** A request whose message was recorded, and what came of it. */
export interface RecordedAnswer {
  readonly method: string;
  readonly params: unknown;
  afterMs: number;
  /** The answer as it came, its id left out; null where none came. */
  reply: Readonly<Record<string, unknown>> | null;
}

export interface RecordedSession {
  readonly generation: number;
  opened: RecordedOutcome<null>;
  handshake?: RecordedOutcome<ServerIdentity>;
  /** Numbers of tools, list by list. */
  readonly tools: RecordedOutcome<number>[];
  readonly probes: RecordedOutcome<null>[];
  /** How many resources, templates and prompts there were. */
  extras: Readonly<Record<string, number>>;
  /** After how long the list of tools was told to have changed. */
  readonly changes: number[];
  lost?: { readonly afterMs: number; readonly failure: Failure };
  readonly answers: RecordedAnswer[];
}

export interface RecordedConnection {
  readonly name: string;
  readonly policy: ConnectionPolicy | undefined;
  readonly sessions: readonly RecordedSession[];
  /**
   * The top-level states it went through until the host, or the end of the log, ended that, it gave up, a person had to
   * sign in, or entries were left out; from the first `configuring` on, with which a connection begins. That it gave up
   * is left out where attempts before the log had a part in it.
   */
  readonly states: readonly string[];
}

/** Throws where the log tells nothing of a connection of that name. */
export function recordedConnection(entries: readonly LogEntry[], name: string): RecordedConnection {
  const reader = new Reader(name);
  for (const entry of entries) reader.take(entry);
  reader.finish();
  if (reader.isUnknown) throw new Error(`The log tells of no connection '${name}'.`);
  const { policy, sessions, states } = reader;
  return { name, policy, sessions, states };
}

class Reader {
  readonly sessions: RecordedSession[] = [];
  readonly states: string[] = [];
  policy: ConnectionPolicy | undefined;
  isUnknown = true;
  #generation = 0;
  /** Number of the latest attempt to open a session that is known; undefined where the log begins after some. */
  #opening: number | undefined;
  /** What stands before that is of a session whose begin was not recorded. */
  #isBegun = false;
  /** Attempts and losses before the log began count towards giving up; they do not where it is played. */
  #hasPast = false;
  #isEnded = false;
  /** Entries were left out: what follows is of sessions of which nobody knows how they came to be. */
  #isCut = false;
  /** When the session, or the attempt at one, began. */
  #openedAt = 0;
  #lastAt = 0;
  readonly #time = new SteadyTime();
  /** When the entry that is taken happened. */
  #at = 0;
  readonly #sent = new Map<string, { readonly at: number; readonly answer: RecordedAnswer }>();

  constructor(private readonly name: string) {}

  take(entry: LogEntry): void {
    if (this.#isCut) return;
    this.#at = this.#time.of(entry.at);
    if (entry.kind === 'note') this.#note(entry);
    else if (entry.kind === 'snapshot') this.#snapshot(entry);
    else this.#cause(entry);
  }

  #snapshot({ to, state, context }: SnapshotEntry): void {
    if (!this.#isOwn(to)) return;
    const path = statePath(state);
    if (this.isUnknown) this.#hasPast = context['attempt'] !== 0;
    if (path.state === 'configuring') this.#enter(path);
    this.#begin(context);
    const isOpening = stateText(state) === 'launching.opening';
    this.#generation = Number(context['issued'] ?? context['generation'] ?? 0) - (isOpening ? 1 : 0);
    this.#opening = undefined;
  }

  #begin(input: unknown): void {
    this.isUnknown = false;
    if (!isObject(input)) return;
    this.policy = (input['policy'] as ConnectionPolicy | undefined) ?? this.policy;
    this.#generation = Number(input['generation'] ?? 0);
    this.#opening = 0;
  }

  #cause(entry: CauseEntry): void {
    for (const { to, event } of entry.derived ?? [])
      if (event.type === 'xstate.init' && this.#isOwn(to)) {
        this.finish();
        this.#begin(event['input']);
      }
    const state = this.#isOwn(entry.to) ? entry.state : this.#movedTo(entry);
    // What the host asked for is not the server's doing, nor is what follows from it.
    if (this.#isOwn(entry.to) && entry.kind === 'send' && isCommand(entry.event.type)) this.#end();
    if (state !== undefined) this.#enter(statePath(state));
    if (this.#isOwn(entry.to)) this.#hear(entry);
  }

  #movedTo({ moved = {} }: CauseEntry): CauseEntry['state'] | undefined {
    const own = Object.keys(moved).find((address) => this.#isOwn(address));
    return own === undefined ? undefined : moved[own];
  }

  #enter({ state, substate }: StatePath): void {
    if (state === 'shuttingDown' || state === 'stopped') this.#end();
    if (state === 'failed' && this.#hasPast) this.#end();
    // No server brings about what follows: a sign-in, or a try for a call or on the slow clock of a remote server.
    if (substate === 'authorizing' || this.states.at(-1) === 'failed') this.#end();
    this.#isBegun ||= state === 'configuring';
    if (this.#isBegun && !this.#isEnded && this.states.at(-1) !== state) this.states.push(state);
  }

  /** What nothing was recorded of before cannot end. */
  #end(): void {
    this.#isEnded ||= this.#isBegun;
  }

  #hear(entry: CauseEntry): void {
    const { event, from = '' } = entry;
    if (event.type === 'session.lost') this.#lose(event['failure']);
    else if (event.type === 'catalog.listChanged') this.#now?.changes.push(this.#at - this.#openedAt);
    else if (entry.kind === 'settle') this.#settle(entry, effectAt(from));
    this.#lastAt = this.#at;
  }

  #settle({ at, event, state }: CauseEntry, { slot, number }: Effect): void {
    const outcome = <T>(value: (output: Readonly<Record<string, unknown>>) => T): RecordedOutcome<T> => {
      const output = isObject(event['output']) ? event['output'] : {};
      if (event.type.startsWith('xstate.error.'))
        return { afterMs: this.#at - this.#lastAt, failure: toFailure(event['error']) };
      return { afterMs: Math.max(0, at - Number(output['startedAt'] ?? at)), value: value(output) };
    };
    const session = this.#now;
    if (slot === 'openTransport') {
      this.#count(number);
      if (this.#isBegun) this.#open(outcome(() => null));
    } else if (session === undefined) return;
    else if (slot === 'handshake')
      session.handshake = outcome((output) => output['server'] as ServerIdentity);
    else if (slot === 'listTools' || slot === 'refreshTools')
      session.tools.push(outcome((output) => Number(output['tools'] ?? 0)));
    else if (slot === 'probe' || slot === 'probeAgain') {
      session.probes.push(outcome(() => null));
      if (state !== undefined && statePath(state).state !== 'ready') this.#lose(event['error']);
    } else if (slot === 'enrichCatalog' && isObject(event['output']))
      session.extras = countsIn(event['output']);
  }

  /** An attempt that was given up settles nothing, and has a generation all the same. */
  #count(opening: number): void {
    this.#generation += opening - (this.#opening ?? opening - 1);
    this.#opening = opening;
  }

  #open(opened: RecordedOutcome<null>): void {
    this.#openedAt = this.#at;
    const lists = { tools: [], probes: [], changes: [], answers: [] };
    this.sessions.push({ generation: this.#generation, opened, extras: {}, ...lists });
  }

  #lose(failure: unknown): void {
    const session = this.#now;
    if (session !== undefined)
      session.lost = { afterMs: this.#at - this.#openedAt, failure: toFailure(failure) };
  }

  get #now(): RecordedSession | undefined {
    return this.sessions.at(-1);
  }

  #note({ note }: NoteEntry): void {
    if (note.type === 'gap') this.#isCut = this.#isBegun;
    if (note.type === 'gap.notes') for (const key of [...this.#sent.keys()]) this.#forget(key);
    if (note.type !== 'wire' || note['connection'] !== this.name) return;
    const { body, direction, id } = note;
    const key = `${String(note['generation'])} ${String(id)}`;
    if (body === null && direction === 'received' && note['ms'] !== undefined) return this.#forget(key);
    if (!isObject(body)) return;
    if (direction === 'sent' && typeof body['method'] === 'string' && body['id'] !== undefined) {
      const answer = { method: body['method'], params: body['params'], afterMs: 0, reply: null };
      this.#early.push({ generation: Number(note['generation']), answer });
      this.#sent.set(key, { at: this.#at, answer });
    }
    const asked = direction === 'received' && body['method'] === undefined ? this.#sent.get(key) : undefined;
    if (asked === undefined) return;
    this.#sent.delete(key);
    const { id: _, jsonrpc: __, ...reply } = body;
    Object.assign(asked.answer, { afterMs: this.#at - asked.at, reply });
  }

  /** The answer came and was not written down, or may have come: it is as if no messages were recorded. */
  #forget(key: string): void {
    const asked = this.#sent.get(key);
    this.#sent.delete(key);
    this.#early = this.#early.filter(({ answer }) => answer !== asked?.answer);
  }

  /** The messages of a session come before the entry that tells that it is open. */
  #early: { readonly generation: number; readonly answer: RecordedAnswer }[] = [];

  /** To be called at the end. One of the same name that came after another counts its generations anew. */
  finish(): void {
    for (const { generation, answer } of this.#early)
      this.sessions.findLast((session) => session.generation === generation)?.answers.push(answer);
    this.#early = [];
    this.#sent.clear();
  }

  #isOwn(address: string): boolean {
    return isMachineAddress(address) && connectionName(address) === this.name;
  }
}

interface Effect {
  readonly slot: string;
  /** The how manieth in that slot it is. */
  readonly number: number;
}

function effectAt(address: string): Effect {
  const [slot = '', number] = address.slice(address.lastIndexOf('/') + 1).split('#');
  return { slot, number: Number(number) };
}

function countsIn(output: Readonly<Record<string, unknown>>): Readonly<Record<string, number>> {
  return Object.fromEntries(
    ['resources', 'resourceTemplates', 'prompts'].map((name) => [name, Number(output[name] ?? 0)]),
  );
}
