/**
 * `src/calls` makes tool calls, and repeats them if that is allowed. This file is one call. Longer than 300 lines because a
 * call and its attempts share limits, hooks and the task that outlives an attempt.
 *
 * K1. It settles exactly once: answered, refused by the server, timed out, aborted, not sent, or outcome unknown.
 * K2. It is sent once; a second time only if its session broke and the tool may be repeated (`call-safety.ts`), both by
 *     the server's list before the loss and by the one after the recovery. A call that timed out or was aborted is not
 *     sent again; one that never reached the server is, within its limits (`retry-loop.ts`).
 *     A call that runs at its server as a task is not sent again, but asked for over the next session.
 * K3. The limits and the signal of its caller hold from the first wait to the last answer.
 * K4. Hooks of the host run before it is sent and after it has ended (`hooks.ts`); what they add is what is sent.
 * N1. Each attempt is sent once, and publishes one `call.started` and one `call.finished` with the same number.
 * N2. The caller's limits stand still while the server waits for a person or for a model of the host, except if the
 *     call is part of that very answer.
 * N3. An attempt that is given up is cancelled at the server (MCP specification, "Cancellation"); a late answer is
 *     dropped.
 */
import type { CallToolResult, Tool } from '../mcp/server-offers.js';
import { afterLoss, type RetryCalls } from '../../machines/policy/call-safety.js';
import type { CatalogTool } from '../catalog/registry.js';
import type { CallOutcome, LifecycleEventBody } from '../lifecycle/event.js';
import type { JsonObject } from '../json/json-object.js';
import { isQuestion, type Progress, type ProtocolClient } from '../protocol/protocol-client.js';
import type { Task, TaskWatcher } from '../protocol/tasks.js';
import type { AbortSignalLike } from '../async/abort.js';
import type { RequestHeaders } from '../transports/session-transport.js';
import type { Session } from '../sessions/sessions.js';
import type { OptionNames } from '../text/option-names.js';
import type { CallCheck } from './call-check.js';
import type { CallRoute } from './call-route.js';
import type { Semaphore } from '../async/semaphore.js';
import { SILENCES_OF_TASK, type Deadline } from './deadline.js';
import type { Exchange } from './exchange.js';
import { notifyProgress } from './progress-listener.js';
import { runAfter, runBefore, type CallEnd, type CallHooks, type OutgoingCall } from './hooks.js';
import { cutText } from '../text/visible-text.js';
import { RetryLoop, type RetryPorts } from './retry-loop.js';
import type { Unanswered } from './outcome.js';

/** Options of one tool call. */
export interface CallOptions {
  /** Aborts the call, and cancels it at the server. */
  readonly signal?: AbortSignal;
  /**
   * Milliseconds without an answer or progress; each wait for a session may take as long. Stands still while the call
   * waits for its turn, and while a person or a model of the host answers the server. 0 = no limit. Default: the
   * server's `callTimeoutMs`, else 60,000.
   */
  readonly timeoutMs?: number;
  /**
   * Milliseconds for the whole call, waits and a repetition included; progress does not extend them. Stands still while
   * a person or a model of the host answers the server. 0 = no limit. Default: six times `timeoutMs`, or sixty times if
   * the server runs the call as a task.
   */
  readonly totalTimeoutMs?: number;
  /** Whether the call is repeated if its connection is lost. Default: `retryCalls` of the server, else of the troupe. */
  readonly retryCalls?: RetryCalls;
  /** Whether arguments that do not fit the tool's schema are adapted. Default: `coerceArguments` of the troupe. */
  readonly coerceArguments?: boolean;
  /** Called for each progress report of the server. Default: progress is not requested. */
  readonly onProgress?: (progress: Progress) => void;
  /** Sent as `_meta` of the request, for what host and server have agreed on. Default: nothing. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /**
   * Anything that identifies the caller. It is not sent: the host's `handlers` receive it as `origin.context` of what the
   * server asks during the call.
   */
  readonly context?: unknown;
  /**
   * The tool as it was inspected: if it has changed since, it is not called.
   *
   * @internal
   */
  readonly expectedTool?: CatalogTool;
}

export const CALL_OPTIONS: OptionNames<CallOptions> = {
  signal: true,
  timeoutMs: true,
  totalTimeoutMs: true,
  retryCalls: true,
  coerceArguments: true,
  onProgress: true,
  meta: true,
  context: true,
  expectedTool: true,
};

