/**
 * A server that repeats what a recorded server did, in the same order and after the same times: an incident as a fixture.
 * It is the `server` of an in-process entry.
 *
 * It refuses sessions, answers, falls silent and ends sessions as the log says. If messages were recorded (`bodies`), it
 * answers with them; otherwise it has the same number of tools, resources and prompts, without a function.
 * It has no process and no address, so it reports the recorded reason for their end: an exit code, an expired session. It
 * does not ask for a sign-in: a session that needed one is simply lost.
 *
 * Longer than 300 lines because it holds the documented public API as well as the player.
 */
import type { Transport } from '../mcp/transport.js';
import type { Failure } from '../../machines/policy/failure.js';
import { LogParser } from '../event-log/format/read-log.js';
import { countOf, numberOf } from '../event-log/format/by-shape.js';
import { isJsonObject } from '../json/json-object.js';
import { textOf, type LogEntry } from '../event-log/format/entry.js';
import type { InProcessServerConfig } from '../config/entry/server-config.js';
import type { Clock } from '../ports.js';
import { INTERNAL_ERROR, METHOD_NOT_FOUND } from '../protocol/protocol-client.js';
import { TransportError } from '../failures/transport-error.js';
import { JumpingClock } from './jumping-clock.js';
import { tool } from './ordinary-answers.js';
import {
  recordedConnection,
  type RecordedAnswer,
  type RecordedConnection,
  type RecordedOutcome,
  type RecordedSession,
} from './recorded-sessions.js';
import { RpcFault, ScriptedServer, SILENCE } from './scripted-server.js';
import type { Handler, Params } from './server-script.js';

/** Options of `createRecordedServer`. */
export interface RecordedServerOptions {
  /**
   * Clock of the recorded times. Default: a clock of its own that jumps from event to event, so that no test
   * waits; see `clock`.
   */
  readonly clock?: Clock;
}

/** An in-memory server that repeats a recorded connection. Made by `createRecordedServer`. */
export interface RecordedServer {
  /**
   * Begins the next recorded session over the transport.
   *
   * @param transport The server's end of a transport that has not been started.
   */
  connect(transport: Transport): Promise<void>;
  /**
   * Clock of the recorded times. The troupe must use the same one: `createTroupe({ clock: server.clock, …
   * })`.
   */
  readonly clock: Clock;
  /**
   * Entry for `createTroupe` with the policy of the recorded connection. It is never stopped for being idle,
   * since the recorded calls are not repeated.
   */
  readonly config: InProcessServerConfig;
  /**
   * States of the recorded connection until the host sent a command, the connection gave up, a person had to
   * sign in, or the log has a gap.
   */
  readonly states: readonly string[];
  /** Number of recorded sessions. */
  readonly sessions: number;
  /** Number of sessions played so far. */
  readonly played: number;
}

/**
 * Makes an in-memory server that repeats one connection of a recorded log.
 *
 * @param log The log, as text or bytes.
 * @param name Name of the connection in the log.
 * @param options Clock of the recorded times. Default: a clock that jumps from event to event.
 *
 * @throws `TypeError` if the log or the name has the wrong type.
 * @throws `Error` if the log cannot be read to its end (apart from a last line that is cut off), or holds no
 * such connection.
 *
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { createTroupe } from 'mcp-troupe';
 * import { createRecordedServer } from 'mcp-troupe/testing';
 *
 * const server = createRecordedServer(await readFile('troupe.log'), 'files');
 * await using troupe = createTroupe({ clock: server.clock, servers: { files: server.config } });
 * ```
 */
export function createRecordedServer(
  log: string | Uint8Array,
  name: string,
  options: RecordedServerOptions = {},
): RecordedServer {
  if (typeof name !== 'string') throw new TypeError('The connection must be given by its name in the log.');
  return new Player(recordedConnection(entriesOf(log), name), options.clock ?? new JumpingClock());
}

/** The other methods that a recorded session may have answered. */
const USUAL_METHODS = ['initialize', 'ping', 'tools/list', 'tools/call', 'resources/list', 'prompts/list'];
const TEMPLATES = 'resources/templates/list';

