/**
 * What a server did, session by session, read from the event log of its connection. Durations begin with the session, or
 * with the request of an answer.
 */
import { connectionName, isMachineAddress } from '../actor-system/actor-path.js';
import { isJsonObject } from '../json/json-object.js';
import type { CauseEntry, LogEntry, NoteEntry, SnapshotEntry } from '../event-log/format/entry.js';
import { countOf, identityOf, numberOf, wholeOf } from '../event-log/format/by-shape.js';
import { isCommand } from '../actor-system/event-filter.js';
import type { ConnectionPolicy } from '../../machines/policy/policy.js';
import type { ServerIdentity } from '../../machines/connection/connection.events.js';
import { toFailure, type Failure } from '../../machines/policy/failure.js';
import { requestOf, type RecordedRequest } from './recorded-requests.js';
import { MonotonicTime } from '../event-log/format/monotonic-time.js';
import { publicState } from '../../machines/connection/public-state.js';
import { CONNECTION_STATES, hasTag, type PublicState } from '../../machines/connection/connection.states.js';

/** The outcome of one request to the server. */
export type RecordedOutcome<T> =
  { readonly afterMs: number; readonly value: T } | { readonly afterMs: number; readonly failure: Failure };

/** A request whose message was recorded, and its outcome. */
export interface RecordedAnswer {
  readonly request: RecordedRequest;
  afterMs: number;
  /** The answer without its id; null if none came. */
  reply: Readonly<Record<string, unknown>> | null;
}

export interface RecordedSession {
  readonly generation: number;
  opened: RecordedOutcome<null>;
  handshake?: RecordedOutcome<ServerIdentity | undefined>;
  /** The number of tools in each list. */
  readonly tools: RecordedOutcome<number>[];
  readonly probes: RecordedOutcome<null>[];
  /** The numbers of resources, templates and prompts. */
  extras: Readonly<Record<string, number>>;
  /** Times after which the list of tools was announced to have changed. */
  readonly changes: number[];
  lost?: { readonly afterMs: number; readonly failure: Failure };
  readonly answers: RecordedAnswer[];
}

export interface RecordedConnection {
  readonly name: string;
  readonly policy: ConnectionPolicy | undefined;
  readonly sessions: readonly RecordedSession[];
  /**
   * The top-level states of the connection, from its first `configuring` until the host sent a command, the connection
   * gave up, a person had to sign in, or the log ended or has a gap. The last `failed` is omitted if attempts before the
   * log contributed to it.
   */
  readonly states: readonly string[];
}

/** Throws if the log has no connection of that name. */
export function recordedConnection(entries: readonly LogEntry[], name: string): RecordedConnection {
  const reader = new Reader(name);
  for (const entry of entries) reader.take(entry);
  reader.finish();
  if (reader.isUnknown) throw new Error(`The log has no connection '${name}'.`);
  const { policy, sessions, states } = reader;
  return { name, policy, sessions, states };
}

class Reader {
  readonly sessions: RecordedSession[] = [];
  readonly states: string[] = [];
  policy: ConnectionPolicy | undefined;
  isUnknown = true;
  #generation = 0;
  /** Number of the latest known attempt to open a session; undefined if the log begins after an attempt. */
  #opening: number | undefined;
  /** False while the entries belong to a session whose beginning was not recorded. */
  #isBegun = false;
  /** There were attempts or losses before the log, which count towards giving up. They cannot be replayed. */
  #hasPast = false;
  #isEnded = false;
  /** The log has a gap: the beginning of every later session is unknown. */
  #isCut = false;
  /** When the session, or the attempt at one, began. */
  #openedAt = 0;
  #lastAt = 0;
  readonly #time = new MonotonicTime();
  /** Time of the present entry. */
  #at = 0;
  readonly #sent = new Map<string, { readonly at: number; readonly answer: RecordedAnswer }>();