/** The same with a lighter signal, for frequent callers, and with what only the gateway knows. */
export interface InternalCallOptions extends Omit<CallOptions, 'signal'> {
  readonly signal?: AbortSignalLike;
  /** Headers of the client's HTTP request. Each attempt sends those that the entry names in `forwardHeaders`. */
  readonly headers?: RequestHeaders | undefined;
  /** As for `ProtocolClient.request`. The result may then be questions of the server. */
  readonly round?: JsonObject | undefined;
}

export interface CallPorts extends RetryPorts {
  readonly publish: (event: LifecycleEventBody) => void;
  /** Number of the next attempt, for its events. */
  readonly nextCall: () => number;
  /** Compares arguments and results with the schemas of the tool. */
  readonly check: CallCheck;
  /** In the order in which they run before a call. */
  readonly hooks: readonly CallHooks[];
  /** Masks further secrets of a server from now on. */
  readonly remember: (server: string, secrets: readonly string[]) => void;
}

/** A call with its defaults resolved. */
export interface Call {
  readonly tool: string;
  readonly args: object;
  readonly timeoutMs: number;
  readonly retryCalls: RetryCalls;
  readonly options: InternalCallOptions;
  /** Why it may no longer be sent, since tools can change while it waits; undefined if it may. */
  readonly refusal?: () => Error | undefined;
}

/** Calls a tool over the connection's session, or over the next one. */
export function makeCall(ports: CallPorts, route: CallRoute, call: Call): Promise<CallToolResult> {
  const toolCall = new ToolCall(ports, route, call);
  const ended = new RetryLoop(ports, route, toolCall).run();
  return ports.hooks.length === 0 ? ended : toolCall.runAfter(ended);
}

class ToolCall implements Exchange<CallToolResult> {
  args: object;
  readonly timeoutMs: number;
  options: InternalCallOptions;
  readonly turns: Semaphore;
  readonly #ports: CallPorts;
  readonly #route: CallRoute;
  readonly #call: Call;
  /** What the server listed when the attempt was prepared. */
  #tools: readonly Tool[] = [];
  /** The arguments as they will be sent, after validation. */
  #args: object;
  /** The headers that hooks have added. */
  #headers: Readonly<Record<string, string>> | undefined;
  /** Whether the hooks were run. */
  #isHooked = false;
  /** Of the latest attempt, as are the next two. */
  #number: number | undefined;
  #startedAt = 0;
  #tool = '';
  /** What the latest progress report said was done. */
  #progressed = 0;
  /** The task of this call, and the server that runs it. */
  #task: Task | undefined;
  #place = '';

  constructor(ports: CallPorts, route: CallRoute, call: Call) {
    this.args = call.args;
    this.#args = call.args;
    this.timeoutMs = call.timeoutMs;
    this.options = call.options;
    this.turns = route.turns;
    this.#ports = ports;
    this.#route = route;
    this.#call = call;
  }

  /** Masked at each read: a secret may become known while the call waits. */
  get label(): string {
    return this.#ports.mask(this.#route.server)(this.#call.tool);
  }

  loading(deadline: Deadline): Promise<void> | undefined {
    return this.#ports.hooks.length === 0 ? this.#schemas() : this.#runBefore(deadline);
  }

