/**
 * The clients of one HTTP service: opens, finds, moves and ends sessions. Longer than 300 lines because all of these change
 * the same registry.
 *
 * S1. A session belongs to the subject that opened it and to the address where it was opened; for any other subject or
 *     address it does not exist.
 * S2. A session is forgotten when it ends, whoever ends it.
 * S3. One subject cannot keep others out: at most `mostOfOne` sessions are its own. If the service is full, or the subject
 *     has its share, the session ends that has been unused for longest: of that subject, or of the one with the most
 *     sessions. Only if all of these are in use, a new one is refused.
 * S4. A session moves to another host only while none of its requests is in flight. New ones wait for that, and it stays if
 *     they would wait for too long.
 *     A session of another host, which uses a server here, never moves.
 * S5. A subject whose unread answers exceed `MAX_UNREAD` gets no more, until it has read some.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { JSONRPCRequest } from '../../mcp/messages.js';
import type { Clock, Logger } from '../../ports.js';
import { abortable } from '../../async/abort.js';
import { Semaphore } from '../../async/semaphore.js';
import { settlesWithin } from '../../async/timers.js';
import { isJsonObject } from '../../json/json-object.js';
import { messageOf } from '../../text/error-message.js';
import { SHUTTING_DOWN } from '../drain.js';
import type { Gateway, GatewaySession } from '../gateway.js';
import type { Caller } from './http-access.js';
import { isRefused, refuse, type Refused } from './http-answers.js';
import { HttpEventLog, type EventLogLimits } from './http-event-log.js';
import { HttpSession, type StreamPositions } from './http-client-session.js';
import type { Bring, FleetSessions } from './fleet-sessions.js';
import { hostOfSession } from './session-id.js';
import { SessionWords } from './session-words.js';

/** The servers of a session: one server with its own names, or all of them. */
export interface Route {
  readonly path: string;
  readonly server: string | undefined;
}

interface Open {
  readonly http: HttpSession;
  readonly subject: string | undefined;
  /** Another host has opened it, for itself. */
  readonly isHost: boolean;
  readonly path: string;
  readonly server: string | undefined;
  gateway: GatewaySession | undefined;
  /** It ends for a new one, and no longer counts. */
  isEnding: boolean;
  /** Resolves when it has moved to another host, or stays. */
  moving: Promise<void> | undefined;
}

/** A session as it goes from one host to another. */
interface Snapshot extends NonNullable<HttpSession['continuation']> {
  readonly id: string;
  readonly subject?: string;
  readonly place: Route;
}

interface Moving {
  readonly bring: Bring;
  readonly turns: Semaphore;
  readonly signal: AbortSignal;
}

export interface SessionPorts {
  readonly gateway: Pick<Gateway, 'connect' | 'serverNames'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventLogLimits | undefined;
  readonly maxHttpSessions: number;
  /** Most sessions of one subject. */
  readonly mostOfOne: number;
  /** Undefined without other hosts. */
  readonly fleet: FleetSessions | undefined;
}

/** Nothing has happened yet, so a proxy may pass the request to another process. */
const DRAINING: Refused = { status: 503, error: SHUTTING_DOWN, headers: { 'retry-after': '1' } };
const NO_SNAPSHOT: Refused = { status: 400, error: 'This is no session.' };
/** Sessions that move at the same time. */
const MOVING_AT_ONCE = 16;
/** Unread bytes of all sessions of one subject. */
const MAX_UNREAD = 64 * 1_024 * 1_024;

export class HttpSessions {
  readonly #ports: SessionPorts;
  readonly #open = new Map<string, Open>();
  #isDraining = false;

