/**
 * A server that repeats what a recorded server did, in the same order and after the same times: an incident as a fixture.
 * It is the `server` of an in-process entry.
 *
 * It refuses sessions, answers, falls silent and ends sessions as the log says. If messages were recorded (`bodies`), it
 * answers with them: a request gets the answer to the recorded request with the same method, name and arguments. Otherwise
 * it has the same number of tools, resources and prompts, without a function.
 * It has no process and no address, so it reports the recorded reason for their end: an exit code, an expired session. It
 * does not ask for a sign-in: a session that needed one is simply lost.
 *
 * Longer than 300 lines because it holds the documented public API as well as the player.
 */
import { readFileSync } from 'node:fs';
import type { Transport } from '../mcp/transport.js';
import { eraOf, NEW_VERSION } from '../../machines/policy/protocol-era.js';
import type { Failure } from '../../machines/policy/failure.js';
import { isLogText } from '../event-log/format/log-source.js';
import { LogParser } from '../event-log/format/read-log.js';
import { countOf, numberOf } from '../event-log/format/by-shape.js';
import { isJsonObject } from '../json/json-object.js';
import { textOf, type LogEntry } from '../event-log/format/entry.js';
import type { InProcessServerConfig } from '../config/entry/server-config.js';
import type { Clock } from '../ports.js';
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND } from '../protocol/protocol-client.js';
import { TransportError } from '../failures/transport-error.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';
import { JumpingClock } from './jumping-clock.js';
import { tool } from './ordinary-answers.js';
import {
  hasSameSubject,
  listText,
  matchesParams,
  nearestRequest,
  requestOf,
  requestText,
  type MatchRequests,
  type RecordedRequest,
} from './recorded-requests.js';
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
  /**
   * Whether a recorded request is the one that the test sent, for arguments that differ in every run, such as times
   * and ids. Called for requests of the same method and name. Default: all arguments are the same; a masked one may
   * have any value.
   *
   * @example
   * ```ts
   * import { createRecordedServer } from 'mcp-troupe/testing';
   *
   * const path = (params: Readonly<Record<string, unknown>>) => (params['arguments'] as { path?: string }).path;
   * const server = createRecordedServer('troupe.log', 'files', {
   *   match: (recorded, asked) => path(recorded.params) === path(asked.params),
   * });
   * ```
   */
  readonly match?: MatchRequests;
  /**
   * Whether a call, a read or a prompt that was not recorded is refused, and one that was recorded once is answered
   * once. False: it gets the answer to the recorded request that differs least, as often as it is asked. Default
   * true.
   */
  readonly strict?: boolean;
}

/** A request that a recorded server refused, because the log has no answer to it. */
export interface UnmatchedRequest extends RecordedRequest {
  /** Number of the session, from 1. */
  readonly session: number;
  /** What was recorded instead, in one sentence. */
  readonly message: string;
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
  /**
   * The requests that were refused because they were not recorded, in order. A test that expects it to be empty
   * also notices calls whose errors its host handles.
   */
  readonly unmatched: readonly UnmatchedRequest[];
}

/**
 * Makes an in-memory server that repeats one connection of a recorded log.
 *
 * @param log Path, file URL, text or bytes of the log.
 * @param name Name of the connection in the log.
 * @param options Clock of the recorded times, and which recorded request answers which. Default: a clock that jumps
 *   from event to event, and requests with the same arguments.
 *
 * @throws `TypeError` if the log or the name has the wrong type, or for an unknown option.
 * @throws `Error` if the log cannot be read to its end (apart from a last line that is cut off), or holds no
 * such connection.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { createRecordedServer } from 'mcp-troupe/testing';
 *
 * const server = createRecordedServer('troupe.log', 'files');
 * await using troupe = createTroupe({ clock: server.clock, servers: { files: server.config } });
 * ```
 */
export function createRecordedServer(
  log: string | URL | Uint8Array,
  name: string,
  options: RecordedServerOptions = {},
): RecordedServer {
  if (typeof name !== 'string') throw new TypeError('The connection must be given by its name in the log.');
  requireKnown('createRecordedServer', options, OPTIONS);
  return new Player(recordedConnection(entriesOf(log), name), options);
}

const OPTIONS: OptionNames<RecordedServerOptions> = { clock: true, match: true, strict: true };

/** What a host asks for; the other requests are Troupe's own. */
const HOST_REQUESTS: ReadonlySet<string> = new Set([
  'tools/call',
  'resources/read',
  'prompts/get',
  'completion/complete',
]);

