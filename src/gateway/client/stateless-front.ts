/**
 * Answers requests without a session (MCP 2026-07-28) for one client, or for everybody who sees the same through the same
 * connections.
 *
 * F1. `server/discover` starts nothing: hosts ask it of processes that they throw away.
 * F2. A state that a client brings back leads only to the request that it was given for, and only once.
 * F3. A log message goes only to a request that wants its level.
 */
import { asText } from '../../text/as-text.js';
import type { Implementation, LoggingLevel } from '../../mcp/session.js';
import { settlesWithin } from '../../async/timers.js';
import { isJsonObject, type JsonObject } from '../../json/json-object.js';
import type { Clock } from '../../ports.js';
import { mirroredArguments, type MirroredArgument } from '../../protocol/mirrored-headers.js';
import { RpcError } from '../../protocol/protocol-client.js';
import { LOG_LEVELS } from '../../requests/connection-requests.js';
import { NEW_VERSION } from '../../../machines/policy/protocol-era.js';
import type { Answers } from '../upstream/client-capabilities.js';
import { CAPABILITIES, type NotifiedList } from './client-catalog.js';
import { ChangeStream, interestIn } from './change-stream.js';
import { RPC } from './client-message.js';
import type { ClientRequest } from './client-request.js';
import { ELICITATION_NEEDED } from './client-requests.js';
import {
  DISCOVER,
  envelopeOf,
  isStatelessMethod,
  LISTEN,
  toStatelessResult,
  type Envelope,
} from './envelope.js';
import { CLOSED, ITSELF, toStatelessError, unknownMethod } from './error-answer.js';
import { HeldRequest, withoutId, type StatelessRequest } from './held-request.js';
import { headerMismatch } from './header-check.js';
import { STATUS_URI } from './server-outcomes.js';
import type { Serving } from './serving.js';

/** Most requests of a client that wait for it to come back. */
const MAX_HELD = 1_000;
/** How long the acknowledgement of a stream waits for the servers of its resources, milliseconds. */
const ACKNOWLEDGE_MS = 10_000;
/** MCP 2026-07-28, "Error Codes": the client lacks a capability. */
export const CAPABILITY_MISSING = -32_021;

export interface StatelessFrontParts {
  readonly clock: Clock;
  readonly serverInfo: Implementation;
  /** Whether a client with this `_meta` is the gateway itself. */
  readonly isSelf: (meta: unknown) => boolean;
  /** Milliseconds in which a client must come back with answers; 0 = no limit. */
  readonly questionTimeoutMs: number;
  readonly newState: () => string;
  /** Opens the view at the first call. Rejects with an `RpcError` if that is not possible. */
  readonly open: (answers: Answers) => Promise<Serving>;
  /** The instructions that are known without starting anything; may be empty. */
  readonly instructions: () => Promise<string>;
}

export class StatelessFront {
  readonly #parts: StatelessFrontParts;
  /** Requests in flight, and those that wait for their client. */
  readonly #requests = new Set<HeldRequest>();
  /** Those that wait for their client, by the state that it brings back. */
  readonly #held = new Map<string, HeldRequest>();
  readonly #streams = new Set<ChangeStream>();
  #serving: Serving | undefined;
  #stop: (() => void) | undefined;
  #level: LoggingLevel | undefined;

  constructor(parts: StatelessFrontParts) {
    this.#parts = parts;
  }

  /** Number of requests that wait for their client to come back. */
  get held(): number {
    return this.#held.size;
  }

