/**
 * The requests of a server that are being answered: who made it ask, and how each is taken back.
 */
import type { JSONRPCErrorResponse, JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../ports.js';
import type { InboundRequest } from './inbound.js';
import {
  INTERNAL_ERROR,
  METHOD_NOT_FOUND,
  RpcError,
  type Asked,
  type Cause,
  type JsonObject,
  type ProtocolClient,
  type RequestOrigin,
} from './protocol-client.js';

/** Requests of ours in the course of which no server asks anything. */
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

/** A request of ours without an answer. */
export interface Pending {
  /** A server may ask something in the course of it. */
  readonly canRaiseQuestions: boolean;
  readonly origin: RequestOrigin | undefined;
}

export class AskedRequests {
  readonly #cancelling = new Map<RequestId, AbortController>();

  /** The answer; undefined where nobody waits for it any more. `why` is what made the server ask. Never rejects. */
  async answer(
    { id, method, params }: InboundRequest,
    why: Omit<Asked, 'signal'>,
    onrequest: ProtocolClient['onrequest'],
  ): Promise<JSONRPCMessage | undefined> {
    const cancelling = new AbortController();
    const { signal } = cancelling;
    this.#cancelling.set(id, cancelling);
    const result = async (): Promise<JsonObject> => {
      // What takes it back may stand right behind it.
      await Promise.resolve();
      if (method === 'ping') return {};
      if (onrequest === undefined) throw new RpcError(METHOD_NOT_FOUND, 'Method not found', undefined);
      return onrequest(method, params, { signal, ...why });
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

  /** The session is over: nobody waits for any of them. */
  end(): void {
    for (const cancelling of this.#cancelling.values()) cancelling.abort();
    this.#cancelling.clear();
  }
}

/** The only one may be the cause for certain. A guess among several could put one caller's question to another. */
export function causedBy(pending: Iterable<Pending>, givenUp: readonly Cause[]): Omit<Asked, 'signal'> {
  const inWork = [...pending].filter((each) => each.canRaiseQuestions).map(({ origin }) => origin);
  const causes = inWork.length === 0 ? [] : [...inWork, ...givenUp];
  return { origin: causes.length === 1 ? causes[0] : undefined, causes };
}

const MOST_GIVEN_UP = 1_000;
/** Few servers work longer on what nobody waits for any more. */
const GOES_ON_MS = 600_000;

/** Requests of ours that nobody waits for any more and that the server has not answered: it may ask in their course. */
export class GivenUpRequests {
  /** By id, when each was given up; the oldest first. */
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
      if (this.#since.size <= MOST_GIVEN_UP) break;
      this.#since.delete(oldest);
    }
  }

  answered(id: number): void {
    this.#since.delete(id);
  }
}

/** Only what is meant for the server reaches it. */
function toAnswer(error: unknown): JSONRPCErrorResponse['error'] {
  if (!(error instanceof RpcError)) return { code: INTERNAL_ERROR, message: 'Internal error' };
  const { rpcCode: code, message, data } = error;
  return { code, message, ...(data === undefined ? {} : { data }) };
}
