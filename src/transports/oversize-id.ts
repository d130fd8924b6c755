/**
 * Finds the id of a JSON-RPC response from its first and last bytes. Pure.
 *
 * Servers write the id before or after the result. Only members of the outermost object count: the ones before the first
 * composite value, and the ones between the last composite value and the closing brace.
 */
import type { RequestId } from '../mcp/messages.js';

const SIMPLE = String.raw`(?:"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null)`;
const MEMBER = String.raw`"\w+"\s*:\s*${SIMPLE}`;
const RESPONSE_HEAD = new RegExp(String.raw`^\s*\{\s*((?:${MEMBER}\s*,\s*)*)"(?:result|error)"\s*:`);
const TAIL = new RegExp(String.raw`,\s*(${MEMBER}(?:\s*,\s*${MEMBER})*)\s*\}\s*$`);

function idAmong(members: string | undefined): RequestId | undefined {
  if (members === undefined) return undefined;
  const { id } = JSON.parse(`{${members.replace(/,\s*$/, '')}}`) as { id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

const END_CHARACTERS = 1_024;

/** The first and last characters of a whole text. */
export function endsOf(text: string): { readonly head: string; readonly tail: string } {
  return { head: text.slice(0, END_CHARACTERS), tail: text.slice(-END_CHARACTERS) };
}

/** The id of the request that this line answers; undefined for a request, a batch, or anything but JSON-RPC. */
export function answeredId(line: { readonly head: string; readonly tail: string }): RequestId | undefined {
  const head = RESPONSE_HEAD.exec(line.head);
  if (head === null) return undefined;
  try {
    return idAmong(head[1]) ?? idAmong(TAIL.exec(line.tail)?.[1]);
  } catch {
    return undefined;
  }
}
