/** The requests of a server that are being answered: which request of ours caused each, and how it is cancelled. */
import type { JSONRPCErrorResponse, JSONRPCMessage, RequestId } from '../mcp/messages.js';
import type { Clock } from '../ports.js';
import type { InboundRequest } from './inbound-message.js';
import type { JsonObject } from '../json/json-object.js';
import {
  INTERNAL_ERROR,
  METHOD_NOT_FOUND,
  RpcError,
  type Asked,
  type Cause,
  type ClientOwner,
  type RequestOrigin,
} from './protocol-client.js';

/** Requests of ours during which no server sends requests. */
const QUIET_METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
]);

export function canRaiseQuestions(method: string): boolean {
  return !QUIET_METHODS.has(method);
}

/** A request of ours that has no answer yet. */
export interface Pending {
  /** Whether the server may send requests during it. */
  readonly canRaiseQuestions: boolean;
  readonly origin: RequestOrigin | undefined;
}

export class InboundRequests {
  readonly #cancelling = new Map<RequestId, AbortController>();

  /**
   * Resolves with the answer, or with undefined if it is no longer needed. `why` is what made the server ask. Never
   * rejects.
   */
  async answer(
    { id, method, params }: InboundRequest,
    why: Omit<Asked, 'signal'>,
    owner: ClientOwner | undefined,
  ): Promise<JSONRPCMessage | undefined> {
    // Some servers also log their messages to stdout, so a request can arrive twice. An id is unique within a session.
    if (this.#cancelling.has(id)) return undefined;
    const cancelling = new AbortController();
    const { signal } = cancelling;
    this.#cancelling.set(id, cancelling);
    const result = async (): Promise<JsonObject> => {
      // The cancellation may be the next message.
      await Promise.resolve();
      if (method === 'ping') return {};
      if (owner?.onrequest === undefined) throw new RpcError(METHOD_NOT_FOUND, 'Method not found', undefined);
      return owner.onrequest(method, params, { signal, ...why });
    };
    const answer = await result().then(
      (given): JSONRPCMessage => ({ result: given, jsonrpc: '2.0', id }),
      (error: unknown): JSONRPCMessage => ({ jsonrpc: '2.0', id, error: toAnswer(error) }),
    );
    if (this.#cancelling.get(id) === cancelling) this.#cancelling.delete(id);
    return signal.aborted ? undefined : answer;
  }

  cancel(requestId: RequestId, reason: string | undefined): void {
    this.#cancelling.get(requestId)?.abort(reason);
  }

  /** Ends all of them with the session. */
  end(): void {
    for (const cancelling of this.#cancelling.values()) cancelling.abort();
    this.#cancelling.clear();
  }
}

/**
 * The origin is certain only if one request can be the cause. A guess among several could show one caller's question to
 * another.
 */
export function originOf(pending: Iterable<Pending>, givenUp: readonly Cause[]): Omit<Asked, 'signal'> {
  const inWork = [...pending].filter((each) => each.canRaiseQuestions).map(({ origin }) => origin);
  const causes = inWork.length === 0 ? [] : [...inWork, ...givenUp];
  return { origin: causes.length === 1 ? causes[0] : undefined, causes };
}

const MAX_GIVEN_UP = 1_000;
/** Few servers work longer on a request that was given up. */
const GOES_ON_MS = 600_000;

/** Requests of ours that were given up and not answered: the server may still send requests because of them. */
export class AbandonedRequests {
  /** When each was given up, by id; the oldest first. */
  readonly #since = new Map<number, { readonly at: number; readonly cause: Cause }>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  get causes(): readonly Cause[] {
    const now = this.clock.now();
    for (const [id, { at }] of this.#since) {
      if (now - at < GOES_ON_MS) break;
      this.#since.delete(id);
    }
    return [...this.#since.values()].map(({ cause }) => cause);
  }

  add(id: number, cause: Cause): void {
    this.#since.set(id, { at: this.clock.now(), cause });
    for (const oldest of this.#since.keys()) {
      if (this.#since.size <= MAX_GIVEN_UP) break;
      this.#since.delete(oldest);
    }
  }

  answered(id: number): void {
    this.#since.delete(id);
  }
}

/** Only the message of an `RpcError` is meant for the server; any other error becomes an internal error. */
function toAnswer(error: unknown): JSONRPCErrorResponse['error'] {
  if (!(error instanceof RpcError)) return { code: INTERNAL_ERROR, message: 'Internal error' };
  const { rpcCode: code, message, data } = error;
  return { code, message, ...(data === undefined ? {} : { data }) };
}