/** The end of an in-process session can have a reason. */
interface Closable {
  close(why?: Failure): Promise<void>;
}

class Player implements RecordedServer {
  readonly #recorded: RecordedConnection;
  readonly #server: ScriptedServer;
  /** The transport of the present session. */
  #client: Closable | undefined;
  /** The answers of each session that are used up. */
  readonly #used = new Map<RecordedSession, Set<object>>();

  constructor(
    recorded: RecordedConnection,
    readonly clock: Clock,
  ) {
    this.#recorded = recorded;
    const methods = recorded.sessions.flatMap(({ answers }) => answers.map(({ method }) => method));
    const on: Record<string, Handler> = {};
    for (const method of new Set([...USUAL_METHODS, TEMPLATES, ...methods]))
      on[method] = (params, { session }) => this.#answer(session, method, params);
    const beforeConnect = (session: number): Promise<void> => this.#open(session);
    this.#server = new ScriptedServer({ on, beforeConnect }, clock);
  }

  get config(): InProcessServerConfig {
    const { policy } = this.#recorded;
    return {
      type: 'in-process',
      server: this,
      ...(policy !== undefined && { policy: { ...policy, idleStopMs: 0 } }),
    };
  }

  get states(): readonly string[] {
    return this.#recorded.states;
  }

  get sessions(): number {
    return this.#recorded.sessions.length;
  }

  get played(): number {
    return this.#server.sessions;
  }

  async connect(transport: Transport): Promise<void> {
    this.#client = transport;
    await this.#server.connect(transport);
    const session = this.#recorded.sessions[this.#server.sessions - 1];
    if (session === undefined) return;
    const timers = [
      ...session.changes.map((ms) =>
        this.clock.setTimeout(() => this.#server.notify('notifications/tools/list_changed'), ms),
      ),
    ];
    const { lost } = session;
    if (lost !== undefined)
      timers.push(this.clock.setTimeout(() => void this.#end(lost.failure), lost.afterMs));
    const closed = transport.onclose;
    transport.onclose = () => {
      for (const timer of timers) this.clock.clearTimeout(timer);
      closed?.();
    };
  }

  async #open(number: number): Promise<void> {
    const opened = this.#recorded.sessions[number - 1]?.opened;
    if (opened === undefined)
      throw new Error(`No session ${number} of '${this.#recorded.name}' was recorded.`);
    await this.#wait(opened.afterMs);
    if (!('failure' in opened)) return;
    const { failure } = opened;
    throw isSignIn(failure) ? new Error(failure.message) : new TransportError(failure);
  }

  async #end(failure: Failure): Promise<void> {
    await this.#client?.close(isSignIn(failure) ? undefined : failure);
  }

  async #answer(number: number, method: string, params: Params): Promise<unknown> {
    const session = this.#recorded.sessions[number - 1];
    if (session === undefined) return SILENCE;
    const failing = this.#planned(session, method);
    const answer = this.#take(session, session.answers, (each) => isTo(each, method, params));
    const isExplained = answer?.reply === null && failing !== undefined && 'failure' in failing;
    if (answer !== undefined && !isExplained) return this.#reply(answer);
    if (failing === undefined) return plainAnswer(session, method, params);
    await this.#wait(failing.afterMs);
    if ('failure' in failing) return this.#fail(failing.failure);
    return plainAnswer(session, method, params, failing.value);
  }

