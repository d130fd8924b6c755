/**
 * One call of a caller, from the wait for a session to its one outcome.
 *
 * K1. It settles exactly once: answered, refused by the server, timed out, aborted, not sent, or outcome unknown.
 * K2. The server gets it once; once more only where what carried it broke and that cannot act twice (`call-safety.ts`),
 *     by what the server says of the tool before the loss and after the recovery. What timed out or was aborted is not
 *     sent again. What was not sent, is, within the limits (`sendings.ts`).
 * K3. The limits and the signal of its caller hold from the first wait to the last answer.
 */
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { afterLoss, type RetryCalls } from '../../machines/policy/call-safety.js';
import { isAnswering } from '../answering.js';
import type { CatalogTool } from '../catalog/registry.js';
import type { LifecycleEventBody } from '../lifecycle/event.js';
import type { Clock } from '../ports.js';
import type { GiveUpSignal, Progress } from '../protocol/protocol-client.js';
import type { Mask } from '../secrets.js';
import type { Session } from '../sessions.js';
import type { CallCheck } from './call-check.js';
import type { CallTurns } from './call-turns.js';
import { outOfTurn } from './outcome.js';
import { Patience } from './patience.js';
import { send, type Unanswered, type UnansweredCall } from './send.js';
import { Sendings } from './sendings.js';

export interface CallOptions {
  /** Gives the call up; the server is told. */
  readonly signal?: AbortSignal;
  /**
   * Milliseconds without an answer and without progress; each wait for a session may take as long. Does not go on while
   * the call waits for its turn, nor while a person or a model of the host answers the server. 0 = no limit. Default:
   * the server's `callTimeout`, else 60,000.
   */
  readonly timeoutMs?: number;
  /**
   * Milliseconds for the whole call, waits and a repetition included; progress does not extend them. Does not go on while
   * a person or a model of the host answers the server. 0 = no limit, the default.
   */
  readonly totalTimeoutMs?: number;
  /** Whether the call is repeated where its connection is lost. Default: the `retryCalls` of the server, else of the troupe. */
  readonly retryCalls?: RetryCalls;
  readonly onProgress?: (progress: Progress) => void;
  /** Sent as `_meta` of the request, for what host and server have agreed on. Default: nothing. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /**
   * Anything that tells for whom the call is made. Sent nowhere: the host's `handlers` get it back, as `origin.context` of
   * what the server asks in the course of the call.
   */
  readonly context?: unknown;
  /**
   * The tool as somebody looked at it: what has become another one since is not called.
   *
   * @internal
   */
  readonly lookedAt?: CatalogTool;
}

/** The same for whoever calls very often. */
export interface InternalCallOptions extends Omit<CallOptions, 'signal'> {
  readonly signal?: GiveUpSignal;
}

export interface CallPorts {
  readonly clock: Clock;
  readonly publish: (event: LifecycleEventBody) => void;
  /** Strikes out the secrets of a server's entry. */
  readonly mask: (server: string) => Mask;
  /** Number of the next sending, for its events. */
  readonly nextCall: () => number;
  /** Compares arguments and results with the schemas of the tool. */
  readonly check: CallCheck;
}

/** What a call asks of its connection. */
export interface CallRoute {
  readonly server: string;
  /** The present session, where it can carry a call. */
  session(): Session | undefined;
  /** The next one that can. Rejects with why there will be none, or with the signal's reason. */
  nextSession(signal: AbortSignal): Promise<Session>;
  /** What keeps the connection from being ready now; undefined where it is, or nobody knows yet. */
  trouble(): Error | undefined;
  /** When a call would be worth a try; empty where nobody can tell. */
  outlook(): string;
  /** What the server listed last; the same list until it changes. */
  tools(): readonly Tool[];
  /** Who may send now. */
  readonly turns: CallTurns;
}

export interface Call {
  readonly tool: string;
  readonly args: object;
  readonly timeoutMs: number;
  readonly retryCalls: RetryCalls;
  readonly options: InternalCallOptions;
  /** Why it may not be sent any more: what is offered can change while it waits. Undefined where it may. */
  readonly refusal?: () => Error | undefined;
}

/** Sends a call over the connection's session, or over the next one. Sent before it returns where there is one. */
export async function makeCall(ports: CallPorts, route: CallRoute, call: Call): Promise<CallToolResult> {
  const { totalTimeoutMs: totalMs = 0, signal } = call.options;
  const patience = new Patience(ports.clock, { idleMs: call.timeoutMs, totalMs }, signal);
  const told = (): Call => toTold(ports, route, call);
  const terms = { route, clock: ports.clock, limitMs: call.timeoutMs, patience, told };
  const sendings = new Sendings<UnansweredCall>(terms);
  let hasTurn = route.turns.tryTake();
  try {
    if (!hasTurn) hasTurn = await turn(route, told(), patience);
    let session = route.session() ?? (await sendings.session());
    const loading = ports.check.loading(route.tools(), call.tool, call.args);
    if (loading !== undefined) {
      await loading;
      session = route.session() ?? (await sendings.session());
    }
    for (;;) {
      const tools = route.tools();
      const refusal = refusalOf(ports, session, tools, call);
      if (refusal !== undefined) throw sendings.doubt?.error ?? refusal;
      const sent = await send(ports, session, call, patience, sendings.last?.number);
      if ('result' in sent) return heeded(ports, session, tools, call, sent.result);
      if (!mayRepeat(sent, call, tools) || !sendings.lose(sent)) throw sendings.errorOf(sent);
      session = await sendings.session();
      const { doubt } = sendings;
      if (doubt !== undefined && !mayRepeat(doubt, call, route.tools())) throw doubt.error;
    }
  } finally {
    sendings.end();
    patience.end();
    if (hasTurn) route.turns.leave();
  }
}

/** The call as its errors tell of it. */
function toTold(ports: CallPorts, route: CallRoute, call: Call): Call {
  return { ...call, tool: ports.mask(route.server)(call.tool) };
}

/** Waits for its turn, which is no silence of the server. One that is made for a call would wait for that for ever. */
async function turn(route: CallRoute, call: Call, patience: Patience): Promise<true> {
  if (!isAnswering(route.server)) patience.rest();
  try {
    await route.turns.take(patience.signal);
  } catch (cause) {
    throw outOfTurn(route, call, cause);
  }
  patience.renew();
  return true;
}

/** Why the call may not be sent over that session; undefined where it may. */
function refusalOf(
  ports: CallPorts,
  { key }: Session,
  tools: readonly Tool[],
  call: Call,
): Error | undefined {
  return call.refusal?.() ?? ports.check.refusal(key, tools, call.tool, call.args);
}

/** The same result; where it is not what the tool promised, that is told. */
function heeded(
  ports: CallPorts,
  { key }: Session,
  tools: readonly Tool[],
  call: Call,
  result: CallToolResult,
): CallToolResult {
  ports.check.heed(key, tools, call.tool, result);
  return result;
}

function mayRepeat({ isLost, outcome }: Unanswered, call: Call, tools: readonly Tool[]): boolean {
  if (!isLost) return false;
  const hints = tools.find(({ name }) => name === call.tool)?.annotations;
  const lost = {
    written: outcome === 'outcome-unknown',
    readOnly: hints?.readOnlyHint === true,
    idempotent: hints?.idempotentHint === true,
  };
  return afterLoss(lost, call.retryCalls) === 'repeat';
}
