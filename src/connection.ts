/**
 * The public handle of one configured server. It outlives sessions and incarnations of the actor and keeps no
 * lifecycle state of its own: what it says, it reads from the chart.
 */
import { distinctUntilChanged, type Observable } from 'rxjs';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { CONNECTION_COMMANDS, type ConnectionCommand } from '../machines/connection.events.js';
import { toFailure, type Failure } from '../machines/policy/failure.js';
import { acceptedOf, verdict, type TransitionVerdict } from '../machines/verdict.js';
import { isCommand } from './actors/door.js';
import { callProblem } from './calls/call-problem.js';
import { abortedError, sendCall, type Call, type CallOptions, type CallPorts } from './calls/call.js';
import { GivenUp, Patience, TimedOut } from './calls/patience.js';
import { AuthRequiredError, InvalidTransitionError, NotReadyError, TrustRequiredError } from './errors.js';
import { failureError } from './failure-error.js';
import type { ConnectionState, RejectionReason } from './lifecycle/event.js';
import type { ConnectionRef } from './lifecycle/follow.js';
import type { Publisher } from './lifecycle/publish.js';
import { isSettled, statePath, type StatePath } from './lifecycle/state-path.js';
import type { ServerStatus } from './lifecycle/status.js';
import type { Session } from './sessions.js';

export interface WaitOptions {
  /** Ends the wait, not what was asked for. */
  readonly signal?: AbortSignal;
}

/** What became of a command. */
export type DispatchResult =
  | { readonly accepted: true }
  | {
      readonly accepted: false;
      readonly reason: RejectionReason;
      readonly state: ConnectionState;
      readonly event: string;
      readonly allowed: readonly string[];
    };

/**
 * What a handle needs from the troupe.
 *
 * @internal
 */
export interface ConnectionPorts {
  readonly publisher: Publisher;
  readonly calls: CallPorts;
  readonly ref: () => ConnectionRef | undefined;
  readonly session: () => Session | undefined;
  /** Why the actor died, where it did by an error of ours. */
  readonly crash: () => Failure | undefined;
  /** Forgets an actor that died; resolves when nothing of its session is left. */
  readonly bury: (reason: string) => Promise<void>;
  readonly status: () => ServerStatus;
  readonly callTimeoutMs: () => number;
  /** Why there can be no next incarnation of the actor; undefined where there can. */
  readonly whyNoSpawn: () => string | undefined;
  /** Makes the next incarnation of the actor. */
  readonly spawn: () => void;
  readonly deliver: (command: ConnectionCommand) => void;
}

const PROBES: readonly ConnectionCommand[] = CONNECTION_COMMANDS.map((type) =>
  type === 'connection.stop' ? { type, reason: 'stop' } : ({ type } as ConnectionCommand),
);

/** What an actor that died of an error of ours can be asked: each makes the next incarnation. */
const REVIVERS = ['connection.start', 'connection.retry', 'connection.restart'];

export class Connection {
  /** Changes of the public state; replays the present one. */
  readonly state$: Observable<ConnectionState>;

  /** The configured name of the server. */
  readonly name: string;
  readonly #ports: ConnectionPorts;

  /** @internal */
  constructor(name: string, ports: ConnectionPorts) {
    this.name = name;
    this.#ports = ports;
    this.state$ = ports.publisher.live(() => this.state).pipe(distinctUntilChanged());
  }

  get state(): ConnectionState {
    return this.path.state;
  }

  get status(): ServerStatus {
    return this.#ports.status();
  }

