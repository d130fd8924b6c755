/**
 * One page of a list (MCP specification 2025-11-25, "Pagination"). A cursor holds the last entry of the page before, so
 * that a list that has changed meanwhile continues after the present place of that entry. Pure.
 */
import { parseJson } from '../../json/parse-json.js';
import { invalidParams } from './error-answer.js';
import { asText } from '../../text/as-text.js';

export interface Page<T> {
  readonly entries: readonly T[];
  readonly nextCursor?: string;
}

export interface Paged<T> {
  /** Name of the list; a cursor of another list is refused. */
  readonly list: string;
  readonly entries: readonly T[];
  readonly keyOf: (entry: T) => string;
  readonly pageSize: number;
}

/** Throws an `RpcError` for a cursor that is not valid, or not any more, in this list. */
export function pageOf<T>({ list, entries, keyOf, pageSize }: Paged<T>, cursor: unknown): Page<T> {
  const from = cursor === undefined ? 0 : startOf(list, entries.map(keyOf), cursor);
  const page = entries.slice(from, from + pageSize);
  const last = page.at(-1);
  if (last === undefined || from + pageSize >= entries.length) return { entries: page };
  return { entries: page, nextCursor: toCursor([list, from + page.length, keyOf(last)]) };
}

/** The entry may have moved. */
function startOf(list: string, keys: readonly string[], cursor: unknown): number {
  const [itsList, end, key] = fromCursor(cursor);
  if (itsList !== list || typeof end !== 'number' || typeof key !== 'string') throw invalid();
  if (keys[end - 1] === key) return end;
  const at = keys.indexOf(key);
  if (at === -1) throw invalid();
  return at + 1;
}

function toCursor(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

function fromCursor(cursor: unknown): readonly unknown[] {
  const parts = parseJson(Buffer.from(asText(cursor), 'base64url').toString());
  return Array.isArray(parts) ? parts : [];
}

function invalid(): Error {
  return invalidParams(
    "'cursor' does not belong to this list, or the list has changed: start without a cursor",
  );
}
