/** What a client has said so far that its session depends on, so that another host can continue the session. */
import { isJsonObject } from '../../json/json-object.js';
import type { JSONRPCMessage, JSONRPCRequest } from '../../mcp/messages.js';

export type SessionWord = Pick<JSONRPCRequest, 'method' | 'params'>;

export class SessionWords {
  /** By what a later message replaces: one level of the log, one subscription for each resource. */
  readonly #words = new Map<string, SessionWord>();

  heard(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    const { method, params } = message;
    const uri = isJsonObject(params) ? String(params['uri']) : '';
    const word = { method, ...(params !== undefined && { params }) };
    if (method === 'resources/subscribe' && this.#words.size < MOST) this.#words.set(`resource ${uri}`, word);
    else if (method === 'resources/unsubscribe') this.#words.delete(`resource ${uri}`);
    else if (KEPT.has(method)) this.#words.set(method, word);
  }

  /** In the order in which they must be said; undefined if the session has not begun. */
  get all(): readonly SessionWord[] | undefined {
    return this.#words.has('initialize') ? [...this.#words.values()] : undefined;
  }
}

/** Further subscriptions do not move. */
const MOST = 1_000;
const KEPT: ReadonlySet<string> = new Set(['initialize', 'notifications/initialized', 'logging/setLevel']);
