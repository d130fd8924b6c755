/**
 * The public handle of one configured server. It outlives sessions and incarnations of the actor and keeps no
 * lifecycle state of its own: what it says, it reads from the chart.
 *
 * Longer than most because it is what a host holds, with its documentation: mechanism is elsewhere.
 */
import type { Observable } from 'rxjs';
import type {
  CallToolResult,
  GetPromptResult,
  LoggingLevel,
  ReadResourceResult,
  Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { distinctUntilChanged } from './lifecycle/rx.js';
import { CONNECTION_COMMANDS, type ConnectionCommand } from '../machines/connection.events.js';
import { isReturning } from '../machines/connection.update.js';
import type { RetryCalls } from '../machines/policy/call-safety.js';
import type { Failure } from '../machines/policy/failure.js';
import { acceptedOf, verdict, type TransitionVerdict } from '../machines/verdict.js';
import { isCommand } from './actors/door.js';
import { callProblem } from './calls/call-problem.js';
import { makeCall, type CallOptions, type CallPorts, type InternalCallOptions } from './calls/call.js';
import { InvalidTransitionError, NotReadyError, TrustRequiredError } from './errors.js';
import type { ConnectionState, RejectionReason } from './lifecycle/event.js';
import type { ConnectionRef } from './lifecycle/follow.js';
import type { Publisher } from './lifecycle/publish.js';
import { isListing, isSettled, statePath, type StatePath } from './lifecycle/state-path.js';
import type { ServerStatus } from './lifecycle/status.js';
import {
  ConnectionRequests,
  type Completion,
  type CompletionArgument,
  type CompletionOptions,
  type CompletionRef,
} from './requests/connection-requests.js';
import type { RequestOptions } from './requests/request.js';
import type { Wishes } from './requests/wishes.js';
import { SessionAccess } from './session-access.js';
import type { Session } from './sessions.js';

export interface WaitOptions {
  /** Ends the wait, not what was asked for. */
  readonly signal?: AbortSignal;
}

export interface ApproveOptions extends WaitOptions {
  /** `hash` of the `TrustRequest` that is approved. Default: that of the entry as it is now. */
  readonly hash?: string;
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
 * What the handles need from the troupe, one for all of them: each asks by its name.
 *
 * @internal
 */
export interface ConnectionPorts {
  readonly publisher: Publisher;
  readonly calls: CallPorts;
  readonly ref: (name: string) => ConnectionRef | undefined;
  readonly session: (name: string) => Session | undefined;
  /** Why the actor died, where it did by an error of ours. */
  readonly crash: (name: string) => Failure | undefined;
  /** Forgets an actor that died; resolves when nothing of its session is left. */
  readonly bury: (name: string, reason: string) => Promise<void>;
  readonly status: (name: string) => ServerStatus;
  readonly wishes: Wishes;
  readonly callTimeoutMs: (name: string) => number;
  /** 0 is no limit. */
  readonly maxConcurrentCalls: (name: string) => number;
  readonly retryCalls: (name: string) => RetryCalls;
  /** What the server listed last. */
  readonly tools: (name: string) => readonly Tool[];
  /** Why a tool is held back; undefined where it is not. */
  readonly whyHeld: (name: string, tool: string) => Error | undefined;
  /** Why there can be no next incarnation of the actor; undefined where there can. */
  readonly whyNoSpawn: (name: string) => string | undefined;
  /** Makes the next incarnation of the actor. */
  readonly spawn: (name: string) => void;
  readonly deliver: (name: string, command: ConnectionCommand) => void;
  /** Hands on what the browser brought; undefined where nobody signs in. */
  readonly finishAuth: (name: string, answer: string) => Promise<void> | undefined;
}

const PROBES: readonly ConnectionCommand[] = CONNECTION_COMMANDS.map((type) =>
  type === 'connection.stop' ? { type, reason: 'stop' } : ({ type } as ConnectionCommand),
);

/** What an actor that died of an error of ours can be asked: each makes the next incarnation. */
const REVIVERS = ['connection.start', 'connection.retry', 'connection.restart'];

export class Connection {
  /** The configured name of the server. */
  readonly name: string;
  readonly #ports: ConnectionPorts;
  readonly #access: SessionAccess;
  #state$: Observable<ConnectionState> | undefined;
  /** @internal */
  readonly requests: ConnectionRequests;

  /** @internal */
  constructor(name: string, ports: ConnectionPorts) {
    this.name = name;
    this.#ports = ports;
    const start = (): void => this.#command({ type: 'connection.start' });
    this.#access = new SessionAccess(ports, this, start);
    const { calls, wishes } = ports;
    const timeoutMs = (): number => ports.callTimeoutMs(name);
    this.requests = new ConnectionRequests({ calls, wishes, timeoutMs }, this.#access);
  }

  /** Changes of the public state; replays the present one. */
  get state$(): Observable<ConnectionState> {
    return (this.#state$ ??= this.#ports.publisher.live(() => this.state).pipe(distinctUntilChanged()));
  }

  get state(): ConnectionState {
    return this.path.state;
  }

  get status(): ServerStatus {
    return this.#ports.status(this.name);
  }

  /** Commands that would be accepted now. */
  get allowed(): readonly string[] {
    const snapshot = this.#ports.ref(this.name)?.getSnapshot();
    if (snapshot?.status === 'active') return acceptedOf(snapshot, PROBES).map((command) => command.type);
    if (this.#ports.whyNoSpawn(this.name) !== undefined) return [];
    return this.#ports.crash(this.name) === undefined ? ['connection.start'] : REVIVERS;
  }

  /**
   * Sends a command through the door. A refused command changes nothing and becomes one `connection.rejected` event;
   * one that asks for what is already so is refused as `ignored` without an event.
   */
  dispatch(command: ConnectionCommand): DispatchResult {
    const answer = this.#verdict(command);
    const { allowed } = this;
    if (answer === 'accepted') this.#ports.deliver(this.name, command);
    if (answer === 'stopped' && allowed.includes(command.type)) this.#ports.spawn(this.name);
    else if (answer !== 'accepted') return this.#reject(command, answer, allowed);
    return { accepted: true };
  }

  /** Facts are not for the host to tell. */
  #verdict(command: ConnectionCommand): TransitionVerdict {
    const snapshot = this.#ports.ref(this.name)?.getSnapshot();
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
        generation: this.#ports.ref(this.name)?.getSnapshot().context.generation ?? 0,
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
    if (this.#isEnding) this.#command({ type: 'connection.stop', reason: 'stop' });
    await this.end('stop', options);
  }

  /** Ends the connection for a reason that its last status tells. What is ending already is left its time. */
  async end(reason: 'stop' | 'remove', options: WaitOptions = {}): Promise<void> {
    if (this.#ports.crash(this.name) !== undefined) await this.#ports.bury(this.name, reason);
    if (this.state === 'stopped') return;
    if (!this.#isEnding) this.#command({ type: 'connection.stop', reason });
    await this.#ports.publisher.until(() => this.state === 'stopped', options.signal);
  }

  /**
   * Reads every list again; resolves when they are read, and rejects where that of the tools failed. Where the session
   * is lost meanwhile it waits for the next one, which reads them anyway.
   */
  async refresh(options: WaitOptions = {}): Promise<void> {
    this.#command({ type: 'connection.refresh' });
    const isReading = (): boolean => this.isListing || this.path.substate.includes('refreshing');
    await this.#ports.publisher.until(() => !isReading(), options.signal);
    if (this.#access.session() === undefined) return this.#access.ready(options.signal);
    if (this.path.substate.split('+').includes('stale')) {
      throw new NotReadyError(`The tools of '${this.name}' could not be listed; the old list stays.`, {
        server: this.name,
      });
    }
  }

  /**
   * Approves the entry that waits for it; resolves when settled and rejects with the failure. With the `hash` of the
   * request that was shown, it rejects with a `TrustRequiredError` where the entry has become another meanwhile.
   */
  async approve(options: ApproveOptions = {}): Promise<void> {
    const request = this.status.trustRequest;
    if (options.hash !== undefined && request !== null && request.hash !== options.hash) {
      const message = `The entry of '${this.name}' has changed since it was shown: its present 'trustRequest' is another.`;
      throw new TrustRequiredError(message, { server: this.name });
    }
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
    const finishing = isWaiting() ? this.#ports.finishAuth(this.name, answer) : undefined;
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

  /**
   * Calls a tool by the server's own name for it, waiting for the connection where it is on its way. What is held back
   * is not called: a `ToolHeldError`.
   */
  callTool(tool: string, args: object = {}, options: CallOptions = {}): Promise<CallToolResult> {
    return this.callOffered(tool, args, options, () => undefined);
  }

  /**
   * The same for a tool that has to be offered still when the call is sent.
   *
   * @internal
   */
  callOffered(
    tool: string,
    args: object,
    options: InternalCallOptions,
    refusal: () => Error | undefined,
  ): Promise<CallToolResult> {
    const problem = callProblem(args, options);
    if (problem !== undefined) return Promise.reject(problem);
    const { calls, callTimeoutMs, retryCalls, whyHeld } = this.#ports;
    const timeoutMs = options.timeoutMs ?? callTimeoutMs(this.name);
    const call = {
      tool,
      args,
      timeoutMs,
      retryCalls: options.retryCalls ?? retryCalls(this.name),
      options,
      refusal: () => whyHeld(this.name, tool) ?? refusal(),
    };
    return makeCall(calls, this.#access, call);
  }

  /**
   * Reads a resource by its URI, listed or not, and gives the server's untouched result. Waits for the connection and
   * throws as `callTool` does, or a `NotOfferedError` where the server has no resources. Repeated once where the
   * connection is lost meanwhile.
   */
  readResource(uri: string, options: RequestOptions = {}): Promise<ReadResourceResult> {
    return this.requests.readResource(uri, options);
  }

  /**
   * Has the server tell when a resource changes: as `resource.updated` among the events. Holds over every session until
   * `unsubscribe` or the end of the server's entry; where it is refused or cannot be sent, nothing of it is left.
   */
  subscribe(uri: string, options: RequestOptions = {}): Promise<void> {
    return this.requests.subscribe(uri, options);
  }

  /** Ends a subscription, also one on its way, which then rejects with a `CallAbortedError`. Waits for no connection. */
  unsubscribe(uri: string, options: RequestOptions = {}): Promise<void> {
    return this.requests.unsubscribe(uri, options);
  }

  /** Gets a prompt by the server's own name for it. As `readResource` otherwise. */
  getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: RequestOptions = {},
  ): Promise<GetPromptResult> {
    return this.requests.getPrompt(name, args, options);
  }

  /** Asks how an argument of a prompt, or a variable of a resource template, may go on. As `readResource` otherwise. */
  complete(
    ref: CompletionRef,
    argument: CompletionArgument,
    options: CompletionOptions = {},
  ): Promise<Completion> {
    return this.requests.complete(ref, argument, options);
  }

  /** Sets from which level on the server tells what it logs, in this session and every later one. Told as `server.log`. */
  setLogLevel(level: LoggingLevel, options: RequestOptions = {}): Promise<void> {
    return this.requests.setLogLevel(level, options);
  }

  /**
   * It is ready, and its lists beside the tools are being read.
   *
   * @internal
   */
  get isListing(): boolean {
    const snapshot = this.#ports.ref(this.name)?.getSnapshot();
    return snapshot?.status === 'active' && isListing(snapshot.value);
  }

  /**
   * Lets in calls that wait for their turn, where more may come than before.
   *
   * @internal
   */
  admitCalls(): void {
    this.#access.turns.admit();
  }

  /** @internal */
  get path(): StatePath {
    if (this.#ports.crash(this.name) !== undefined) return { state: 'failed', substate: 'settled' };
    const snapshot = this.#ports.ref(this.name)?.getSnapshot();
    const isOver = snapshot === undefined || snapshot.status === 'error' || snapshot.status === 'stopped';
    return isOver ? { state: 'stopped', substate: '' } : statePath(snapshot.value);
  }

  /** It shuts down, and not in order to come back. */
  get #isEnding(): boolean {
    const snapshot = this.#ports.ref(this.name)?.getSnapshot();
    return this.path.state === 'shuttingDown' && snapshot !== undefined && !isReturning(snapshot.context);
  }

  #command(command: ConnectionCommand): void {
    const isOver = this.#ports.ref(this.name)?.getSnapshot().status !== 'active';
    const why = isOver ? this.#ports.whyNoSpawn(this.name) : undefined;
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