  /** Commands that would be accepted now. */
  get allowed(): readonly string[] {
    const snapshot = this.#ports.ref()?.getSnapshot();
    if (snapshot?.status === 'active') return acceptedOf(snapshot, PROBES).map((command) => command.type);
    if (this.#ports.whyNoSpawn() !== undefined) return [];
    return this.#ports.crash() === undefined ? ['connection.start'] : REVIVERS;
  }

  /**
   * Sends a command through the door. A refused command changes nothing and becomes one `connection.rejected` event;
   * one that asks for what is already so is refused as `ignored` without an event.
   */
  dispatch(command: ConnectionCommand): DispatchResult {
    const answer = this.#verdict(command);
    const { allowed } = this;
    if (answer === 'accepted') this.#ports.deliver(command);
    if (answer === 'stopped' && allowed.includes(command.type)) this.#ports.spawn();
    else if (answer !== 'accepted') return this.#reject(command, answer, allowed);
    return { accepted: true };
  }

  /** Facts are not for the host to tell. */
  #verdict(command: ConnectionCommand): TransitionVerdict {
    const snapshot = this.#ports.ref()?.getSnapshot();
    if (snapshot === undefined) return 'stopped';
    return isCommand(command.type) ? verdict(snapshot, command) : 'unhandled';
  }

