/**
 * What the clients that share connections want of them, taken together: who is subscribed to what, and how talkative
 * servers are to be. A server is told when the first client wants something, and when none does any more.
 */
import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { LOG_LEVELS } from '../requests/connection-requests.js';

/** Who is subscribed to resources. */
export class SharedSubscriptions {
  /** By server and URI. */
  readonly #subscribers = new Map<string, Set<object>>();

  /** Counts from here on, so that nobody unsubscribes meanwhile. */
  add(server: string, uri: string, client: object): void {
    const key = keyOf(server, uri);
    this.#subscribers.set(key, (this.#subscribers.get(key) ?? new Set()).add(client));
  }

  /** Whether it was the last one, so that the server is to be told. */
  delete(server: string, uri: string, client: object): boolean {
    const key = keyOf(server, uri);
    const subscribers = this.#subscribers.get(key);
    if (subscribers?.delete(client) !== true || subscribers.size > 0) return false;
    return this.#subscribers.delete(key);
  }
}

/** How talkative the clients want servers to be. */
export class SharedLevels {
  readonly #wished = new Map<object, LoggingLevel>();
  #told: LoggingLevel | undefined;

  /** Gives the level that servers are to be told; undefined where it stays. */
  wish(client: object, level: LoggingLevel): LoggingLevel | undefined {
    this.#wished.set(client, level);
    return this.#change();
  }

  forget(client: object): LoggingLevel | undefined {
    return this.#wished.delete(client) ? this.#change() : undefined;
  }

  #change(): LoggingLevel | undefined {
    const most = LOG_LEVELS.find((level) => [...this.#wished.values()].includes(level));
    if (most === undefined || most === this.#told) return undefined;
    return (this.#told = most);
  }
}

/** Names of servers hold no NUL. */
function keyOf(server: string, uri: string): string {
  return `${server}\0${uri}`;
}
