/**
 * The public handle of one configured server. It outlives sessions and incarnations of the actor and keeps no
 * lifecycle state of its own: what it says, it reads from the chart.
 */
import { distinctUntilChanged, type Observable } from 'rxjs';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { CONNECTION_COMMANDS, type ConnectionCommand } from '../machines/connection.events.js';
import type { RetryCalls } from '../machines/policy/call-safety.js';
import type { Failure } from '../machines/policy/failure.js';
import { acceptedOf, verdict, type TransitionVerdict } from '../machines/verdict.js';
import { isCommand } from './actors/door.js';
import { callProblem } from './calls/call-problem.js';
import { makeCall, type CallOptions, type CallPorts } from './calls/call.js';
import { InvalidTransitionError, NotReadyError } from './errors.js';
import type { ConnectionState, RejectionReason } from './lifecycle/event.js';
import type { ConnectionRef } from './lifecycle/follow.js';
import type { Publisher } from './lifecycle/publish.js';
import { isSettled, statePath, type StatePath } from './lifecycle/state-path.js';
import type { ServerStatus } from './lifecycle/status.js';
import { SessionAccess } from './session-access.js';
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
  readonly retryCalls: () => RetryCalls;
  /** What the server listed last. */
  readonly tools: () => readonly Tool[];
  /** Why there can be no next incarnation of the actor; undefined where there can. */
  readonly whyNoSpawn: () => string | undefined;
  /** Makes the next incarnation of the actor. */
  readonly spawn: () => void;
  readonly deliver: (command: ConnectionCommand) => void;
  /** Hands on what the browser brought; undefined where nobody signs in. */
  readonly finishAuth: (answer: string) => Promise<void> | undefined;
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
  readonly #access: SessionAccess;

  /** @internal */
  constructor(name: string, ports: ConnectionPorts) {
    this.name = name;
    this.#ports = ports;
    const start = (): void => this.#command({ type: 'connection.start' });
    this.#access = new SessionAccess(ports, this, start);
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

  /**
   * Lists the tools again; resolves when they are listed, and rejects where the list failed. Where the session is lost
   * meanwhile it waits for the next one, which lists them anyway.
   */
  async refresh(options: WaitOptions = {}): Promise<void> {
    this.#command({ type: 'connection.refresh' });
    await this.#ports.publisher.until(() => !this.path.substate.includes('refreshing'), options.signal);
    if (this.#access.session() === undefined) return this.#access.ready(options.signal);
    if (this.path.substate.endsWith('stale')) {
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

  /**
   * Ends the sign-in that waits: takes the address that the browser was sent to in the end (then its state is checked),
   * or the code in it. Resolves when the connection is settled. Rejects with an `AuthRequiredError` where the answer is
   * no good, and the sign-in waits on; with a `NotReadyError` where nobody waits for one; or with the failure of the
   * connection.
   */
  async finishAuth(answer: string, options: WaitOptions = {}): Promise<void> {
    const isWaiting = (): boolean => this.path.substate === 'authorizing';
    const finishing = isWaiting() ? this.#ports.finishAuth(answer) : undefined;
    if (finishing === undefined) {
      throw new NotReadyError(`'${this.name}' waits for no sign-in.`, { server: this.name });
    }
    await finishing;
    await this.#ports.publisher.until(() => !isWaiting(), options.signal);
    await this.#settled(options);
  }

  /** Resolves when the connection is ready; rejects with its failure, or when it waits for a person. */
  async ready(options: WaitOptions = {}): Promise<void> {
    await this.#access.ready(options.signal);
  }

  /** Calls a tool by the server's own name for it, waiting for the connection where it is on its way. */
  callTool(tool: string, args: object = {}, options: CallOptions = {}): Promise<CallToolResult> {
    const problem = callProblem(args, options);
    if (problem !== undefined) return Promise.reject(problem);
    const { calls, callTimeoutMs, retryCalls } = this.#ports;
    const timeoutMs = options.timeoutMs ?? callTimeoutMs();
    const call = { tool, args, timeoutMs, retryCalls: options.retryCalls ?? retryCalls(), options };
    return makeCall(calls, this.#access, call);
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
    throw this.#access.whyNot();
  }
}
