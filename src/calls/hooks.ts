/**
 * The host's own code around every tool call. Pure of any lifecycle: `call.ts` runs the hooks.
 *
 * H1. `beforeCall` runs once for each call, when there is a session for it and before the arguments are checked, in the
 *     order of the hooks. Each sees what those before it left. A call that is repeated sends the same again.
 * H2. If a `beforeCall` throws, nothing is sent: the call rejects with a `CallRefusedError`.
 * H3. `afterCall` runs once for each call that `beforeCall` was run for, in the opposite order, whatever the end.
 * H4. If an `afterCall` throws after an answer, the call was done, and its result is withheld: it may be the very thing that
 *     the hook was to remove. After an error, that error stays, and the hook's is a diagnostic.
 */
import type { CallToolResult } from '../mcp/server-offers.js';
import { isAddable } from '../config/entry/forwardable-header.js';
import { CallRefusedError, ResultWithheldError } from '../errors.js';
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import type { Mask } from '../secrets/secrets.js';
import { messageOf } from '../text/error-message.js';
import { optionProblem, type OptionNames } from '../text/option-names.js';

/** A tool call, as it is about to be sent. */
export interface OutgoingCall {
  /** Name of the server. */
  readonly server: string;
  /** The server's own name for the tool. */
  readonly tool: string;
  /** The arguments, as the caller or the hook before gave them. */
  readonly args: JsonObject;
  /** What is sent as `_meta`; empty if nothing is. */
  readonly meta: JsonObject;
  /** The headers that hooks have added, by name in lower case; empty if there are none. */
  readonly headers: Readonly<Record<string, string>>;
  /** The option `context` of the call. */
  readonly context: unknown;
}

/** What a hook changes in a call. What is absent stays. */
export interface CallChange {
  /** Replaces the arguments. They are checked against the tool's input schema afterwards. */
  readonly args?: object;
  /** Added to `_meta`. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /**
   * Headers to add to the HTTP request. They replace headers of the same name from the entry, and the token of a sign-in.
   * A server that is not reached over HTTP gets none. Their values are masked wherever Troupe shows or records text of this
   * server.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** Secrets in the arguments and in `meta`. They are masked like header values, unless they have fewer than four characters. */
  readonly secrets?: readonly string[];
}

/** How a call ended: with a result, `isError` included, or with an error. */
export type CallEnd =
  /** The call has a result. */
  | {
      /** The server's result, as the hooks before left it. */
      readonly result: CallToolResult;
      /** Absent. */
      readonly error?: undefined;
    }
  /** The call has failed. */
  | {
      /** Absent. */
      readonly result?: undefined;
      /** What the call rejects with. */
      readonly error: unknown;
    };

/** Code of the host that runs around every tool call. Both functions may be asynchronous. */
export interface CallHooks {
  /**
   * Called before a call is sent: changes it, or refuses it by throwing. Its time counts towards the limits of the call.
   *
   * @param call The call, as the hooks before left it.
   * @param signal Aborts when the call is given up.
   */
  readonly beforeCall?: (
    call: OutgoingCall,
    signal: AbortSignal,
  ) => CallChange | undefined | void | Promise<CallChange | undefined | void>;
  /**
   * Called when a call has ended, in the opposite order of the hooks: returns another result, or records what happened.
   *
   * @param call The call as it was sent.
   * @param end The result or the error, as the hooks before left it.
   */
  readonly afterCall?: (
    call: OutgoingCall,
    end: CallEnd,
  ) => CallToolResult | undefined | void | Promise<CallToolResult | undefined | void>;
}

const CHANGE: OptionNames<CallChange> = { args: true, meta: true, headers: true, secrets: true };
const HOOKS: OptionNames<CallHooks> = { beforeCall: true, afterCall: true };

/** What is wrong with the option `hooks`; undefined if nothing is. */
export function hooksProblem(option: unknown): string | undefined {
  for (const hooks of [option].flat()) {
    if (!isJsonObject(hooks)) return "expected an object with 'beforeCall' or 'afterCall', or a list of them";
    const problem = optionProblem('hooks', hooks as CallHooks, HOOKS);
    if (problem !== undefined) return problem.message;
    const wrong = Object.entries(hooks).find(([, hook]) => hook !== undefined && typeof hook !== 'function');
    if (wrong !== undefined) return `expected '${wrong[0]}' to be a function`;
  }
  return undefined;
}

