/**
 * The clients of one HTTP service: where sessions begin, are found and end.
 *
 * S1. A session belongs to the subject that opened it and to the address it was opened at; for anybody and anywhere else
 *     there is none.
 * S2. It is forgotten when it ends, whoever ends it.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Clock, Logger } from '../ports.js';
import { doneWithin } from '../release.js';
import { messageOf } from '../thrown.js';
import { SHUTTING_DOWN } from './drain.js';
import type { Gateway, GatewaySession } from './gateway.js';
import type { Caller } from './http-access.js';
import { refuse, type Refused } from './http-answers.js';
import { HttpEventLog, type EventLogLimits } from './http-event-log.js';
import { HttpSession } from './http-session.js';

/** What a session is for: one server by its own names, or all of them. */
export interface Place {
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
  readonly maxSessions: number;
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

  find(id: string, { subject }: Caller, { path }: Place): HttpSession | undefined {
    const open = this.#open.get(id);
    return open?.subject === subject && open?.path === path ? open.http : undefined;
  }

  /** Why no session can be at that place; undefined where one can. */
  async whyNowhere({ server }: Place): Promise<Refused | undefined> {
    if (server === undefined) return undefined;
    let names: readonly string[] | undefined;
    try {
      names = await this.#ports.gateway.serverNames();
    } catch (error) {
      return { status: 503, error: messageOf(error) };
    }
    if (names === undefined || names.includes(server)) return undefined;
    const there = names.length === 0 ? 'There is none' : `These are there: ${names.join(', ')}`;
    return { status: 404, error: `There is no server called '${server}'. ${there}.` };
  }

  /** Begins a session with its first request. */
  async open(
    message: JSONRPCRequest,
    response: ServerResponse,
    { subject }: Caller,
    place: Place,
  ): Promise<void> {
    if (this.#isClosing) return refuse(response, { status: 503, error: SHUTTING_DOWN });
    const { gateway, clock, logger, events, maxSessions } = this.#ports;
    if (this.#open.size >= maxSessions) {
      const error = `There are ${maxSessions} sessions already: end one, or try again later.`;
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

  /** Ends one at the wish of its client. */
  async end(id: string): Promise<void> {
    const open = this.#open.get(id);
    await open?.gateway?.close();
    await open?.http.close();
  }

  /** Refuses what is new, waits so long for what is in flight, and ends them all. */
  async close(drainMs: number, hurried: Promise<void>): Promise<void> {
    this.#isClosing = true;
    const all = [...this.#open.values()];
    for (const { http } of all) http.conversation.refuseNew(SHUTTING_DOWN);
    const settled = Promise.all(all.map(({ http }) => http.conversation.settled()));
    if (drainMs > 0) await doneWithin(this.#ports.clock, drainMs, Promise.race([settled, hurried]));
    const pending = all.reduce((sum, { http }) => sum + http.conversation.pending, 0);
    if (pending > 0) this.#ports.logger.warn('Calls in flight are given up.', { pending });
    await Promise.all([...this.#open.keys()].map((id) => this.end(id)));
  }
}
