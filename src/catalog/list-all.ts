/** Reads one list over all its pages (MCP specification, "Pagination"). */
import { setImmediate } from 'node:timers/promises';
import { isLimit, LimitOver, withinLimit } from '../async/timers.js';
import { jsonExtent, type MessageLimits } from '../json/parse-json.js';
import type { Clock } from '../ports.js';
import { METHOD_NOT_FOUND, RpcError, type ProtocolClient } from '../protocol/protocol-client.js';
import { allLimits, raisedBy } from '../transports/message-limits.js';
import { digitGroups } from '../text/digit-groups.js';

/** More pages than any honest server has; the rest is left out and reported. */
export const MAX_PAGES = 1_000;
/** Pages in a row without a new entry. A server that filters its pages may have a few. */
export const MAX_FRUITLESS = 10;

/** Structural characters of a list above which other work of the host runs before the list is checked. */
const LARGE_STRUCTURE = 50_000;
/** The share of the time limit after which no further page is awaited, so that the pages read so far can still be used. */
const SHARE_OF_LIMIT = 0.9;

/** Which list of a server to read, and within which limit. */
export interface ListRequest {
  readonly method: string;
  /** The field of the answer that holds the entries. */
  readonly key: string;
  /** Milliseconds for all pages together; 0 = no limit. */
  readonly limitMs: number;
  /**
   * All pages together hold at most the bytes (counted as characters) and the structural characters of one message.
   * Default: `DEFAULT_MESSAGE_LIMITS`.
   */
  readonly limits?: MessageLimits | undefined;
}

export interface WholeList {
  readonly items: readonly unknown[];
  /** The entries beyond `listEntries`, which are left out. Default none. */
  readonly beyond?: readonly unknown[];
  /** Some pages were not read: `problem` says why. Default false. */
  readonly isCut?: boolean;
  /** Why the list may be incomplete; undefined if it is complete. */
  readonly problem: string | undefined;
  /** The server does not know the method. */
  readonly isRefused?: boolean;
}

/**
 * Reads every page of a list. Reading stops and keeps the entries so far if a cursor is repeated, after several pages without
 * a new entry, if a page would make the list too large, or if a further page does not come in time. Of too many entries, the
 * first are kept; the others are read, so that they can be named. An entry that a later page repeats is kept once.
 */
export async function listAll(
  client: ProtocolClient,
  clock: Clock,
  { method, key, limitMs, limits }: ListRequest,
  signal: AbortSignal,
): Promise<WholeList> {
  const begun = clock.now();
  const items: unknown[] = [];
  const cursors = new Set<string>();
  const known = new Set<string>();
  const beyond: unknown[] = [];
  const all = allLimits(limits);
  const { structuralCharacters, listEntries } = all;
  const maxSize = Math.max(all.stdioMessageBytes, all.remoteMessageBytes);
  const tooMany = (): string | undefined =>
    beyond.length === 0
      ? undefined
      : `${method} has more than ${digitGroups(listEntries)} entries${raisedBy('listEntries')}; the rest was left out.`;
  const stop = (why: string): WholeList => ({
    items,
    beyond,
    isCut: true,
    problem: [`${method} ${why}`, tooMany()].filter((each) => each !== undefined).join(' '),
  });
  let size = 0;
  let structure = 0;
  let fruitless = 0;
  let cursor: string | undefined;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const request = (inner: AbortSignal): ReturnType<ProtocolClient['request']> =>
      client.request(method, params, { signal: inner });
    let result: Record<string, unknown>;
    try {
      result =
        page === 1 || !isLimit(limitMs)
          ? await request(signal)
          : await withinLimit(clock, signal, timeLeft(limitMs, clock.now() - begun), request);
    } catch (error) {
      if (error instanceof LimitOver && !signal.aborted) {
        return stop(`took too long; read ${page - 1} pages and stopped.`);
      }
      if (!(error instanceof RpcError) || error.rpcCode !== METHOD_NOT_FOUND) throw error;
      return page === 1
        ? { items, problem: undefined, isRefused: true }
        : stop(`is unknown for page ${page}; read ${page - 1} pages and stopped.`);
    }
    const entries = result[key];
    if (!Array.isArray(entries)) {
      return { items, problem: `The answer to ${method} has no list '${key}'.` };
    }
    const ofPage = jsonExtent(entries, { size: maxSize, structure: structuralCharacters });
    if (ofPage.structure > LARGE_STRUCTURE) await setImmediate();
    size += ofPage.size;
    structure += ofPage.structure;
    const stopped = `read ${page - 1} pages and stopped.`;
    if (structure > structuralCharacters) {
      const count = digitGroups(structuralCharacters);
      return stop(
        `has more than ${count} structural characters over all pages${raisedBy('structuralCharacters')}; ${stopped}`,
      );
    }
    if (size > maxSize) {
      const how = raisedBy('stdioMessageBytes', 'remoteMessageBytes');
      return stop(`has more than ${digitGroups(maxSize)} characters over all pages${how}; ${stopped}`);
    }
    const next = result['nextCursor'];
    const isOnly = page === 1 && typeof next !== 'string';
    const fresh = isOnly ? (entries as readonly unknown[]) : newEntries(entries, known);
    const room = listEntries - items.length;
    for (const entry of fresh.slice(0, room)) items.push(entry);
    for (const entry of fresh.slice(room)) beyond.push(entry);
    if (typeof next !== 'string') {
      return beyond.length === 0 ? { items, problem: undefined } : { items, beyond, problem: tooMany() };
    }
    fruitless = fresh.length === 0 ? fruitless + 1 : 0;
    if (fruitless === MAX_FRUITLESS) {
      return stop(
        `gave ${MAX_FRUITLESS} pages in a row without a new entry; read ${page} pages and stopped.`,
      );
    }
    if (cursors.has(next)) return stop(`gave the same cursor twice; read ${page} pages and stopped.`);
    cursors.add(next);
    cursor = next;
  }
  return stop(`has more than ${MAX_PAGES} pages; the rest was left out.`);
}

/** For a list that the server has declared: a server that does not know its method is a problem. */
export function refusalAsProblem({ method }: ListRequest, list: WholeList): WholeList {
  if (list.isRefused !== true) return list;
  return {
    ...list,
    problem: `The server declares the capability for ${method}, but does not know that method.`,
  };
}

/** At least one millisecond, because a limit of 0 means no limit. */
function timeLeft(limitMs: number, passedMs: number): number {
  return Math.max(1, limitMs * SHARE_OF_LIMIT - passedMs);
}

/** The entries that no earlier page had. Within a page, all are kept. */
function newEntries(entries: readonly unknown[], known: Set<string>): readonly unknown[] {
  const texts = entries.map((entry) => JSON.stringify(entry));
  const fresh = entries.filter((_, index) => !known.has(texts[index] as string));
  for (const text of texts) known.add(text);
  return fresh;
}