  async #runBefore({ signal }: Deadline): Promise<void> {
    const { hooks, mask, remember } = this.#ports;
    const { server } = this.#route;
    this.#isHooked = true;
    const sent = await runBefore(hooks, this.#outgoing, signal, {
      mask: (text) => mask(server)(text),
      remember: (secrets) => remember(server, secrets),
    });
    this.args = sent.args;
    this.#args = sent.args;
    this.#headers = sent.headers;
    if (Object.keys(sent.meta).length > 0) this.options = { ...this.options, meta: sent.meta };
    await this.#schemas();
  }

  /** Settles as the hooks leave it. */
  async runAfter(ended: Promise<CallToolResult>): Promise<CallToolResult> {
    const end: CallEnd = await ended.then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    );
    if (end.result !== undefined && isQuestion(end.result)) return end.result;
    const { hooks, publish, mask } = this.#ports;
    return runAfter(this.#isHooked ? hooks : [], this.#outgoing, end, (why) => {
      const { server } = this.#route;
      const message = cutText(mask(server)(`A hook failed after the call of '${this.#call.tool}': ${why}`));
      publish({ type: 'diagnostic', server, kind: 'hook-failed', message });
    });
  }

  get #outgoing(): OutgoingCall {
    return {
      server: this.#route.server,
      tool: this.#call.tool,
      args: this.#args as JsonObject,
      meta: this.options.meta ?? {},
      headers: this.#headers ?? {},
      context: this.options.context,
    };
  }

  #schemas(): Promise<void> | undefined {
    return this.#ports.check.loading(this.#route.tools(), this.#call.tool, this.args);
  }

  get goesOn(): boolean {
    return this.#task?.isOver === false;
  }

  prepare(session: Session): Error | undefined {
    const { key } = session;
    if (this.goesOn) {
      const canGoOn = session.place === this.#place && session.client?.follow !== undefined;
      return canGoOn ? undefined : new Error('The task runs at another server.');
    }
    this.#tools = this.#route.tools();
    const refusal = this.#call.refusal?.();
    if (refusal !== undefined) return refusal;
    const { tool, options } = this.#call;
    const judged = this.#ports.check.judge(key, this.#tools, tool, this.args, options.coerceArguments);
    if (judged instanceof Error) return judged;
    this.#args = judged;
    return undefined;
  }

  send(client: ProtocolClient, session: Session, deadline: Deadline): Promise<JsonObject> {
    const { tool: name } = this.#call;
    const { options } = this;
    const number = this.#start(session);
    const method = 'tools/call';
    const params = { name, arguments: this.#args, _meta: options.meta };
    const origin = { method, name, call: number, context: options.context };
    const onProgress = (progress: Progress): void => this.#progress(session, deadline, progress);
    const added = this.#headers;
    const headers =
      added === undefined && options.headers === undefined ? undefined : { received: options.headers, added };
    const { round } = options;
    const watcher = client.follow && this.#watcher(session, deadline);
    const sent = { signal: deadline, onProgress, origin, headers, round, watcher };
    const task = this.#task;
    if (task === undefined || task.isOver || client.follow === undefined)
      return client.request(method, params, sent);
    return client.follow(task, sent);
  }

  /** Between two questions for the state of a task, no message is expected. */
  #watcher(session: Session, deadline: Deadline): TaskWatcher {
    return {
      begun: (task) => {
        this.#task = task;
        this.#place = session.place;
        if (this.options.totalTimeoutMs === undefined) deadline.extend(SILENCES_OF_TASK * this.timeoutMs);
      },
      asked: () => deadline.renew(),
      heard: (message) => {
        if (message !== undefined)
          this.#progress(session, deadline, { progress: this.#progressed + 1, message });
        deadline.rest();
      },
    };
  }

  accept(answer: JsonObject, session: Session): CallToolResult {
    const result = answer as JsonObject & CallToolResult;
    this.#finish(result.isError === true ? 'tool-error' : 'answered', session);
    if (isQuestion(result)) return result;
    this.#ports.check.checkOutput(session.key, this.#tools, this.#call.tool, result);
    return result;
  }

  fail(outcome: CallOutcome, session: Session): void {
    this.#finish(outcome, session);
  }

  mayRepeat({ outcome }: Unanswered): boolean {
    if (this.goesOn) return true;
    const hints = this.#tools.find(({ name }) => name === this.#call.tool)?.annotations;
    const lost = {
      written: outcome === 'outcome-unknown',
      readOnly: hints?.readOnlyHint === true,
      idempotent: hints?.idempotentHint === true,
    };
    return afterLoss(lost, this.#call.retryCalls) === 'repeat';
  }

  /** Publishes the beginning of an attempt and returns its number. */
  #start({ key: { name: server, generation } }: Session): number {
    const { publish, clock, nextCall } = this.#ports;
    const repeats = this.#number;
    const call = nextCall();
    const tool = this.label;
    this.#number = call;
    this.#startedAt = clock.now();
    this.#tool = tool;
    // Written out: these events are frequent, and a spread would cost more than everything else here.
    if (repeats === undefined) publish({ type: 'call.started', server, generation, call, tool });
    else publish({ type: 'call.started', server, generation, call, tool, repeats });
    return call;
  }

  #progress(session: Session, deadline: Deadline, progress: Progress): void {
    deadline.renew();
    this.#progressed = progress.progress;
    const { name: server, generation } = session.key;
    const call = this.#number as number;
    const { total } = progress;
    this.#ports.publish({
      type: 'call.progress',
      server,
      generation,
      call,
      tool: this.#tool,
      progress: progress.progress,
      ...(total === undefined ? {} : { total }),
    });
    notifyProgress(this.#ports, session, `call ${call}`, this.options.onProgress, progress);
  }

  #finish(outcome: CallOutcome, { key: { name: server, generation } }: Session): void {
    const { publish, clock } = this.#ports;
    const call = this.#number as number;
    const tool = this.#tool;
    const durationMs = Math.max(0, clock.now() - this.#startedAt);
    publish({ type: 'call.finished', server, generation, call, tool, durationMs, outcome });
  }
}
