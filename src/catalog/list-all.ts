/** Reads one list over all its pages (MCP specification, "Pagination"). */
import { jsonSize } from '../json/nesting.js';
import { METHOD_NOT_FOUND, RpcError, type ProtocolClient } from '../protocol/protocol-client.js';

/** More pages than any honest server has; the rest is left out and reported. */
export const MAX_PAGES = 1_000;

/** Limit of characters of all pages together: as much as one message may hold. */
const MAX_SIZE = 64 * 1024 * 1024;

export interface WholeList {
  readonly items: readonly unknown[];
  /** Why the list may be incomplete; undefined if it is complete. */
  readonly problem: string | undefined;
}

/**
 * Reads every page of `method`. If the server does not know the method, the list is empty. Reading stops at a repeated
 * cursor, since it would never end, and at a page that would make the list too large.
 */
export async function listAll(
  client: ProtocolClient,
  method: string,
  key: string,
  signal: AbortSignal,
): Promise<WholeList> {
  const items: unknown[] = [];
  const seen = new Set<string>();
  let size = 0;
  let cursor: string | undefined;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const result = await requestPage(client, method, cursor, signal);
    if (result === undefined) return { items, problem: undefined };
    const entries = result[key];
    if (!Array.isArray(entries)) {
      return { items, problem: `The answer to ${method} has no list '${key}'.` };
    }
    size += jsonSize(entries, MAX_SIZE);
    if (size > MAX_SIZE)
      return { items, problem: `${method} is too large; read ${page - 1} pages and stopped.` };
    for (const entry of entries as readonly unknown[]) items.push(entry);
    cursor = typeof result['nextCursor'] === 'string' ? result['nextCursor'] : undefined;
    if (cursor === undefined) return { items, problem: undefined };
    if (seen.has(cursor)) {
      return { items, problem: `${method} gave the same cursor twice; read ${page} pages and stopped.` };
    }
    seen.add(cursor);
  }
  return { items, problem: `${method} has more than ${MAX_PAGES} pages; the rest was left out.` };
}

async function requestPage(
  client: ProtocolClient,
  method: string,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  try {
    return await client.request(method, cursor === undefined ? {} : { cursor }, { signal });
  } catch (error) {
    if (error instanceof RpcError && error.rpcCode === METHOD_NOT_FOUND) return undefined;
    throw error;
  }
}