/** The other methods that a recorded session may have answered. */
const USUAL_METHODS = ['ping', 'tools/list', 'tools/call', 'resources/list', 'prompts/list'];
const DISCOVER = 'server/discover';
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
  /** The answers that are used up. */
  readonly #used = new Set<object>();
  readonly #match: MatchRequests;
  readonly #isStrict: boolean;
  /** Whether the server was spoken to in the version without sessions, which begins with another request. */
  readonly #isNewEra: boolean;
  readonly clock: Clock;
  readonly unmatched: UnmatchedRequest[] = [];

  constructor(recorded: RecordedConnection, options: RecordedServerOptions) {
    const { clock = new JumpingClock(), match = matchesParams, strict = true } = options;
    this.clock = clock;
    this.#match = match;
    this.#isStrict = strict;
    this.#recorded = recorded;
    this.#isNewEra = recorded.sessions.some(({ handshake }) => isOfNewEra(handshake));
    const methods = recorded.sessions.flatMap(({ answers }) => answers.map(({ request }) => request.method));
    const on: Record<string, Handler> = {};
    const opening = this.#isNewEra ? DISCOVER : 'initialize';
    for (const method of new Set([opening, ...USUAL_METHODS, TEMPLATES, ...methods]))
      on[method] = (params, { session }) => this.#answer(session, method, params);
    const beforeConnect = (session: number): Promise<void> => this.#open(session);
    this.#server = new ScriptedServer({ on, beforeConnect }, this.clock);
  }

  get config(): InProcessServerConfig {
    const { policy } = this.#recorded;
    return {
      type: 'in-process',
      server: this,
      ...(this.#isNewEra && { protocol: 'new' }),
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
    const asked = requestOf(method, params);
    if (HOST_REQUESTS.has(method)) return this.#reply(this.#answerTo(session, number, asked));
    const failing = this.#planned(session, method);
    const known = session.answers.filter(({ request }) => hasSameSubject(request, asked));
    const answer = this.#take(known, () => true) ?? known.findLast(({ reply }) => reply !== null);
    const isExplained = answer?.reply === null && failing !== undefined && 'failure' in failing;
    if (answer !== undefined && !isExplained) return this.#reply(answer);
    if (failing === undefined) return plainAnswer(session, method, params);
    await this.#wait(failing.afterMs);
    if ('failure' in failing) return this.#fail(failing.failure);
    return plainAnswer(session, method, params, failing.value);
  }

  /** The answer to the same request, of the present session if it has one. Equal requests are answered in their order. */
  #answerTo(session: RecordedSession, number: number, asked: RecordedRequest): RecordedAnswer {
    const answers = [session, ...this.#recorded.sessions].flatMap((each) => each.answers);
    const isSame = ({ request }: RecordedAnswer): boolean =>
      hasSameSubject(request, asked) && this.#match(request, asked);
    const answer = this.#take(answers, isSame);
    if (answer !== undefined) return answer;
    const nearest = nearestRequest(answers, asked);
    const isAbout = nearest !== undefined && hasSameSubject(nearest.nearest.request, asked);
    if (!this.#isStrict && isAbout) return answers.findLast(isSame) ?? nearest.nearest;
    const message = this.#whyUnmatched(asked, answers.filter(isSame).length > 0, nearest?.differs ?? []);
    this.unmatched.push({ ...asked, session: number, message });
    throw new RpcFault(nearest === undefined ? METHOD_NOT_FOUND : INVALID_PARAMS, message);
  }

  #whyUnmatched(asked: RecordedRequest, isUsedUp: boolean, differs: readonly string[]): string {
    const { sessions } = this.#recorded;
    const all = sessions.flatMap(({ answers }) => answers);
    const recorded = all.filter(({ request }) => request.method === asked.method);
    if (isUsedUp) {
      const times = recorded.filter(({ request }) => this.#match(request, asked)).length;
      return `${requestText(asked)} was recorded ${times === 1 ? 'once' : `${times} times`}, and is asked once more.`;
    }
    const start = `No answer to ${requestText(asked)} was recorded`;
    if (all.length === 0) return `${start}: the log holds no messages. Record with 'bodies'.`;
    if (recorded.length === 0) return `${start}, nor one to any other ${asked.method}.`;
    const texts = recorded.map(({ request }) => requestText(request));
    return `${start}. The nearest recorded request differs in ${differs.map((path) => `'${path}'`).join(', ')}. Recorded: ${listText(texts)}.`;
  }

  /** The recorded outcome of such a request; undefined if the log has none. */
  #planned(session: RecordedSession, method: string): RecordedOutcome<unknown> | undefined {
    if (method === 'initialize' || method === DISCOVER) return session.handshake;
    if (method === 'tools/list') return this.#take(session.tools, () => true) ?? session.tools.at(-1);
    return method === 'ping' ? this.#take(session.probes, () => true) : undefined;
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
  #take<T extends object>(from: readonly T[], fits: (each: T) => boolean): T | undefined {
    const next = from.find((each) => !this.#used.has(each) && fits(each));
    if (next !== undefined) this.#used.add(next);
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

function plainAnswer(session: RecordedSession, method: string, params: Params, value?: unknown): unknown {
  const { extras } = session;
  switch (method) {
    case 'initialize':
      return plainIdentity(session, params);
    case DISCOVER:
      return { supportedVersions: [NEW_VERSION], ...plainIdentity(session, params) };
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

function plainIdentity({ handshake }: RecordedSession, params: Params): object {
  const identity = handshake !== undefined && 'value' in handshake ? handshake.value : undefined;
  return {
    protocolVersion: identity?.protocolVersion || params['protocolVersion'],
    capabilities: identity?.capabilities ?? { tools: {} },
    serverInfo: identity?.info ?? NOBODY,
    ...(typeof identity?.instructions === 'string' && { instructions: identity.instructions }),
  };
}

function isOfNewEra(handshake: RecordedSession['handshake']): boolean {
  return handshake !== undefined && 'value' in handshake && eraOf(handshake.value?.protocolVersion) === 'new';
}

function many<T>(count: number | undefined, make: (number: number) => T): T[] {
  return Array.from({ length: count ?? 0 }, (_, index) => make(index + 1));
}

function entriesOf(log: string | URL | Uint8Array): readonly LogEntry[] {
  const bytes = readWhole(log);
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

/** Reads at once, so that a test need not wait. */
function readWhole(log: string | URL | Uint8Array): Uint8Array {
  if (typeof log === 'string' && isLogText(log)) return new TextEncoder().encode(log);
  if (log instanceof Uint8Array) return log;
  if (log instanceof URL || (typeof log === 'string' && log !== '')) return readFileSync(log);
  throw new TypeError('A log is given as its path, a file URL, its text or its bytes.');
}
