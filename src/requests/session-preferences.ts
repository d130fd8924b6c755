/**
 * What hosts have requested from sessions, to restore it in a new session: subscriptions, and the level of log
 * messages. Kept for each server until it is removed.
 *
 * W1. A subscription is kept from the server's acceptance until it is withdrawn or its server is removed.
 * W2. Of two levels the later one counts, whether it was for one server or for all.
 * W3. A session is sent each preference once: it knows what it has accepted, and what was taken to be sent to it.
 */
import type { LoggingLevel } from '../mcp/session.js';
import type { Session } from '../sessions/sessions.js';

/** What must still be sent to a session. */
export interface Pending {
  readonly level: LoggingLevel | undefined;
  readonly uris: readonly string[];
}

interface Known {
  level: LoggingLevel | undefined;
  uris: ReadonlySet<string>;
}

const KNOWS_NOTHING: Readonly<Known> = { level: undefined, uris: new Set() };

export class SessionPreferences {
  readonly #subscriptions = new Map<string, Set<string>>();
  readonly #levels = new Map<string, LoggingLevel>();
  #levelOfAll: LoggingLevel | undefined;
  readonly #known = new WeakMap<Session, Known>();

  isSubscribed(server: string, uri: string): boolean {
    return this.#subscriptions.get(server)?.has(uri) === true;
  }

  /** The session has accepted it. */
  subscribed(session: Session, uri: string): void {
    const { name } = session.key;
    const uris = this.#subscriptions.get(name) ?? new Set();
    this.#subscriptions.set(name, uris.add(uri));
    const known = this.#knownOf(session);
    known.uris = new Set([...known.uris, uri]);
  }

  unsubscribe(server: string, uri: string): void {
    this.#subscriptions.get(server)?.delete(uri);
  }

  /** The session has accepted it. */
  levelSet(session: Session, level: LoggingLevel): void {
    this.#levels.set(session.key.name, level);
    this.#knownOf(session).level = level;
  }

  /** For every server, also for those that are not connected yet. */
  setLevelOfAll(level: LoggingLevel): void {
    this.#levels.clear();
    this.#levelOfAll = level;
  }

  /** What the session does not know yet; from now on it counts as known. Undefined if it knows everything. */
  takePending(session: Session): Pending | undefined {
    const { name } = session.key;
    const known = this.#known.get(session) ?? KNOWS_NOTHING;
    const wished = this.#levels.get(name) ?? this.#levelOfAll;
    const level = wished === known.level ? undefined : wished;
    const uris = [...(this.#subscriptions.get(name) ?? [])].filter((uri) => !known.uris.has(uri));
    if (wished !== known.level || uris.length > 0)
      this.#known.set(session, { level: wished, uris: new Set([...known.uris, ...uris]) });
    return level === undefined && uris.length === 0 ? undefined : { level, uris };
  }

  forget(server: string): void {
    this.#subscriptions.delete(server);
    this.#levels.delete(server);
  }

  #knownOf(session: Session): Known {
    const known = this.#known.get(session) ?? { ...KNOWS_NOTHING };
    this.#known.set(session, known);
    return known;
  }
}
