/** One request, reported from its beginning to its end. */
import type { JsonObject } from '../json/json-object.js';
import { RequestLostError, RpcError } from '../protocol/protocol-client.js';
import { withMeta } from '../protocol/message-client.js';
import { asText } from '../text/as-text.js';
import { codeOf, toError } from '../text/error-message.js';
import type { ObservedOperation, OperationEnd } from './telemetry.js';

/** Requests whose `name` says what they are about. */
const NAMED: ReadonlySet<string> = new Set(['tools/call', 'prompts/get']);

/** The name of the tool or prompt in a request; undefined if it is about neither. */
export function nameIn(method: string, params: JsonObject): string | undefined {
  return NAMED.has(method) ? asText(params['name']) : undefined;
}

/** Sends a request with its trace context. `idOf` is read once it is sent. */
export function observeSent(
  observed: ObservedOperation,
  params: JsonObject,
  send: (params: JsonObject) => Promise<JsonObject>,
  idOf?: () => number | undefined,
): Promise<JsonObject> {
  return observe(observed, () => send(withTrace(params, observed.meta)), idOf);
}

/** Runs an operation and reports its end. `idOf` is read once it has begun. */
export async function observe<T extends object>(
  observed: ObservedOperation,
  run: () => Promise<T>,
  idOf?: () => string | number | undefined,
): Promise<T> {
  let id: string | number | undefined;
  try {
    const result = observed.within(run);
    id = idOf?.();
    const answer = await result;
    observed.end({ id, error: 'isError' in answer && answer.isError === true ? 'tool_error' : undefined });
    return answer;
  } catch (error) {
    observed.end({ id, ...endOf(error) });
    throw error;
  }
}

function endOf(thrown: unknown): OperationEnd {
  if (thrown instanceof RpcError) return { error: String(thrown.rpcCode), rpcCode: thrown.rpcCode };
  if (thrown instanceof RequestLostError) return { error: thrown.failure.code };
  return { error: codeOf(thrown) ?? toError(thrown).name };
}

function withTrace(params: JsonObject, trace: JsonObject | undefined): JsonObject {
  return trace === undefined
    ? params
    : withMeta(params, { ...(params['_meta'] as JsonObject | undefined), ...trace });
}