  /** The recorded outcome of such a request; undefined if the log has none. */
  #planned(session: RecordedSession, method: string): RecordedOutcome<unknown> | undefined {
    if (method === 'initialize') return session.handshake;
    if (method === 'tools/list')
      return this.#take(session, session.tools, () => true) ?? session.tools.at(-1);
    return method === 'ping' ? this.#take(session, session.probes, () => true) : undefined;
  }

  async #reply({ afterMs, reply }: RecordedAnswer): Promise<unknown> {
    await this.#wait(afterMs);
    if (reply === null) return SILENCE;
    const { error } = reply;
    if (isJsonObject(error))
      throw new RpcFault(numberOf(error['code'], INTERNAL_ERROR), textOf(error['message']));
    return reply['result'];
  }

  async #fail(failure: Failure): Promise<unknown> {
    const { code, rpcCode, message } = failure;
    if (rpcCode !== undefined) throw new RpcFault(rpcCode, message);
    if (code === 'protocol-version')
      return { protocolVersion: '1999-01-01', capabilities: {}, serverInfo: NOBODY };
    if (code === 'protocol-error') return 'no result of MCP';
    if (endsSession(failure)) await this.#end(failure);
    return SILENCE;
  }

  /** The first item that fits and is not used up. */
  #take<T extends object>(
    session: RecordedSession,
    from: readonly T[],
    fits: (each: T) => boolean,
  ): T | undefined {
    const used = this.#used.get(session) ?? new Set();
    this.#used.set(session, used);
    const next = from.find((each) => !used.has(each) && fits(each));
    if (next !== undefined) used.add(next);
    return next;
  }

  #wait(ms: number): Promise<void> {
    return ms <= 0 ? Promise.resolve() : new Promise((resolve) => void this.clock.setTimeout(resolve, ms));
  }
}

const NOBODY = { name: 'recorded', version: '0' };

function isSignIn({ code }: Failure): boolean {
  return code === 'auth-required';
}

/** The server of any other failure fell silent. */
function endsSession({ code }: Failure): boolean {
  return !['handshake-timeout', 'list-timeout', 'launch-timeout', 'unresponsive'].includes(code);
}

/** Arguments are masked in the log, so only the name of the requested thing is compared. */
function isTo(answer: RecordedAnswer, method: string, params: Params): boolean {
  const recorded = (answer.params ?? {}) as Params;
  const isSame = (name: string): boolean => recorded[name] === params[name];
  return answer.method === method && ['name', 'uri', 'cursor'].every(isSame);
}

function plainAnswer(session: RecordedSession, method: string, params: Params, value?: unknown): unknown {
  const { extras } = session;
  switch (method) {
    case 'initialize':
      return plainIdentity(session, params);
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: many(countOf(value), (number) => tool(`recorded_${number}`)) };
    case 'resources/list':
      return {
        resources: many(extras['resources'], (number) => ({ uri: `recorded:${number}`, name: `${number}` })),
      };
    case TEMPLATES:
      return {
        resourceTemplates: many(extras['resourceTemplates'], (number) => ({
          uriTemplate: `recorded:${number}/{x}`,
          name: `${number}`,
        })),
      };
    case 'prompts/list':
      return { prompts: many(extras['prompts'], (number) => ({ name: `recorded_${number}` })) };
    default:
      throw new RpcFault(METHOD_NOT_FOUND, `No answer to ${method} was recorded.`);
  }
}

function plainIdentity({ handshake }: RecordedSession, params: Params): unknown {
  const identity = handshake !== undefined && 'value' in handshake ? handshake.value : undefined;
  return {
    protocolVersion: identity?.protocolVersion || params['protocolVersion'],
    capabilities: identity?.capabilities ?? { tools: {} },
    serverInfo: identity?.info ?? NOBODY,
    ...(typeof identity?.instructions === 'string' && { instructions: identity.instructions }),
  };
}

function many<T>(count: number | undefined, make: (number: number) => T): T[] {
  return Array.from({ length: count ?? 0 }, (_, index) => make(index + 1));
}

function entriesOf(log: string | Uint8Array): readonly LogEntry[] {
  const bytes = typeof log === 'string' ? new TextEncoder().encode(log) : log;
  if (!(bytes instanceof Uint8Array)) throw new TypeError('The log must be its text or its bytes.');
  const parser = new LogParser();
  const pieces = [...parser.push(bytes), ...parser.end()];
  const entries: LogEntry[] = [];
  for (const piece of pieces) {
    if (piece.type === 'entry') entries.push(piece.entry);
    if (piece.type === 'problem' && piece.problem.code !== 'truncated')
      throw new Error(piece.problem.message);
  }
  return entries;
}
