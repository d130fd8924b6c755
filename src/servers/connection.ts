/**
 * The public handle of one configured server. It outlives sessions and incarnations of the actor, and keeps no lifecycle
 * state: it reads everything from the chart.
 *
 * Longer than 300 lines because it documents every method that a host calls, with an example each; the methods are short.
 */
import type { Stream } from '../lifecycle/stream.js';
import type { Observable } from '../lifecycle/rx.js';
import type { CallToolResult, GetPromptResult, ReadResourceResult } from '../mcp/server-offers.js';
import type { LoggingLevel } from '../mcp/session.js';
import { CONNECTION_COMMANDS, type ConnectionCommand } from '../../machines/connection/connection.events.js';
import {
  hasTag,
  type ConnectionState,
  type ConnectionTag,
  type PublicState,
} from '../../machines/connection/connection.states.js';
import { acceptedOf, verdict, type TransitionVerdict } from '../../machines/verdict.js';
import { isCommand } from '../actor-system/event-filter.js';
import { callProblem } from '../calls/call-problem.js';
import { CALL_OPTIONS, makeCall, type CallOptions, type InternalCallOptions } from '../calls/call.js';
import {
  InvalidTransitionError,
  NotReadyError,
  TrustRequiredError,
  type RejectionReason,
} from '../errors.js';
import type { Publisher } from '../lifecycle/publish.js';
import { stateChanges } from './state-changes.js';
import type { ServerStatus } from '../lifecycle/status.js';
import {
  ConnectionRequests,
  type Completion,
  type CompletionArgument,
  type CompletionOptions,
  type CompletionRef,
} from '../requests/connection-requests.js';
import type { RequestOptions } from '../requests/request.js';
import { optionProblem, requireKnown, type OptionNames } from '../text/option-names.js';
import { sameUntilChanged } from '../json/freeze.js';
import type { Server } from './server.js';
import { SessionAccess } from './session-access.js';

/** Options of an operation that waits. */
export interface WaitOptions {
  /** Ends the wait, not the operation. */
  readonly signal?: AbortSignal;
}

export const WAIT_OPTIONS: OptionNames<WaitOptions> = { signal: true };
const TRUST_OPTIONS: OptionNames<TrustOptions> = { ...WAIT_OPTIONS, hash: true };

/** Options of trusting an entry. */
export interface TrustOptions extends WaitOptions {
  /** `hash` of the `TrustRequest` that is trusted. Default: the hash of the present entry. */
  readonly hash?: string;
}

/** The result of a command. */
export type DispatchResult =
  /** The command takes effect. */
  | { readonly accepted: true }
  /** Nothing has changed. */
  | {
      readonly accepted: false;
      /** Why the command was rejected. */
      readonly reason: RejectionReason;
      /** The state in which the command arrived. */
      readonly state: ConnectionState;
      /** The command, for instance `connection.start`. */
      readonly event: string;
      /** Commands that would have been accepted; may be empty. */
      readonly allowed: readonly string[];
    };

const PROBES: readonly ConnectionCommand[] = CONNECTION_COMMANDS.map((type) =>
  type === 'connection.stop' ? { type, reason: 'stop' } : ({ type } as ConnectionCommand),
);

/**
 * The handle of one server: its state, commands to it, and requests by its own names. Given by `Troupe.connection` and
 * `Troupe.add`; the same object as long as the server is configured.
 */
export class Connection {
  /** The configured name of the server. */
  readonly name: string;
  readonly #server: Server;
  readonly #access: SessionAccess;
  #state$: Observable<ConnectionState> | undefined;
  #status: ServerStatus | undefined;
  #requests: ConnectionRequests | undefined;

  /** @internal */
  constructor(server: Server) {
    this.name = server.name;
    this.#server = server;
    this.#access = new SessionAccess(server);
  }

