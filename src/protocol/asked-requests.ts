/**
 * The requests of a server that are being answered: who made it ask, and how each is taken back.
 */
import type { Request, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../ports.js';
import {
  INTERNAL_ERROR,
  RpcError,
  type JsonObject,
  type ProtocolClient,
  type RequestOrigin,
} from './protocol-client.js';
import type { Pending } from './tap.js';

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

/** What the SDK's engine tells of a request. */
interface Taken {
  readonly requestId: RequestId;
  readonly signal: AbortSignal;
}

export class AskedRequests {
  readonly #cancelling = new Map<RequestId, AbortController>();
  /** What made the server ask, by its message. */
  readonly #origins = new WeakMap<object, RequestOrigin>();

  /** `related` is the request of ours in whose course it came, where that is known. */
  heard(message: object, related: Pending | undefined): void {
    if (related?.origin !== undefined) this.#origins.set(message, related.origin);
  }

  async answer(
    request: Request,
    { requestId, signal }: Taken,
    onrequest: ProtocolClient['onrequest'],
  ): Promise<JsonObject> {
    const cancelling = new AbortController();
    const onAbort = (): void => cancelling.abort(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    this.#cancelling.set(requestId, cancelling);
    const asked = { signal: cancelling.signal, origin: this.#origins.get(request) };
    try {
      return (await onrequest?.(request.method, request.params ?? {}, asked)) ?? {};
    } catch (error) {
      throw toAnswer(error);
    } finally {
      if (this.#cancelling.get(requestId) === cancelling) this.#cancelling.delete(requestId);
    }
  }

  cancel(requestId: RequestId, reason: string | undefined): void {
    this.#cancelling.get(requestId)?.abort(reason);
  }
}

/** The one request that can have made the server ask. A guess could put one caller's question to another. */
export function onlyCause(pending: Iterable<Pending>): Pending | undefined {
  let only: Pending | undefined;
  for (const each of pending) {
    if (!each.canRaiseQuestions) continue;
    if (only !== undefined) return undefined;
    only = each;
  }
  return only;
}

const MOST_GIVEN_UP = 1_000;
/** Few servers work longer on what nobody waits for any more. */
const GOES_ON_MS = 600_000;

/** Requests of ours that nobody waits for any more and that the server has not answered: it may ask in their course. */
export class GivenUpRequests {
  /** By id, when each was given up; the oldest first. */
  readonly #since = new Map<number, number>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  get hasAny(): boolean {
    const now = this.clock.now();
    for (const [id, since] of this.#since) {
      if (now - since < GOES_ON_MS) break;
      this.#since.delete(id);
    }
    return this.#since.size > 0;
  }

  add(id: number): void {
    this.#since.set(id, this.clock.now());
    for (const oldest of this.#since.keys()) {
      if (this.#since.size <= MOST_GIVEN_UP) break;
      this.#since.delete(oldest);
    }
  }

  answered(id: number): void {
    this.#since.delete(id);
  }
}

/** As the engine takes it. Only what is meant for the server reaches it. */
function toAnswer(error: unknown): Error {
  if (!(error instanceof RpcError)) {
    return Object.assign(new Error('Internal error'), { code: INTERNAL_ERROR });
  }
  const { rpcCode: code, message, data } = error;
  return Object.assign(new Error(message), { code, data });
}