  #reject(command: ConnectionCommand, reason: RejectionReason, allowed: readonly string[]): DispatchResult {
    const { state } = this;
    const rejection = { reason, state, event: command.type, allowed };
    if (reason !== 'ignored') {
      this.#ports.publisher.publish({
        type: 'connection.rejected',
        connection: this.name,
        generation: this.#ports.ref()?.getSnapshot().context.generation ?? 0,
        ...rejection,
      });
    }
    return { accepted: false, ...rejection };
  }

  /** Starts a dormant, failed or stopped connection; resolves when it is settled and rejects with its failure. */
  async start(options: WaitOptions = {}): Promise<void> {
    this.#command({ type: 'connection.start' });
    await this.#settled(options);
  }

  /** Tries again now and forgets past attempts; resolves when settled and rejects with the failure. */
  async retry(options: WaitOptions = {}): Promise<void> {
    this.#command({ type: 'connection.retry' });
    await this.#settled(options);
  }

  /** Ends the session in an orderly way and makes a new one; resolves when settled and rejects with the failure. */
  async restart(options: WaitOptions = {}): Promise<void> {
    this.#command({ type: 'connection.restart' });
    await this.#settled(options);
  }

  /** Ends the connection; resolves when nothing of it is left. Asked again meanwhile, it hurries by one step. */
  async stop(options: WaitOptions = {}): Promise<void> {
    await this.end('stop', options);
  }

  /** Ends the connection for a reason that its last status tells. */
  async end(reason: 'stop' | 'remove', options: WaitOptions = {}): Promise<void> {
    if (this.#ports.crash() !== undefined) await this.#ports.bury(reason);
    if (this.state === 'stopped') return;
    this.#command({ type: 'connection.stop', reason });
    await this.#ports.publisher.until(() => this.state === 'stopped', options.signal);
  }

  /** Lists the tools again; resolves when they are listed, and rejects where the list failed. */
  async refresh(options: WaitOptions = {}): Promise<void> {
    this.#command({ type: 'connection.refresh' });
    await this.#ports.publisher.until(() => !this.path.substate.includes('refreshing'), options.signal);
    const path = this.path;
    if (path.state !== 'ready') throw this.#whyNot(path);
    if (path.substate.endsWith('stale')) {
      throw new NotReadyError(`The tools of '${this.name}' could not be listed; the old list stays.`, {
        server: this.name,
      });
    }
  }

  /** Approves the entry that waits for it. */
  async approve(options: WaitOptions = {}): Promise<void> {
    this.#command({ type: 'trust.granted' });
    await this.#settled(options);
  }

  /** Refuses the entry that waits for approval. */
  deny(): void {
    this.#command({ type: 'trust.denied' });
  }

  /** Resolves when the connection is ready; rejects with its failure, or when it waits for a person. */
  async ready(options: WaitOptions = {}): Promise<void> {
    await this.#usableSession(options.signal);
  }

  /** Calls a tool by the server's own name for it, waiting for the connection where it is on its way. */
  callTool(tool: string, args: object = {}, options: CallOptions = {}): Promise<CallToolResult> {
    const problem = callProblem(args, options);
    if (problem !== undefined) return Promise.reject(problem);
    const call = { tool, args, timeoutMs: options.timeoutMs ?? this.#ports.callTimeoutMs(), options };
    const session = this.#usable();
    if (session !== undefined) return sendCall(this.#ports.calls, session, call);
    return this.#sessionFor(call).then((late) => sendCall(this.#ports.calls, late, call));
  }

  #usable(): Session | undefined {
    const session = this.state === 'ready' ? this.#ports.session() : undefined;
    return session?.isUsable === true ? session : undefined;
  }

  /** The session a call was waiting for. */
  async #sessionFor(call: Call): Promise<Session> {
    const { tool, timeoutMs, options } = call;
    const server = this.name;
    const patience = new Patience(this.#ports.calls.clock, timeoutMs, options.signal);
    try {
      return await this.#usableSession(patience.signal);
    } catch (cause) {
      if (cause instanceof GivenUp) throw abortedError(server, call);
      const isLate = cause instanceof TimedOut;
      const why = isLate ? `it did not become ready within ${timeoutMs} ms` : messageOf(cause);
      throw new NotReadyError(`'${tool}' was not sent: ${why}`, { server, ...(isLate ? {} : { cause }) });
    } finally {
      patience.end();
    }
  }

  /** The next session that can carry a call; throws why there is none. A resting connection is woken. */
  async #usableSession(signal: AbortSignal | undefined): Promise<Session> {
    for (;;) {
      if (this.#canBeWoken()) this.#command({ type: 'connection.start' });
      await this.#ports.publisher.until(() => this.#usable() !== undefined || this.#isAway(), signal);
      const session = this.#usable();
      if (session !== undefined) return session;
      const path = this.path;
      if (path.substate !== 'dormant' && this.#isAway()) throw this.#whyNot(path);
    }
  }

  /** Dormant, about to become so, or going to rest: it comes when it is asked for, and not otherwise. */
  #canBeWoken(): boolean {
    const { state } = this.path;
    return (state === 'configuring' || state === 'shuttingDown') && this.allowed.includes('connection.start');
  }

  /** Settled, and not as ready: nothing will come of waiting. */
  #isAway(): boolean {
    const path = this.path;
    return path.state !== 'ready' && isSettled(path);
  }

  /** @internal */
  get path(): StatePath {
    if (this.#ports.crash() !== undefined) return { state: 'failed', substate: 'settled' };
    const snapshot = this.#ports.ref()?.getSnapshot();
    const isOver = snapshot === undefined || snapshot.status === 'error' || snapshot.status === 'stopped';
    return isOver ? { state: 'stopped', substate: '' } : statePath(snapshot.value);
  }

  #command(command: ConnectionCommand): void {
    const isOver = this.#ports.ref()?.getSnapshot().status !== 'active';
    const why = isOver ? this.#ports.whyNoSpawn() : undefined;
    if (why !== undefined) throw new NotReadyError(why, { server: this.name });
    const result = this.dispatch(command);
    if (result.accepted || result.reason === 'ignored') return;
    throw new InvalidTransitionError({ server: this.name, ...result });
  }

  /** Resolves when ready or dormant; rejects with what else it settled as. */
  async #settled(options: WaitOptions): Promise<void> {
    await this.#ports.publisher.until(() => isSettled(this.path), options.signal);
    const path = this.path;
    if (path.state === 'ready' || path.substate === 'dormant') return;
    throw this.#whyNot(path);
  }

  #whyNot(path: StatePath): Error {
    const server = this.name;
    const failure = this.#ports.crash() ?? this.#ports.ref()?.getSnapshot().context.failure;
    if (path.substate === 'awaitingTrust') {
      return new TrustRequiredError(`'${server}' waits for approval before anything of it is started.`, {
        server,
      });
    }
    if (path.substate === 'authorizing') return new AuthRequiredError(toFailure(failure), { server });
    if (path.state === 'failed') return failureError(toFailure(failure), server);
    return new NotReadyError(`'${server}' is ${path.state}.`, { server });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