  /** @internal */
  get requests(): ConnectionRequests {
    return (this.#requests ??= this.#makeRequests());
  }

  /**
   * Every state of the connection in order; replays the present one. It follows the events, so `state` may be ahead of
   * it. Completes when the server is removed or the troupe is closed.
   */
  get state$(): Stream<ConnectionState> {
    return (this.#state$ ??= stateChanges(this.#publisher, {
      server: this.name,
      present: () => this.state,
      isRemoved: () => this.#server.isRemoved,
    }));
  }

  /**
   * Calls a function with the state now and with every later one in order, as `state$`, until the returned function is
   * called.
   *
   * @param listener Its errors are logged and have no other effect.
   *
   * @example
   * ```ts
   * const stop = connection.onState((state) => console.log(connection.name, state));
   * ```
   */
  onState(listener: (state: ConnectionState) => void): () => void {
    const subscription = this.state$.subscribe(listener);
    return () => subscription.unsubscribe();
  }

  /** The state now. `ready` means that calls are possible. */
  get state(): ConnectionState {
    return this.present.state;
  }

  /** The connection's row of `Troupe.status`: the same object until something in it changes. */
  get status(): ServerStatus {
    return (this.#status = sameUntilChanged(this.#status, this.#server.status));
  }

  /** Commands that would be accepted now. */
  get allowed(): readonly string[] {
    const snapshot = this.#server.ref?.getSnapshot();
    if (snapshot?.status === 'active') return acceptedOf(snapshot, PROBES).map((command) => command.type);
    return this.#server.whyNoSpawn === undefined ? ['connection.start'] : [];
  }

  /**
   * Sends a command. A rejected command changes nothing and is published as `connection.rejected`. A command that asks
   * for what is already the case is rejected as `ignored`, without an event.
   *
   * @param command The command, with its fields. Events that are not commands are rejected as `unhandled`.
   *
   * @example
   * ```ts
   * const { accepted } = connection.dispatch({ type: 'connection.restart' });
   * ```
   */
  dispatch(command: ConnectionCommand): DispatchResult {
    const answer = this.#verdict(command);
    const { allowed } = this;
    if (answer === 'accepted') this.#server.deliver(command);
    if (answer === 'stopped' && allowed.includes(command.type)) this.#server.spawn(true);
    else if (answer !== 'accepted') return this.#reject(command, answer, allowed);
    return { accepted: true };
  }

  /** A host may only send commands; facts come from the effects. */
  #verdict(command: ConnectionCommand): TransitionVerdict {
    const snapshot = this.#server.ref?.getSnapshot();
    if (snapshot === undefined) return 'stopped';
    return isCommand(command.type) ? verdict(snapshot, command) : 'unhandled';
  }

  #reject(command: ConnectionCommand, reason: RejectionReason, allowed: readonly string[]): DispatchResult {
    const { state } = this;
    const rejection = { reason, state, event: command.type, allowed };
    if (reason !== 'ignored') {
      this.#publisher.publish({
        type: 'connection.rejected',
        server: this.name,
        generation: this.#server.generation,
        ...rejection,
      });
    }
    return { accepted: false, ...rejection };
  }

  /**
   * Starts a dormant, failed or stopped connection; resolves when it is settled.
   *
   * @param options A signal that ends the wait, but not the operation. Default: no signal.
   *
   * @throws {@link InvalidTransitionError} if the state does not accept the command; `allowed` says which it does.
   * @throws {@link NotReadyError} if the troupe is not started or is closed.
   * @throws The failure of the connection as a {@link LaunchError}, {@link HandshakeError}, {@link ConnectionLostError}, {@link AuthRequiredError} or {@link TrustRequiredError}, if it settles without being ready.
   * @throws The reason of the signal, if it aborts.
   *
   * @example
   * ```ts
   * await connection.start();
   * ```
   */
  async start(options: WaitOptions = {}): Promise<void> {
    requireKnown('start', options, WAIT_OPTIONS);
    this.#command({ type: 'connection.start' });
    await this.#settled(options);
  }

  /**
   * Tries again now and forgets past attempts; resolves when it is settled.
   *
   * @param options A signal that ends the wait, but not the operation. Default: no signal.
   *
   * @throws {@link InvalidTransitionError} if the state does not accept the command; `allowed` says which it does.
   * @throws {@link NotReadyError} if the troupe is not started or is closed.
   * @throws The failure of the connection as a {@link LaunchError}, {@link HandshakeError}, {@link ConnectionLostError}, {@link AuthRequiredError} or {@link TrustRequiredError}, if it settles without being ready.
   * @throws The reason of the signal, if it aborts.
   *
   * @example
   * ```ts
   * if (connection.state === 'failed') await connection.retry();
   * ```
   */
  async retry(options: WaitOptions = {}): Promise<void> {
    requireKnown('retry', options, WAIT_OPTIONS);
    this.#command({ type: 'connection.retry' });
    await this.#settled(options);
  }

  /**
   * Ends the session in an orderly way and makes a new one; resolves when it is settled.
   *
   * @param options A signal that ends the wait, but not the operation. Default: no signal.
   *
   * @throws {@link InvalidTransitionError} if the state does not accept the command; `allowed` says which it does.
   * @throws {@link NotReadyError} if the troupe is not started or is closed.
   * @throws The failure of the connection as a {@link LaunchError}, {@link HandshakeError}, {@link ConnectionLostError}, {@link AuthRequiredError} or {@link TrustRequiredError}, if it settles without being ready.
   * @throws The reason of the signal, if it aborts.
   *
   * @example
   * ```ts
   * await connection.restart();
   * ```
   */
  async restart(options: WaitOptions = {}): Promise<void> {
    requireKnown('restart', options, WAIT_OPTIONS);
    this.#command({ type: 'connection.restart' });
    await this.#settled(options);
  }

  /**
   * Stops the connection; resolves when nothing of it is left. Each further call meanwhile speeds it up by one step.
   *
   * @param options A signal that ends the wait, but not the operation. Default: no signal.
   *
   * @throws {@link InvalidTransitionError} if the state does not accept the command; `allowed` says which it does.
   * @throws The reason of the signal, if it aborts.
   *
   * @example
   * ```ts
   * await connection.stop();
   * ```
   */
  async stop(options: WaitOptions = {}): Promise<void> {
    requireKnown('stop', options, WAIT_OPTIONS);
    if (this.#is('ending')) this.#command({ type: 'connection.stop', reason: 'stop' });
    await this.end('stop', options);
  }

  /**
   * Ends the connection; its last status gives the reason. If it is already ending, this does not speed it up.
   *
   * @internal
   */
  async end(reason: 'stop' | 'remove', options: WaitOptions = {}): Promise<void> {
    if (this.state === 'stopped') return;
    if (!this.#is('ending')) this.#command({ type: 'connection.stop', reason });
    await this.#publisher.until(() => this.state === 'stopped', options.signal);
  }

  /**
   * Reads every list again; resolves when they are read. If the session is lost meanwhile, it waits for the next one,
   * which reads them anyway.
   *
   * @param options A signal that ends the wait, but not the operation. Default: no signal.
   *
   * @throws {@link InvalidTransitionError} if the state does not accept the command; `allowed` says which it does.
   * @throws {@link NotReadyError} if the tools could not be listed; the old list stays.
   * @throws The reason of the signal, if it aborts.
   *
   * @example
   * ```ts
   * await connection.refresh();
   * ```
   */
  async refresh(options: WaitOptions = {}): Promise<void> {
    requireKnown('refresh', options, WAIT_OPTIONS);
    this.#command({ type: 'connection.refresh' });
    const isReading = (): boolean => this.#is('refreshing') || this.#is('enriching');
    await this.#publisher.until(() => !isReading(), options.signal);
    if (this.#access.session() === undefined) return this.#access.ready(options.signal);
    if (this.#is('stale')) {
      throw new NotReadyError(`The tools of '${this.name}' could not be listed; the old list stays.`, {
        server: this.name,
      });
    }
  }

  /**
   * Trusts the entry that waits for it; resolves when the connection is settled.
   *
   * @param options The hash that was shown to the person, and a signal that ends the wait. Default: the present entry
   *   is trusted.
   *
   * @throws {@link TrustRequiredError} if `hash` is given and the entry has changed since it was shown.
   * @throws {@link InvalidTransitionError} if the connection does not wait to be trusted.
   * @throws The failure of the connection, if it fails.
   * @throws The reason of the signal, if it aborts.
   *
   * @example
   * ```ts
   * const { trustRequest } = connection.status;
   * if (trustRequest !== null) await connection.trust({ hash: trustRequest.hash });
   * ```
   */
  async trust(options: TrustOptions = {}): Promise<void> {
    requireKnown('trust', options, TRUST_OPTIONS);
    const request = this.status.trustRequest;
    if (options.hash !== undefined && request !== null && request.hash !== options.hash) {
      const message = `The entry of '${this.name}' has changed since it was shown: read its present 'trustRequest'.`;
      throw new TrustRequiredError(message, { server: this.name });
    }
    this.#command({ type: 'trust.granted' });
    await this.#settled(options);
  }

  /**
   * Refuses the entry that waits to be trusted.
   *
   * @throws {@link InvalidTransitionError} if the connection does not wait to be trusted.
   *
   * @example
   * ```ts
   * connection.deny();
   * ```
   */
  deny(): void {
    this.#command({ type: 'trust.denied' });
  }

  /**
   * Completes the pending sign-in; resolves when the connection is settled. Takes the address to which the
   * browser was finally redirected, with its state, or the code in that address.
   *
   * @param answer The whole address, or only the code in it.
   * @param options A signal that ends the wait, but not the operation. Default: no signal.
   *
   * @throws {@link AuthRequiredError} if the answer is wrong. The sign-in stays pending.
   * @throws {@link NotReadyError} if no sign-in is pending.
   * @throws The failure of the connection, if it fails.
   * @throws The reason of the signal, if it aborts.
   *
   * @example
   * ```ts
   * await connection.finishAuth('http://127.0.0.1:3000/callback?code=1234&state=5678');
   * ```
   */
  async finishAuth(answer: string, options: WaitOptions = {}): Promise<void> {
    requireKnown('finishAuth', options, WAIT_OPTIONS);
    const isWaiting = (): boolean => this.#is('authorizing');
    const { signIns } = this.#server.runtime.effects;
    const canFinish = isWaiting() || signIns?.url(this.name) !== undefined;
    const finishing = canFinish ? signIns?.finish(this.name, answer) : undefined;
    if (finishing === undefined) {
      throw new NotReadyError(`'${this.name}' is not waiting for a sign-in.`, { server: this.name });
    }
    await finishing;
    await this.#publisher.until(() => !isWaiting(), options.signal);
    await this.#settled(options);
  }

  /**
   * Resolves when the connection is ready.
   *
   * @param options A signal that ends the wait. Default: no signal.
   *
   * @throws The failure of the connection, if it fails.
   * @throws {@link AuthRequiredError} or {@link TrustRequiredError} if it waits for a person.
   * @throws The reason of the signal, if it aborts.
   *
   * @example
   * ```ts
   * await connection.ready({ signal: AbortSignal.timeout(30_000) });
   * ```
   */
  async ready(options: WaitOptions = {}): Promise<void> {
    requireKnown('ready', options, WAIT_OPTIONS);
    await this.#access.ready(options.signal);
  }

  /**
   * Calls a tool by the server's own name for it, and waits for a connection that is on its way.
   *
   * @param tool The server's own name for it, for instance `read_file`.
   * @param args The tool's arguments. Default: an empty object.
   * @param options Limits of this call, and its signal. Default: no signal, and the limits of the server.
   *
   * @throws {@link ToolHeldError} if the tool is held back. Nothing was sent.
   * @throws What `Troupe.callTool` throws otherwise.
   *
   * @example
   * ```ts
   * const result = await connection.callTool('read_file', { path: 'README.md' });
   * ```
   */
  callTool(tool: string, args: object = {}, options: CallOptions = {}): Promise<CallToolResult> {
    const problem = optionProblem('callTool', options, CALL_OPTIONS);
    if (problem !== undefined) return Promise.reject(problem);
    return this.callOffered(tool, args, options, () => undefined);
  }

  /**
   * The same for a tool that may no longer be offered when the call is sent: `refusal` is checked then.
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
    const { entry, runtime } = this.#server;
    const { calls, effects } = runtime;
    const call = {
      tool,
      args,
      timeoutMs: options.timeoutMs ?? entry.settings.callTimeoutMs,
      retryCalls: options.retryCalls ?? entry.settings.retryCalls,
      options,
      refusal: () => effects.reviews?.whyHeld(this.name, tool) ?? refusal(),
    };
    return makeCall(calls, this.#access, call);
  }

  /**
   * Reads a resource by its URI, listed or not, and gives the server's untouched result. Waits for the connection.
   * Repeated once if the connection is lost meanwhile.
   *
   * @param uri The resource's URI, listed or not.
   * @param options Limits of this request, and its signal. Default: no signal, and the limits of the server.
   *
   * @throws {@link UnsupportedError} if the server has no resources.
   * @throws What `Troupe.readResource` throws otherwise.
   *
   * @example
   * ```ts
   * const { contents } = await connection.readResource('file:///README.md');
   * ```
   */
  readResource(uri: string, options: RequestOptions = {}): Promise<ReadResourceResult> {
    return this.requests.readResource(uri, options);
  }

  /**
   * Subscribes to a resource: each change is published as `resource.updated`. Lasts across sessions until `unsubscribe`
   * or the end of the server's entry. If it is refused or cannot be sent, nothing of it is left.
   *
   * @param uri The resource's URI, listed or not.
   * @param options Limits of this request, and its signal. Default: no signal, and the limits of the server.
   *
   * @throws What `readResource` throws.
   *
   * @example
   * ```ts
   * await connection.subscribe('file:///README.md');
   * ```
   */
  subscribe(uri: string, options: RequestOptions = {}): Promise<void> {
    return this.requests.subscribe(uri, options);
  }

  /**
   * Ends a subscription. One that is still on its way rejects with a {@link CallAbortedError}. Does not wait
   * for the connection.
   *
   * @param uri The URI that was given to `subscribe`.
   * @param options Limits of this request, and its signal. Default: no signal, and the limits of the server.
   *
   * @throws `TypeError` if an argument has the wrong type.
   * @throws {@link JsonRpcError} if the server refuses. The subscription has ended anyway.
   * @throws {@link CallTimeoutError} if a limit of the request has passed.
   * @throws {@link CallAbortedError} if the signal aborts.
   * @throws {@link ConnectionLostError} or {@link OutcomeUnknownError} if the connection is lost meanwhile.
   *
   * @example
   * ```ts
   * await connection.unsubscribe('file:///README.md');
   * ```
   */
  unsubscribe(uri: string, options: RequestOptions = {}): Promise<void> {
    return this.requests.unsubscribe(uri, options);
  }

  /**
   * Gets a prompt by the server's own name for it.
   *
   * @param name The server's own name for it, for instance `commit_message`.
   * @param args Values of the arguments, by name. Default: none.
   * @param options Limits of this request, and its signal. Default: no signal, and the limits of the server.
   *
   * @throws What `readResource` throws.
   *
   * @example
   * ```ts
   * const { messages } = await connection.getPrompt('commit_message', { style: 'short' });
   * ```
   */
  getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: RequestOptions = {},
  ): Promise<GetPromptResult> {
    return this.requests.getPrompt(name, args, options);
  }

  /**
   * Asks for completions of a prompt's argument or a resource template's variable.
   *
   * @param ref The prompt, by the server's own name for it, or the resource template, by its URI template.
   * @param argument The argument or variable to complete, and the beginning of its value.
   * @param options Values of other arguments, limits and the signal. Default: none, and the limits of the server.
   *
   * @throws What `readResource` throws.
   *
   * @example
   * ```ts
   * const { values } = await connection.complete({ type: 'ref/prompt', name: 'commit_message' }, { name: 'style', value: 's' });
   * ```
   */
  complete(
    ref: CompletionRef,
    argument: CompletionArgument,
    options: CompletionOptions = {},
  ): Promise<Completion> {
    return this.requests.complete(ref, argument, options);
  }

  /**
   * Sets the lowest level of the server's log messages (`server.log`), in this session and every later one.
   *
   * @param level The least severe level to send, for instance `warning`.
   * @param options Limits of this request, and its signal. Default: no signal, and the limits of the server.
   *
   * @throws What `readResource` throws.
   *
   * @example
   * ```ts
   * await connection.setLogLevel('warning');
   * ```
   */
  setLogLevel(level: LoggingLevel, options: RequestOptions = {}): Promise<void> {
    return this.requests.setLogLevel(level, options);
  }

  /**
   * Admits calls that wait for their turn, after the limit was raised.
   *
   * @internal
   */
  admitCalls(): void {
    this.#access.turns.admit();
  }

  /**
   * The present state, read from the chart.
   *
   * @internal
   */
  get present(): PublicState {
    return this.#server.present;
  }

  #makeRequests(): ConnectionRequests {
    const { calls, effects } = this.#server.runtime;
    const timeoutMs = (): number => this.#server.entry.settings.callTimeoutMs;
    return new ConnectionRequests({ calls, wishes: effects.wishes, timeoutMs }, this.#access);
  }

  get #publisher(): Publisher {
    return this.#server.runtime.publisher;
  }

  #is(tag: ConnectionTag): boolean {
    return hasTag(this.present, tag);
  }

  #command(command: ConnectionCommand): void {
    const isOver = this.#server.ref?.getSnapshot().status !== 'active';
    const why = isOver ? this.#server.whyNoSpawn : undefined;
    if (why !== undefined) throw new NotReadyError(why, { server: this.name });
    const result = this.dispatch(command);
    if (result.accepted || result.reason === 'ignored') return;
    throw new InvalidTransitionError({ server: this.name, ...result });
  }

  /** Resolves when ready or dormant; rejects if it settles otherwise. */
  async #settled(options: WaitOptions): Promise<void> {
    await this.#publisher.until(() => this.#is('settled'), options.signal);
    if (this.#is('usable') || this.#is('dormant')) return;
    throw this.#access.whyNot();
  }
}
