/**
 * The combined wishes of the clients that share connections: subscriptions and log levels. A server is notified of the
 * first subscriber and of the end of the last one.
 */
import type { LoggingLevel } from '../../mcp/session.js';
import { LOG_LEVELS } from '../../requests/connection-requests.js';

/** The subscribers of resources. */
export class SharedSubscriptions {
  /** By server and URI. */
  readonly #subscribers = new Map<string, Set<object>>();

  /** Counts the client from now on, so that nobody unsubscribes meanwhile. */
  add(server: string, uri: string, client: object): void {
    const key = keyOf(server, uri);
    this.#subscribers.set(key, (this.#subscribers.get(key) ?? new Set()).add(client));
  }

  /** Whether it was the last subscriber, so that the server must be notified. */
  delete(server: string, uri: string, client: object): boolean {
    const key = keyOf(server, uri);
    const subscribers = this.#subscribers.get(key);
    if (subscribers?.delete(client) !== true || subscribers.size > 0) return false;
    return this.#subscribers.delete(key);
  }
}

/** The log levels that clients requested. */
export class SharedLevels {
  readonly #wished = new Map<object, LoggingLevel>();
  #current: LoggingLevel | undefined;

  /** Returns the new level for the servers; undefined if it stays the same. */
  setLevel(client: object, level: LoggingLevel): LoggingLevel | undefined {
    this.#wished.set(client, level);
    return this.#change();
  }

  forget(client: object): LoggingLevel | undefined {
    return this.#wished.delete(client) ? this.#change() : undefined;
  }

  #change(): LoggingLevel | undefined {
    const most = LOG_LEVELS.find((level) => [...this.#wished.values()].includes(level));
    if (most === undefined || most === this.#current) return undefined;
    return (this.#current = most);
  }
}

/** Names of servers hold no NUL. */
function keyOf(server: string, uri: string): string {
  return `${server}\0${uri}`;
}
