/**
 * The sessions of a gateway that has replicas: which host has one, and how a request gets there. Loaded only with a fleet.
 *
 * L1. A request that another host handed on is answered here or with status 421; it is never handed on again.
 * L2. Both hosts check the client's token. `Host` and `Origin` are checked where the client comes in: a signed request has
 *     passed that.
 * L3. A host that nobody listens at, or that is no longer in the fleet, has no sessions: 404, so that clients begin anew. A host that
 *     cannot be reached may still have them: 503, and nothing was sent.
 * L4. A host that drains hands new sessions, and requests without a session, on to a host that is up. Its own sessions move
 *     to the hosts that are up.
 *     A host that uses a server here gets answers until the service closes, and status 421 after that.
 * L5. A host that leaves keeps its port open until other hosts have been quiet: a request that arrives on a connection while
 *     it closes has an unknown outcome.
 *
 * Longer than 300 lines because every way of a request to another host is decided here.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FleetHost } from '../../fleet/hosts.js';
import { SealedEntries } from '../../fleet/sealed-entries.js';
import { USE_SERVER } from '../../fleet/signed-exchange.js';
import { NOT_HERE, requestKeys, SIGNATURE_HEADER } from '../../fleet/signed-request.js';
import type { Fleet } from '../../fleet/stores.js';
import { settlesWithin } from '../../async/timers.js';
import { isJsonObject } from '../../json/json-object.js';
import type { JSONRPCRequest, RequestId } from '../../mcp/messages.js';
import type { Clock, Logger } from '../../ports.js';
import { messageOf } from '../../text/error-message.js';
import { RPC, rpcError } from '../client/client-message.js';
import { hostOfState } from '../client/request-state.js';
import { EndedMoves } from './ended-moves.js';
import { FleetRequests } from './fleet-requests.js';
import { HandOver, passedHeaders, type Passed, type Peer } from './hand-over.js';
import type { Caller } from './http-access.js';
import { answerJson, refuse, type Refused } from './http-answers.js';
import { SESSION_OVER } from './http-client-session.js';
import { MovedSessions } from './moved-sessions.js';
import { hostOfSession, SESSIONS_PATH, toSessionId } from './session-id.js';

const MISSING_HERE: Refused = { status: NOT_HERE, error: 'The session is not on this host.' };
const GIVEN_UP: Refused = { status: NOT_HERE, error: 'This host is about to give the server up.' };
const OUT_OF_REACH: Refused = {
  status: 503,
  error: 'The host of the session cannot be reached. Nothing was sent.',
  headers: { 'retry-after': '1' },
};
const CHANGED: Refused = { status: 403, error: 'The signature of the fleet is refused: changed.' };
const NO_BODY: Uint8Array = new Uint8Array();
/** Time without a request of another host after which all of them know where the sessions have gone, milliseconds. */
const QUIET_MS = 500;
/** Hosts that are asked one after the other to take a new session. */
const MOST_TRIES = 3;

