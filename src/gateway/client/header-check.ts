/** Compares the headers of a request with its body (MCP 2026-07-28, "Transports", "Request Metadata"). Pure. */
import type { JsonObject } from '../../json/json-object.js';
import { requestHeaders, type MirroredArgument } from '../../protocol/mirrored-headers.js';
import { RpcError } from '../../protocol/protocol-client.js';
import type { RequestHeaders } from '../../transports/session-transport.js';

/** MCP 2026-07-28, "Error Codes". */
export const HEADER_MISMATCH = -32_020;

interface Described {
  readonly method: string;
  readonly params: JsonObject;
  readonly headers: RequestHeaders;
}

/** The error if a header differs from the body, or is missing; undefined if all are right. */
export function headerMismatch(
  { method, params, headers }: Described,
  version: string,
  mirrored: readonly MirroredArgument[] = [],
): RpcError | undefined {
  const expected = requestHeaders(version, method, params, mirrored);
  const names = [...Object.keys(expected), ...mirrored.map(({ header }) => header)];
  const header = names.find((name) => decoded(headers[name]) !== decoded(expected[name]));
  if (header === undefined) return undefined;
  const what = headers[header] === undefined ? 'is missing' : 'differs from the body';
  return new RpcError(HEADER_MISMATCH, `The header ${header} ${what}.`, { header });
}

const MARKED = /^=\?base64\?(.*)\?=$/i;

/** Undefined for an absent header, and null for one that cannot be read, which is like no other. */
function decoded(value: string | readonly string[] | undefined): string | null | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') return null;
  const base64 = MARKED.exec(value)?.[1];
  if (base64 === undefined) return value;
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 ? bytes.toString() : null;
}
