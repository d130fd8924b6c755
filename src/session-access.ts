/**
 * The way to a session that can carry a request: waits for it, wakes a connection that rests, asks one that is out of
 * attempts for one more, and says why there is none. Keeps no lifecycle state: what it says, it reads from the chart.
 */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { ConnectionFact } from '../machines/connection.events.js';
import { toFailure } from '../machines/policy/failure.js';
import { verdict } from '../machines/verdict.js';
import type { CallRoute } from './calls/call.js';
import { CallTurns } from './calls/call-turns.js';
import type { ConnectionPorts } from './connection.js';
import { AuthRequiredError, NotReadyError, TrustRequiredError } from './errors.js';
import { failureError } from './failure-error.js';
import { isSettled, type StatePath } from './lifecycle/state-path.js';
import type { Session } from './sessions.js';

/** What is asked of the connection itself. */
interface Approached {
  readonly name: string;
  readonly path: StatePath;
  /** Commands that would be accepted now. */
  readonly allowed: readonly string[];
}

type AccessPorts = Pick<
  ConnectionPorts,
  'publisher' | 'calls' | 'ref' | 'session' | 'crash' | 'tools' | 'maxConcurrentCalls'
>;

export class SessionAccess implements CallRoute {
  readonly server: string;
  readonly turns: CallTurns;
  readonly #ports: AccessPorts;
  readonly #connection: Approached;
  readonly #start: () => void;

  constructor(ports: AccessPorts, connection: Approached, start: () => void) {
    this.server = connection.name;
    this.turns = new CallTurns(() => ports.maxConcurrentCalls(connection.name));
    this.#ports = ports;
    this.#connection = connection;
    this.#start = start;
  }

  session(): Session | undefined {
    const session = this.#connection.path.state === 'ready' ? this.#ports.session(this.server) : undefined;
    return session?.isUsable === true ? session : undefined;
  }

  /** Resolves when there is one. Nobody is asked for one more attempt. */
  async ready(signal: AbortSignal | undefined): Promise<void> {
    await this.#next(signal, false);
  }

  nextSession(signal: AbortSignal): Promise<Session> {
    return this.#next(signal, true);
  }

  tools(): readonly Tool[] {
    return this.#ports.tools(this.server);
  }

  trouble(): Error | undefined {
    const failure = this.#ports.ref(this.server)?.getSnapshot().context.failure ?? undefined;
    return failure === undefined ? undefined : failureError(failure, this.server);
  }

  outlook(): string {
    const snapshot = this.#ports.ref(this.server)?.getSnapshot();
    const waiting = this.#callWaiting();
    if (snapshot === undefined || verdict(snapshot, waiting) !== 'guarded') return '';
    const { failure, policy } = snapshot.context;
    const waitMs = (failure?.at ?? 0) + policy.exhausted.callAfterMs - waiting.at;
    return ` A call in ${Math.ceil(waitMs / 1_000)} s, or later, tries again.`;
  }

  /** Why the connection is settled, and not as ready. */
  whyNot(): Error {
    const { server } = this;
    const path = this.#connection.path;
    const failure =
      this.#ports.crash(this.server) ?? this.#ports.ref(this.server)?.getSnapshot().context.failure;
    if (path.substate === 'awaitingTrust') {
      return new TrustRequiredError(`'${server}' waits for approval before anything of it is started.`, {
        server,
      });
    }
    if (path.substate === 'authorizing') return new AuthRequiredError(toFailure(failure), { server });
    if (path.state === 'failed') return failureError(toFailure(failure), server);
    return new NotReadyError(`'${server}' is ${path.state}.`, { server });
  }

  async #next(signal: AbortSignal | undefined, isForCall: boolean): Promise<Session> {
    let mayAsk = isForCall;
    for (;;) {
      if (this.#canBeWoken()) this.#start();
      await this.#ports.publisher.until(() => this.session() !== undefined || this.#isAway(), signal);
      const session = this.session();
      if (session !== undefined) return session;
      if (!this.#isAway() || this.#connection.path.substate === 'dormant') continue;
      if (!mayAsk || !this.#askForOneMore()) throw this.whyNot();
      mayAsk = false;
    }
  }

  /** Whether the connection makes one more attempt for a call. */
  #askForOneMore(): boolean {
    const ref = this.#ports.ref(this.server);
    const waiting = this.#callWaiting();
    if (ref === undefined || verdict(ref.getSnapshot(), waiting) !== 'accepted') return false;
    ref.send(waiting);
    return true;
  }

  #callWaiting(): Extract<ConnectionFact, { type: 'call.waiting' }> {
    return { type: 'call.waiting', at: this.#ports.calls.clock.now() };
  }

  /** Dormant, about to become so, or going to rest: it comes when it is asked for, and not otherwise. */
  #canBeWoken(): boolean {
    const { path, allowed } = this.#connection;
    return (
      (path.state === 'configuring' || path.state === 'shuttingDown') && allowed.includes('connection.start')
    );
  }

  /** Settled, and not as ready: nothing will come of waiting. */
  #isAway(): boolean {
    const { path } = this.#connection;
    return path.state !== 'ready' && isSettled(path);
  }
}