  /** Rejects with an `RpcError`, or with an error of Troupe. */
  async answer(request: StatelessRequest): Promise<JsonObject> {
    const { method, params } = request;
    const envelope = envelopeOf(params);
    if (!isStatelessMethod(method)) throw unknownMethod(method);
    const result = await this.#result(request, envelope).catch((error: unknown) => {
      throw toStatelessError(error);
    });
    return toStatelessResult(method, result, this.#parts.serverInfo);
  }

  notifyUpdated(server: string, isOwn: boolean, params: JsonObject): void {
    const { uri } = params;
    if (typeof uri !== 'string' || this.#serving?.view.isOwn(server) !== isOwn) return;
    for (const stream of this.#streams) {
      const address = stream.subscriptions.addressOf(server, uri);
      if (address !== undefined) stream.updated({ ...params, uri: address });
    }
  }

  /** Passes on a log message that names no request, if a request wants it. */
  notifyLog(params: JsonObject): void {
    [...this.#requests].find((request) => request.wantsLog(params))?.notifyLog(params);
  }

  /** Answers the requests for changes: nothing more comes. */
  endStreams(): void {
    for (const stream of this.#streams) stream.end();
  }

  /** Ends everything. */
  close(): void {
    this.#stop?.();
    this.endStreams();
    for (const request of this.#requests) request.abandon(CLOSED);
  }

  #result(request: StatelessRequest, envelope: Envelope): Promise<JsonObject> {
    if (request.method === DISCOVER) return this.#discover(request.params);
    if (request.method === LISTEN) return this.#listen(request, envelope);
    const { requestState: state } = request.params;
    const held = typeof state === 'string' ? this.#held.get(state) : undefined;
    return held === undefined ? this.#begin(request, envelope) : held.resume(request, envelope);
  }

  async #discover({ _meta: meta }: JsonObject): Promise<JsonObject> {
    if (this.#parts.isSelf(meta)) throw ITSELF;
    const instructions = await this.#parts.instructions();
    return {
      supportedVersions: [NEW_VERSION],
      capabilities: CAPABILITIES,
      ...(instructions === '' ? {} : { instructions }),
    };
  }

  async #begin(request: StatelessRequest, envelope: Envelope): Promise<JsonObject> {
    const serving = await this.#serve(envelope.answers);
    const { headers } = request;
    const mismatch =
      request.method === 'tools/call' && headers !== undefined
        ? headerMismatch({ ...request, headers }, NEW_VERSION, mirroredBy(request.params['name'], serving))
        : undefined;
    if (mismatch !== undefined) throw mismatch;
    if (envelope.logLevel !== undefined) await this.#lower(envelope.logLevel, serving);
    if (request.givenUp.aborted) throw CLOSED;
    const { clock, questionTimeoutMs: limitMs } = this.#parts;
    const held = new HeldRequest(request, envelope, {
      clock,
      limitMs,
      keep: (one) => this.#keep(one),
      forget: (state) => void this.#held.delete(state),
    });
    this.#requests.add(held);
    const send = async (sent: ClientRequest): Promise<JsonObject> => {
      try {
        return await serving.requests.answer(sent);
      } catch (error) {
        return visitsFirst(sent, error);
      } finally {
        this.#requests.delete(held);
      }
    };
    return held.start(envelope, send);
  }

  #keep(held: HeldRequest): string {
    if (this.#held.size >= MAX_HELD)
      throw new RpcError(RPC.serverError, `${MAX_HELD} requests wait for answers already.`, {
        reason: 'too-many-questions',
      });
    const state = this.#parts.newState();
    this.#held.set(state, held);
    return state;
  }

  /** The servers have one level for all requests: the lowest that was ever asked for. */
  async #lower(level: LoggingLevel, { setLevel }: Serving): Promise<void> {
    if (this.#level !== undefined && LOG_LEVELS.indexOf(this.#level) <= LOG_LEVELS.indexOf(level)) return;
    this.#level = level;
    await setLevel(level);
  }

  async #listen(request: StatelessRequest, { answers }: Envelope): Promise<JsonObject> {
    const interest = interestIn(request.params);
    const { requests, furtherSubscriptions } = await this.#serve(answers);
    const stream = new ChangeStream(request, interest, furtherSubscriptions());
    const over = new Promise<void>((resolve) => {
      if (request.signal.aborted) resolve();
      else request.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.#streams.add(stream);
    try {
      const watched: string[] = [];
      const watching = interest.uris.map(async (uri) => {
        await requests.watch(uri, stream.subscriptions, { signal: request.signal });
        watched.push(uri);
      });
      const settled = Promise.race([Promise.allSettled(watching), over]);
      if (watching.length > 0) await settlesWithin(this.#parts.clock, ACKNOWLEDGE_MS, settled);
      if (!request.signal.aborted) stream.acknowledge([...watched]);
      await Promise.race([stream.ended, over]);
      return {};
    } finally {
      this.#streams.delete(stream);
      stream.subscriptions.close();
    }
  }

  async #serve(answers: Answers): Promise<Serving> {
    const serving = await this.#parts.open(answers);
    if (this.#serving === serving) return serving;
    this.#serving = serving;
    this.#stop?.();
    this.#stop = serving.offering.follow((changed) => this.#serversMoved(changed));
    return serving;
  }

  #serversMoved(changed: readonly NotifiedList[]): void {
    for (const stream of this.#streams) {
      stream.listsChanged(changed);
      stream.subscriptions.statusMoved(() => stream.updated({ uri: STATUS_URI }));
    }
  }
}

/** By tool: the arguments that are repeated in headers. Keyed by the list, which stays the same until it changes. */
const mirrored = new WeakMap<object, ReadonlyMap<string, readonly MirroredArgument[]>>();

function mirroredBy(name: unknown, { offering }: Serving): readonly MirroredArgument[] {
  const { tools } = offering.lists;
  const known =
    mirrored.get(tools) ??
    new Map(tools.map((tool) => [tool.name, mirroredArguments(tool.inputSchema) ?? []] as const));
  mirrored.set(tools, known);
  return known.get(asText(name)) ?? [];
}

/**
 * A server of the old era refuses a request until a person has visited some addresses: in the new era, these are questions.
 * A client that comes back sends the request again.
 */
function visitsFirst({ params, asked }: ClientRequest, error: unknown): JsonObject {
  const { rpcCode, data } = error as { readonly rpcCode?: number; readonly data?: unknown };
  const { elicitations } = isJsonObject(data) ? data : {};
  if (rpcCode !== ELICITATION_NEEDED || !Array.isArray(elicitations)) throw error;
  if (asked?.answers.elicitation?.url === undefined) {
    const requiredCapabilities = { elicitation: { url: {} } };
    throw new RpcError(CAPABILITY_MISSING, 'A person has to visit an address first.', {
      requiredCapabilities,
    });
  }
  const responses = Object.values((params['inputResponses'] ?? {}) as JsonObject);
  if (responses.some((response) => isJsonObject(response) && response['action'] !== 'accept'))
    throw new RpcError(RPC.serverError, 'The person has refused to visit the address.', {
      reason: 'declined',
    });
  const asks = elicitations.filter(isJsonObject).map((one, index) => {
    const visit = { mode: 'url', ...withoutId(one) };
    return [`visit-${index + 1}`, { method: 'elicitation/create', params: visit }] as const;
  });
  return { resultType: 'input_required', inputRequests: Object.fromEntries(asks) };
}