export function toHooks(option: CallHooks | readonly CallHooks[] = []): readonly CallHooks[] {
  return [option].flat() as readonly CallHooks[];
}

export interface HookPorts {
  /** Masks the secrets of the server, those that hooks have added included. */
  readonly mask: Mask;
  /** Masks further secrets from now on. */
  readonly remember: (secrets: readonly string[]) => void;
}

/** Runs every `beforeCall`. Throws a `CallRefusedError`. */
export async function runBefore(
  hooks: readonly CallHooks[],
  call: OutgoingCall,
  signal: AbortSignal,
  { mask, remember }: HookPorts,
): Promise<OutgoingCall> {
  let now = call;
  for (const { beforeCall } of hooks) {
    if (beforeCall === undefined) continue;
    const before = now;
    const change = await asked(call, mask, () => beforeCall(before, signal));
    if (change === undefined) continue;
    const { args = now.args, meta = {}, headers = {}, secrets = [] } = change;
    remember([...secrets, ...Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)])]);
    const added = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
    now = {
      ...now,
      args: args as JsonObject,
      meta: { ...now.meta, ...meta },
      headers: { ...now.headers, ...Object.fromEntries(added) },
    };
  }
  return now;
}

/** Runs every `afterCall`, and returns or throws the end that they leave. `failed` hears of a hook whose error changes nothing. */
export async function runAfter(
  hooks: readonly CallHooks[],
  call: OutgoingCall,
  end: CallEnd,
  failed: (why: string) => void,
): Promise<CallToolResult> {
  let now = end;
  for (const { afterCall } of hooks.toReversed()) {
    if (afterCall === undefined) continue;
    try {
      const result = await afterCall(call, now);
      if (result === undefined || now.result === undefined) continue;
      if (!isResult(result)) throw new TypeError("A hook gave a result without a list 'content'.");
      now = { result };
    } catch (cause) {
      if (now.result === undefined) failed(messageOf(cause));
      else now = { error: withheld(call, cause) };
    }
  }
  if (now.result === undefined) throw now.error;
  return now.result;
}

async function asked(
  { server, tool }: OutgoingCall,
  mask: Mask,
  hook: () => ReturnType<NonNullable<CallHooks['beforeCall']>>,
): Promise<CallChange | undefined> {
  try {
    const change = (await hook()) ?? undefined;
    const flaw = change === undefined ? undefined : flawOf(change);
    if (flaw !== undefined) throw new TypeError(flaw);
    return change;
  } catch (cause) {
    throw new CallRefusedError(mask(`'${tool}' was not called: ${messageOf(cause)}`), { server, cause });
  }
}

function flawOf(change: CallChange): string | undefined {
  const problem = optionProblem('beforeCall', change, CHANGE);
  if (problem !== undefined) return problem.message;
  const { args = {}, meta = {}, headers = {}, secrets = [] } = change;
  for (const [name, value] of Object.entries({ args, meta, headers }))
    if (!isJsonObject(value)) return `beforeCall: expected '${name}' to be an object`;
  if (!Array.isArray(secrets) || !secrets.every((secret) => typeof secret === 'string'))
    return "beforeCall: expected 'secrets' to be a list of texts";
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') return `beforeCall: expected the header '${name}' to be a text`;
    if (!isAddable(name)) return `beforeCall: the header '${name}' is set by Troupe alone`;
  }
  return undefined;
}

function isResult(result: CallToolResult): boolean {
  return isJsonObject(result) && Array.isArray(result.content);
}

/** The message does not repeat that of the hook, which may hold what it was to remove. */
function withheld({ server, tool }: OutgoingCall, cause: unknown): ResultWithheldError {
  const message = `'${tool}' was called and has answered, but its result is withheld: a hook of the host failed.`;
  return new ResultWithheldError(message, { server, cause });
}