  /** How long the tools that are about to be adopted took to read. */
  #readAfterMs = 0;

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
    const path = publicState(state);
    if (this.isUnknown) this.#hasPast = context['attempt'] !== 0;
    if (path.state === 'configuring') this.#enter(path);
    this.#begin(context);
    const isOpening = hasTag(path, 'opening');
    this.#generation = wholeOf(context['issued'] ?? context['generation']) - (isOpening ? 1 : 0);
    this.#opening = undefined;
  }

  #begin(input: unknown): void {
    this.isUnknown = false;
    if (!isJsonObject(input)) return;
    const { policy } = input;
    if (isJsonObject(policy)) this.policy = policy as unknown as ConnectionPolicy;
    this.#generation = wholeOf(input['generation']);
    this.#opening = 0;
  }

  #cause(entry: CauseEntry): void {
    for (const { to, event } of entry.derived ?? [])
      if (event.type === 'xstate.init' && this.#isOwn(to)) {
        this.finish();
        this.#begin(event['input']);
      }
    const state = this.#isOwn(entry.to) ? entry.state : this.#movedTo(entry);
    // A command of the host and its consequences are not the server's doing.
    if (this.#isOwn(entry.to) && entry.kind === 'send' && isCommand(entry.event.type)) this.#end();
    if (state !== undefined) this.#enter(publicState(state));
    if (this.#isOwn(entry.to)) this.#receive(entry);
  }

  #movedTo({ moved = {} }: CauseEntry): CauseEntry['state'] | undefined {
    const own = Object.keys(moved).find((address) => this.#isOwn(address));
    return own === undefined ? undefined : moved[own];
  }

  #enter(present: PublicState): void {
    const { state } = present;
    if (state === 'shuttingDown' || state === 'stopped') this.#end();
    if (state === 'failed' && this.#hasPast) this.#end();
    // The server does not cause what follows: a sign-in, or an attempt for a call or by the slow timer of a remote server.
    if (hasTag(present, 'authorizing') || this.states.at(-1) === 'failed') this.#end();
    // This version cannot reach a state that it does not have.
    if (!CONNECTION_STATES.includes(state)) this.#end();
    this.#isBegun ||= state === 'configuring';
    if (this.#isBegun && !this.#isEnded && this.states.at(-1) !== state) this.states.push(state);
  }

  /** Has no effect before the recorded beginning. */
  #end(): void {
    this.#isEnded ||= this.#isBegun;
  }

  #receive(entry: CauseEntry): void {
    const { event, from = '' } = entry;
    if (event.type === 'session.lost') this.#lose(event['failure']);
    else if (event.type === 'catalog.listChanged') this.#now?.changes.push(this.#at - this.#openedAt);
    else if (entry.kind === 'settle') this.#settle(entry, effectAt(from));
    this.#lastAt = this.#at;
  }

  #settle({ at, event, state }: CauseEntry, { slot, number }: Effect): void {
    const outcome = <T>(value: (output: Readonly<Record<string, unknown>>) => T): RecordedOutcome<T> => {
      const output = isJsonObject(event['output']) ? event['output'] : {};
      if (event.type.startsWith('xstate.error.'))
        return { afterMs: this.#at - this.#lastAt, failure: toFailure(event['error']) };
      return { afterMs: Math.max(0, at - numberOf(output['startedAt'], at)), value: value(output) };
    };
    const session = this.#now;
    if (slot === 'openTransport') {
      this.#count(number);
      if (this.#isBegun) this.#open(outcome(() => null));
    } else if (session === undefined) return;
    else if (slot === 'handshake') session.handshake = outcome((output) => identityOf(output['server']));
    else if (slot === 'readTools' || slot === 'refreshTools') {
      const read = outcome(() => null);
      if ('failure' in read) session.tools.push(read);
      this.#readAfterMs = read.afterMs;
    } else if (slot === 'adoptTools' || slot === 'adoptRefreshed') {
      const adopted = outcome((output) => countOf(output['tools']));
      session.tools.push({ ...adopted, afterMs: this.#readAfterMs });
    } else if (slot === 'probe' || slot === 'probeAgain') {
      session.probes.push(outcome(() => null));
      if (state !== undefined && publicState(state).state !== 'ready') this.#lose(event['error']);
    } else if (slot === 'enrichCatalog' && isJsonObject(event['output']))
      session.extras = countsIn(event['output']);
  }

  /** An abandoned attempt settles nothing, but has a generation. */
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
    if (note.type !== 'wire' || note['server'] !== this.name) return;
    const { body, direction, id } = note;
    const generation = wholeOf(note['generation']);
    const key = keyOf(generation, id);
    if (body === null && direction === 'received' && note['ms'] !== undefined) return this.#forget(key);
    if (!isJsonObject(body)) return;
    if (direction === 'sent' && typeof body['method'] === 'string' && body['id'] !== undefined) {
      const answer = { request: requestOf(body['method'], body['params']), afterMs: 0, reply: null };
      this.#early.push({ generation, answer });
      this.#sent.set(key, { at: this.#at, answer });
    }
    const asked = direction === 'received' && body['method'] === undefined ? this.#sent.get(key) : undefined;
    if (asked === undefined) return;
    this.#sent.delete(key);
    const { id: _, jsonrpc: __, ...reply } = body;
    Object.assign(asked.answer, { afterMs: this.#at - asked.at, reply });
  }

  /** The answer was not recorded, or it is unknown whether it came: then the request counts as not recorded. */
  #forget(key: string): void {
    const asked = this.#sent.get(key);
    this.#sent.delete(key);
    this.#early = this.#early.filter(({ answer }) => answer !== asked?.answer);
  }

  /** Messages of a session that came before the entry that opens it. */
  #early: { readonly generation: number; readonly answer: RecordedAnswer }[] = [];

  /** Must be called at the end. A later connection of the same name counts its generations from 1. */
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
  /** Its number among the actors of that slot. */
  readonly number: number;
}

/** A request is identified by its session and its id, which is a number or a string (JSON-RPC 2.0, section 4). */
function keyOf(generation: number, id: unknown): string {
  return `${generation} ${typeof id === 'string' || typeof id === 'number' ? `${typeof id} ${id}` : ''}`;
}

function effectAt(address: string): Effect {
  const [slot = '', number] = address.slice(address.lastIndexOf('/') + 1).split('#');
  return { slot, number: Number(number) };
}

function countsIn(output: Readonly<Record<string, unknown>>): Readonly<Record<string, number>> {
  return Object.fromEntries(
    ['resources', 'resourceTemplates', 'prompts'].map((name) => [name, countOf(output[name])]),
  );
}