/** A request of a client whose access was checked. */
export interface PassableRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface FleetSessionsParts {
  readonly fleet: Fleet;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class FleetSessions {
  readonly #fleet: Fleet;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #requests: FleetRequests;
  readonly #handOver: HandOver;
  readonly #moved: MovedSessions;
  readonly #endedMoves: EndedMoves;
  readonly #stop: () => void;
  #hosts: ReadonlyMap<string, FleetHost> = new Map();
  #hasSessionsOf: (origin: string) => boolean = () => true;
  #turn = 0;
  #givesServersUp = false;
  /** When another host handed a request on last, milliseconds since the epoch. */
  #askedAt = 0;

  constructor({ fleet, clock, logger }: FleetSessionsParts) {
    const { engine, hosts, key } = fleet;
    const keys = requestKeys(key);
    this.#fleet = fleet;
    this.#clock = clock;
    this.#logger = logger;
    this.#requests = new FleetRequests(keys, hosts.self, clock);
    this.#handOver = new HandOver({ self: hosts.self, keys, clock });
    this.#moved = new MovedSessions(new SealedEntries(engine, key), hosts.self);
    this.#endedMoves = new EndedMoves({
      ...{ engine, key, clock, self: hosts.self },
      hosts: () => this.#hosts,
      hasSessionsOf: (origin) => this.#hasSessionsOf(origin),
      forget: (origin) => this.#moved.forget(origin),
    });
    this.#stop = hosts.watch((now) => {
      this.#hosts = now;
      void this.#giveUpLost();
    });
  }

  /** `hasSessionsOf` says whether a session that began at a host is here. */
  bindSessions(hasSessionsOf: (origin: string) => boolean): void {
    this.#hasSessionsOf = hasSessionsOf;
  }

  newId(): string {
    return toSessionId(this.#fleet.hosts.self, randomUUID());
  }

  /** Why a request that claims to come from another host is refused; undefined if it is accepted, or claims nothing. */
  receive(request: IncomingMessage, path: string): Refused | undefined {
    const isOfHosts = path === SESSIONS_PATH;
    const { [SIGNATURE_HEADER]: signature } = request.headers;
    const isSigned = signature !== undefined && !path.startsWith('/fleet/');
    if (!isOfHosts && !isSigned) return undefined;
    // What it claims decides only what is verified.
    const isUse = path.startsWith('/servers/') && String(signature).includes(`;${USE_SERVER};`);
    // A host that uses a server here asks until the lease has another holder.
    if (!isUse) this.#askedAt = this.#clock.now();
    const refused = this.#requests.receive(request, isOfHosts ? 'move' : isUse ? USE_SERVER : 'pass');
    if (refused !== undefined) this.#logger.warn('A signed request was refused.', { reason: refused.error });
    return refused;
  }

  /** The caller, if another host uses a server here that runs once in the fleet. */
  userOf(request: IncomingMessage): Caller | undefined {
    const host = this.#requests.userOf(request);
    return host === undefined ? undefined : { subject: `host ${host}`, isHost: true };
  }

  /** From now on, requests of hosts that use a server here are refused: the server is about to run elsewhere. */
  giveServersUp(): void {
    this.#givesServersUp = true;
  }

  /** Why a request of a host that uses a server here is refused; undefined if it is accepted, or is another one. */
  whyGivenUp(request: IncomingMessage): Refused | undefined {
    return this.#givesServersUp && this.#requests.userOf(request) !== undefined ? GIVEN_UP : undefined;
  }

  /** Whether another host has sent it. */
  isPassedOn(request: IncomingMessage): boolean {
    return this.#requests.isSigned(request);
  }

  /** Why the body of a signed request is refused; undefined if it is accepted. */
  whyNotIntact(request: IncomingMessage, body: Uint8Array): Refused | undefined {
    return this.#requests.isIntact(request, body) ? undefined : CHANGED;
  }

  /** Answers a request for a session that is not here. False if it may have come here by now. */
  async answerElsewhere(
    { request, response }: PassableRequest,
    id: string,
    body?: Uint8Array,
  ): Promise<boolean> {
    if (this.#requests.userOf(request) !== undefined) return false;
    const { self } = this.#fleet.hosts;
    const origin = hostOfSession(id);
    if (origin === undefined) return false;
    if (this.#requests.isSigned(request)) {
      refuse(response, MISSING_HERE);
      return true;
    }
    const passed = toPassed(request, body);
    const tried = new Set<string>();
    const known = (): string | undefined => this.#moved.known(id);
    const found = (): Promise<string | undefined> => this.#moved.find(id);
    // Most sessions of a host that drains have moved.
    const isUp = this.#hosts.get(origin)?.state === 'up';
    const places = isUp ? [known, () => origin, found] : [known, found, () => origin, found];
    let isOutOfReach = false;
    for (const placeOf of places) {
      const host = await placeOf();
      if (host === undefined || tried.has(host)) continue;
      tried.add(host);
      if (host === self) continue;
      const outcome = await this.#pass(host, passed, response);
      if (outcome === 'answered' || response.destroyed) return true;
      if (outcome === 'out-of-reach') isOutOfReach = true;
    }
    if (tried.has(self)) return false;
    refuse(response, isOutOfReach ? OUT_OF_REACH : SESSION_OVER);
    return true;
  }

  /** While this host drains: hands on what any host can answer, to one that is up. False if there is none. */
  async passToAny({ request, response }: PassableRequest, body: Uint8Array): Promise<boolean> {
    if (this.#requests.isSigned(request)) {
      refuse(response, MISSING_HERE);
      return true;
    }
    const passed = toPassed(request, body);
    for (const peer of this.#others().slice(0, MOST_TRIES)) {
      const outcome = await this.#handOver.pass(peer, passed, response);
      if (outcome === 'answered' || response.destroyed) return true;
    }
    return false;
  }

  /**
   * Hands on a request without a session that continues one which another host holds. False if it continues none, or one of
   * this host.
   */
  async passContinued(
    { request, response }: PassableRequest,
    message: unknown,
    body: Uint8Array,
  ): Promise<boolean> {
    const { id, params } = (isJsonObject(message) ? message : {}) as Partial<JSONRPCRequest>;
    const { key, hosts } = this.#fleet;
    const host = isJsonObject(params) ? hostOfState(key, params['requestState']) : undefined;
    if (host === undefined || host === hosts.self || this.#requests.isSigned(request)) return false;
    const outcome = await this.#pass(host, toPassed(request, body), response);
    if (outcome === 'answered' || response.destroyed) return true;
    if (outcome === 'out-of-reach') refuse(response, OUT_OF_REACH);
    else answerJson(response, 502, lostContinuation(id ?? null));
    return true;
  }

  /** Whether this host continues that request without a session itself. */
  isHeldHere(message: unknown): boolean {
    const params = isJsonObject(message) ? message['params'] : undefined;
    const { key, hosts } = this.#fleet;
    return isJsonObject(params) && hostOfState(key, params['requestState']) === hosts.self;
  }

  /**
   * Brings sessions to other hosts: calls `move` with a function that brings one, whose result says whether another host
   * has it now. Does nothing if no other host is up.
   */
  async moveAll(ids: readonly string[], move: (bring: Bring) => Promise<void>): Promise<void> {
    const others = this.#others().map(({ id }) => id);
    if (others.length === 0 || ids.length === 0) return;
    try {
      const origins = new Set(ids.flatMap((id) => hostOfSession(id) ?? []));
      for (const origin of origins) await this.#moved.plan(origin, others);
      await move((id, snapshot) => this.#bring(id, snapshot));
    } catch (error) {
      this.#logger.warn('The sessions cannot move to other hosts.', { reason: messageOf(error) });
    }
  }

  /** None of the sessions that began at that host is here any more. */
  async forget(id: string): Promise<void> {
    const origin = hostOfSession(id);
    if (origin === undefined || origin === this.#fleet.hosts.self) return;
    // An entry that stays leads to a host that says that it has no such session.
    await this.#moved.forget(origin).catch(() => {});
  }

  /** Resolves when no other host hands requests on any more, at the latest after that time or when `hurried` resolves. */
  async quiet(limitMs: number, hurried: Promise<void>): Promise<void> {
    const { self } = this.#fleet.hosts;
    if (![...this.#hosts.keys()].some((host) => host !== self)) return;
    const since = this.#clock.now();
    for (;;) {
      const now = this.#clock.now();
      const quietAt = Math.max(since, this.#askedAt) + QUIET_MS;
      const leftMs = Math.min(quietAt, since + limitMs) - now;
      if (leftMs <= 0 || (await settlesWithin(this.#clock, leftMs, hurried))) return;
    }
  }

  /** Resolves when every request that was handed on is answered. Streams that clients opened with GET do not count. */
  settled(): Promise<unknown> {
    return this.#handOver.settled();
  }

  close(): void {
    this.#stop();
    this.#endedMoves.close();
    this.#handOver.close();
  }

  async #bring(id: string, snapshot: object): Promise<boolean> {
    const taker = this.#moved.known(id) ?? '';
    const address = await this.#fleet.hosts.addressOf(taker).catch(() => undefined);
    if (address === undefined) return false;
    const body = Buffer.from(JSON.stringify(snapshot));
    const headers = { 'content-type': 'application/json' };
    const passed = { purpose: 'move', method: 'POST', path: SESSIONS_PATH, headers, body };
    const status = await this.#handOver.ask({ id: taker, address }, passed);
    if (status !== 200)
      this.#logger.warn('A session could not move.', { host: taker, status: status ?? 'none' });
    return status === 200;
  }

  async #pass(host: string, passed: Passed, response: ServerResponse): ReturnType<HandOver['pass']> {
    // While the engine is gone, an unknown host may be there.
    const address = await this.#fleet.hosts.addressOf(host).catch(() => null);
    if (address === undefined) return 'not-there';
    return address === null ? 'out-of-reach' : this.#handOver.pass({ id: host, address }, passed, response);
  }

  /** The hosts that take sessions, each in its turn first. */
  #others(): readonly Peer[] {
    const { self } = this.#fleet.hosts;
    let hosts = this.#hosts;
    // Of changes, a watch hears a little later.
    this.#fleet.hosts.watch((now) => {
      hosts = now;
    })();
    const peers = [...hosts.values()].flatMap(({ id, address, state }) =>
      id !== self && state === 'up' && address !== undefined ? [{ id, address }] : [],
    );
    this.#turn += 1;
    const first = this.#turn % Math.max(peers.length, 1);
    return [...peers.slice(first), ...peers.slice(0, first)];
  }

  async #giveUpLost(): Promise<void> {
    for (const host of [...this.#handOver.awaited]) {
      if (this.#hosts.has(host)) continue;
      // An engine that lost its data has no entries, and the hosts are there.
      const address = await this.#fleet.hosts.addressOf(host).catch(() => null);
      if (address === undefined) this.#handOver.giveUp(host);
    }
  }
}

/** Brings a session to another host. Whether that has it now. */
export type Bring = (id: string, snapshot: object) => Promise<boolean>;

function toPassed({ method = '', url = '', headers }: IncomingMessage, body = NO_BODY): Passed {
  return { purpose: 'pass', method, path: url, headers: passedHeaders(headers), body };
}

function lostContinuation(id: RequestId | null): object {
  const error = 'The host that held this request is gone: whether the request was carried out is unknown.';
  return rpcError(id, RPC.serverError, error, { code: 'outcome-unknown' });
}
