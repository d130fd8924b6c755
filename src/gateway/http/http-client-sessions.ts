/**
 * The clients of one HTTP service: opens, finds and ends sessions.
 *
 * S1. A session belongs to the subject that opened it and to the address where it was opened; for any other subject or
 *     address it does not exist.
 * S2. A session is forgotten when it ends, whoever ends it.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Clock, Logger } from '../../ports.js';
import { settlesWithin } from '../../async/settles-within.js';
import { messageOf } from '../../text/error-message.js';
import { SHUTTING_DOWN } from '../drain.js';
import type { Gateway, GatewaySession } from '../gateway.js';
import type { Caller } from './http-access.js';
import { refuse, type Refused } from './http-answers.js';
import { HttpEventLog, type EventLogLimits } from './http-event-log.js';
import { HttpSession } from './http-client-session.js';

/** The servers of a session: one server with its own names, or all of them. */
export interface Route {
  readonly path: string;
  readonly server: string | undefined;
}

interface Open {
  readonly http: HttpSession;
  readonly subject: string | undefined;
  readonly path: string;
  gateway: GatewaySession | undefined;
}

export interface SessionPorts {
  readonly gateway: Pick<Gateway, 'connect' | 'serverNames'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventLogLimits | undefined;
  readonly maxHttpSessions: number;
}

export class HttpSessions {
  readonly #ports: SessionPorts;
  readonly #open = new Map<string, Open>();
  #isClosing = false;

  constructor(ports: SessionPorts) {
    this.#ports = ports;
  }

  get size(): number {
    return this.#open.size;
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
  async open(
    message: JSONRPCRequest,
    response: ServerResponse,
    { subject }: Caller,
    place: Route,
  ): Promise<void> {
    if (this.#isClosing) return refuse(response, { status: 503, error: SHUTTING_DOWN });
    const { gateway, clock, logger, events, maxHttpSessions } = this.#ports;
    if (this.#open.size >= maxHttpSessions) {
      const error = `There are ${maxHttpSessions} sessions already: end one, or try again later.`;
      return refuse(response, { status: 503, error, headers: { 'retry-after': '30' } });
    }
    const id = randomUUID();
    const log = new HttpEventLog(clock, events);
    const http = new HttpSession(id, { clock, log }, () => {
      this.#open.delete(id);
      logger.debug('A session has ended.', { path: place.path, sessions: this.#open.size });
    });
    const open: Open = { http, subject, path: place.path, gateway: undefined };
    this.#open.set(id, open);
    http.onerror = ({ message: text }) => logger.error(text);
    try {
      const about = place.server === undefined ? {} : { server: place.server };
      open.gateway = await gateway.connect(http, { ...about, endsWhenIdle: true });
    } catch (error) {
      await http.close();
      const text = messageOf(error);
      logger.warn('A session was refused.', { path: place.path, reason: text });
      return refuse(response, { status: 503, error: text });
    }
    http.initialize(message, response);
    logger.debug('A session has begun.', { path: place.path, sessions: this.#open.size });
  }

  /** Ends a session on request of its client. */
  async end(id: string): Promise<void> {
    const open = this.#open.get(id);
    await open?.gateway?.close();
    await open?.http.close();
  }

  /** Refuses new sessions and requests, waits up to the limit for those in flight, and ends all sessions. */
  async close(gracePeriodMs: number, hurried: Promise<void>): Promise<void> {
    this.#isClosing = true;
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
