/**
 * The answer to a client whose request has no result. Pure.
 *
 * E1. An error of a server is passed on unchanged: code, message and data.
 * E2. No answer holds a path of this machine, a stack or a secret.
 */
import {
  CallAbortedError,
  InvalidArgumentsError,
  JsonRpcError,
  NotFoundError,
  TroupeError,
  UnknownToolError,
  UnsupportedError,
} from '../../errors.js';
import { isJsonObject, type JsonObject } from '../../json/json-object.js';
import { RpcError } from '../../protocol/protocol-client.js';
import { RPC } from './client-message.js';

/** MCP specification 2025-11-25, "Resources", error handling. */
const RESOURCE_NOT_FOUND = -32002;
const ERROR_META = 'mcp-troupe/error';

export function invalidParams(reason: string): RpcError {
  return new RpcError(RPC.invalidParams, `Invalid params: ${reason}`, { reason });
}

export function unknownMethod(method: string): RpcError {
  return new RpcError(RPC.methodNotFound, 'Method not found', { method: method.slice(0, 100) });
}

/** `about` holds additional data. */
export function unknownResource(uri: string, message: string, about: JsonObject = {}): RpcError {
  return new RpcError(RESOURCE_NOT_FOUND, message, { uri, ...about });
}

/** The answer to requests in flight when the gateway or the session ends. */
export const CLOSED = new RpcError(RPC.serverError, 'The gateway is ending this session.', {
  reason: 'closing',
});

export const ITSELF = new RpcError(
  RPC.invalidRequest,
  'The client is this gateway itself: its own address is among its servers. Put it into a file that the gateway does not read.',
  undefined,
);

/** The answer to a server that asks a client without a session while no request of it is in flight. */
export const NO_REQUEST = new RpcError(
  RPC.serverError,
  'The client can be asked only during one of its requests.',
  { reason: 'no-request' },
);

/** An error of Troupe as a JSON-RPC error; undefined for an internal error. */
export function toRpcError(error: unknown): RpcError | undefined {
  if (error instanceof RpcError) return error;
  if (error instanceof JsonRpcError) return new RpcError(error.rpcCode, error.rpcMessage, error.data);
  if (error instanceof UnknownToolError) {
    return new RpcError(RPC.invalidParams, error.message, { tool: error.tool });
  }
  if (error instanceof InvalidArgumentsError) {
    return new RpcError(RPC.invalidParams, error.message, { tool: error.tool, problems: error.problems });
  }
  if (error instanceof NotFoundError) return new RpcError(RPC.invalidParams, error.message, errorData(error));
  if (error instanceof UnsupportedError)
    return new RpcError(RPC.methodNotFound, error.message, errorData(error));
  if (error instanceof TroupeError) return new RpcError(RPC.serverError, error.message, errorData(error));
  return error instanceof TypeError ? invalidParams(error.message) : undefined;
}

/** The same for a client without a session: an unknown resource has another code there (MCP 2026-07-28, "Error Codes"). */
export function toStatelessError(error: unknown): unknown {
  const answer = toRpcError(error);
  if (answer?.rpcCode !== RESOURCE_NOT_FOUND) return answer ?? error;
  return new RpcError(RPC.invalidParams, answer.message, answer.data);
}

/** The same for a request of a session. */
export function toSessionError(method: string, error: unknown): unknown {
  const answer = toRpcError(error);
  const { uri } = isJsonObject(answer?.data) ? answer.data : {};
  const isUnknown = method === 'resources/read' && answer?.rpcCode === RPC.invalidParams;
  if (!isUnknown || typeof uri !== 'string') return answer ?? error;
  return new RpcError(RESOURCE_NOT_FOUND, answer.message, answer.data);
}

/**
 * The same for a call of a tool. If a server is away or did not answer, that is a result for the model to read; a
 * mistake of the client is an error.
 */
export function toToolAnswer(error: unknown): JsonObject {
  const isOfModel =
    error instanceof TroupeError &&
    !(error instanceof JsonRpcError) &&
    !(error instanceof UnknownToolError) &&
    !(error instanceof InvalidArgumentsError) &&
    !(error instanceof CallAbortedError);
  if (!isOfModel) throw toRpcError(error) ?? error;
  return {
    content: [{ type: 'text', text: error.message }],
    isError: true,
    _meta: { [ERROR_META]: errorData(error) },
  };
}

/** The cause, as far as it helps the client. */
function errorData(error: TroupeError): JsonObject {
  const { code, server } = error;
  const failure = causeOf(error);
  return {
    code,
    ...(server === undefined ? {} : { server }),
    ...(failure === undefined ? {} : { failure }),
  };
}

/** The failure behind an error that only says that nothing was sent. */
function causeOf(error: Error): JsonObject | undefined {
  const { failure } = error as {
    readonly failure?: { readonly code: string; readonly message: string; readonly hint?: string };
  };
  if (failure === undefined) return error.cause instanceof Error ? causeOf(error.cause) : undefined;
  const { code, message, hint } = failure;
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}