  constructor(ports: SessionPorts) {
    this.#ports = ports;
    ports.fleet?.bindSessions((host) => this.#hasSessionsOf(host));
  }

  get size(): number {
    return this.#open.size;
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  /** Resolves when the session has moved to another host, or stays; undefined if it is not about to move. */
  moving(id: string): Promise<void> | undefined {
    return this.#open.get(id)?.moving;
  }

  find(id: string, { subject }: Caller, { path }: Route): HttpSession | undefined {
    const open = this.#open.get(id);
    return open?.subject === subject && open?.path === path ? open.http : undefined;
  }

  /** Why there can be no session at that address; undefined if there can. */
  async whyNowhere({ server }: Route): Promise<Refused | undefined> {
    if (server === undefined) return undefined;
    let names: readonly string[] | undefined;
    try {
      names = await this.#ports.gateway.serverNames();
    } catch (error) {
      return { status: 503, error: messageOf(error) };
    }
    if (names === undefined || names.includes(server)) return undefined;
    const there = names.length === 0 ? 'There is none' : `Servers: ${names.join(', ')}`;
    return { status: 404, error: `There is no server called '${server}'. ${there}.` };
  }

  /** Opens a session with its first request. */
  async open(message: JSONRPCRequest, response: ServerResponse, caller: Caller, place: Route): Promise<void> {
    const { fleet } = this.#ports;
    const opened = await this.#begin(fleet?.newId() ?? randomUUID(), caller, place);
    if (isRefused(opened)) return refuse(response, opened);
    opened.initialize(message, response);
    this.#ports.logger.debug('A session has begun.', { path: place.path, sessions: this.#open.size });
  }

  /** Continues a session of another host; the refusal if that is not possible. */
  async continue(value: unknown): Promise<Refused | undefined> {
    if (!isJsonObject(value) || typeof value['id'] !== 'string') return NO_SNAPSHOT;
    const { id, subject, place, words, positions } = value as unknown as Snapshot;
    // An earlier attempt to bring it may have arrived.
    await this.end(id);
    const opened = await this.#begin(id, { subject }, place, positions);
    if (isRefused(opened)) return opened;
    try {
      await opened.repeat(words);
    } catch (error) {
      await this.end(id);
      return { status: 503, error: messageOf(error) };
    }
    this.#ports.logger.debug('A session came from another host.', { path: place.path });
    return undefined;
  }

  async #begin(
    id: string,
    { subject, isHost = false }: Caller,
    place: Route,
    positions?: StreamPositions,
  ): Promise<HttpSession | Refused> {
    if (this.#isDraining && !isHost) return DRAINING;
    const { gateway, clock, logger, events, fleet } = this.#ports;
    const full = this.#makeRoom(subject);
    if (full !== undefined) return full;
    const log = new HttpEventLog(clock, events);
    const isOverfed = (): boolean => this.#unreadOf(subject) > MAX_UNREAD;
    const words = fleet && new SessionWords();
    const http = new HttpSession(id, { clock, log, isOverfed, words, positions }, () => {
      this.#open.delete(id);
      if (!this.#isDraining && !this.#hasSessionsOf(hostOfSession(id))) void fleet?.forget(id);
      logger.debug('A session has ended.', { path: place.path, sessions: this.#open.size });
    });
    const open: Open = {
      http,
      subject,
      isHost,
      path: place.path,
      server: place.server,
      gateway: undefined,
      isEnding: false,
      moving: undefined,
    };
    this.#open.set(id, open);
    http.onerror = ({ message: text }) => logger.error(text);
    try {
      const about = {
        ...(place.server !== undefined && { server: place.server }),
        ...(subject !== undefined && { subject }),
      };
      open.gateway = await gateway.connect(http, { ...about, endsWhenIdle: true });
    } catch (error) {
      await http.close();
      const text = messageOf(error);
      logger.warn('A session was refused.', { path: place.path, reason: text });
      return { status: 503, error: text };
    }
    return http;
  }

  /** Brings the sessions to other hosts, each as soon as none of its requests is in flight; up to the limit. */
  async moveAll(limitMs: number, hurried: Promise<void>): Promise<void> {
    const { clock, fleet } = this.#ports;
    if (fleet === undefined) return;
    const turns = new Semaphore(() => MOVING_AT_ONCE);
    const over = new AbortController();
    const timer = clock.setTimeout(() => over.abort(), limitMs);
    void hurried.then(() => over.abort());
    const ofClients = (): [string, Open][] => [...this.#open].filter(([, { isHost }]) => !isHost);
    const ids = ofClients().map(([id]) => id);
    await fleet.moveAll(ids, async (bring) => {
      const all = ofClients().map(async ([id, open]) => {
        open.moving = this.#move(id, open, { bring, turns, signal: over.signal }).catch(() => {});
        await open.moving;
        open.moving = undefined;
      });
      await Promise.all(all);
    });
    clock.clearTimeout(timer);
  }

  async #move(
    id: string,
    { http, subject, path, server }: Open,
    { bring, turns, signal }: Moving,
  ): Promise<void> {
    await abortable(http.conversation.settled(), signal);
    await turns.take(signal);
    try {
      const { continuation } = http;
      if (continuation === undefined) return;
      const place: Route = { path, server };
      const snapshot: Snapshot = { id, ...(subject !== undefined && { subject }), place, ...continuation };
      if (!(await bring(id, snapshot))) return;
      // One that had come before the session was about to move.
      await abortable(http.conversation.settled(), signal).catch(() => {});
      await this.end(id);
    } finally {
      turns.leave();
    }
  }

  #hasSessionsOf(host: string | undefined): boolean {
    return [...this.#open.keys()].some((id) => hostOfSession(id) === host);
  }

  /** See S3. The refusal if there is no room. */
  #makeRoom(subject: string | undefined): Refused | undefined {
    const { maxHttpSessions, mostOfOne, logger } = this.#ports;
    const counting = [...this.#open.values()].filter(({ isEnding }) => !isEnding);
    const isOwn = (open: Open): boolean => open.subject === subject;
    const hasShare = counting.filter(isOwn).length >= mostOfOne;
    if (!hasShare && counting.length < maxHttpSessions) return undefined;
    const crowded = hasShare ? subject : mostPresent(counting);
    const unused = counting.flatMap((open) => {
      const since = open.subject === crowded ? open.http.unusedSince : undefined;
      return since === undefined ? [] : [{ open, since }];
    });
    const [oldest] = unused.toSorted((a, b) => a.since - b.since);
    if (oldest !== undefined) {
      oldest.open.isEnding = true;
      logger.warn('A session was ended for a new one.', { path: oldest.open.path });
      void this.end(oldest.open.http.sessionId);
      return undefined;
    }
    const error = `There are ${this.#open.size} sessions already: end one, or try again later.`;
    return { status: 503, error, headers: { 'retry-after': '30' } };
  }

  #unreadOf(subject: string | undefined): number {
    let bytes = 0;
    for (const open of this.#open.values()) if (open.subject === subject) bytes += open.http.unread;
    return bytes;
  }

  /** Ends a session on request of its client. */
  async end(id: string): Promise<void> {
    const open = this.#open.get(id);
    await open?.gateway?.close();
    await open?.http.close();
  }

  /** Refuses new sessions. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Refuses new sessions and requests, waits up to the limit for those in flight, and ends all sessions. */
  async close(gracePeriodMs: number, hurried: Promise<void>): Promise<void> {
    this.drain();
    const all = [...this.#open.values()];
    for (const { http } of all) http.conversation.refuseNew(SHUTTING_DOWN);
    const settled = Promise.all(all.map(({ http }) => http.conversation.settled()));
    if (gracePeriodMs > 0)
      await settlesWithin(this.#ports.clock, gracePeriodMs, Promise.race([settled, hurried]));
    const pending = all.reduce((sum, { http }) => sum + http.conversation.pending, 0);
    if (pending > 0) this.#ports.logger.warn('Calls in flight were aborted.', { pending });
    await Promise.all([...this.#open.keys()].map((id) => this.end(id)));
  }
}

/** The subject with the most sessions. */
function mostPresent(sessions: readonly Open[]): string | undefined {
  const counts = new Map<string | undefined, number>();
  for (const { subject } of sessions) counts.set(subject, (counts.get(subject) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}
