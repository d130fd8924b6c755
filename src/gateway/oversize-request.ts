/** Finds the id of a request of which only the first bytes are known. Pure. */
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';

const SIMPLE = String.raw`(?:"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null)`;
const MEMBERS = new RegExp(String.raw`^\s*\{((?:\s*"\w+"\s*:\s*${SIMPLE}\s*,)*)`);

/** Only members of the outermost object before its first composite value are looked at; a request has a method. */
export function requestIdOf({ head }: { readonly head: string }): RequestId | undefined {
  const members = MEMBERS.exec(head)?.[1] ?? '';
  try {
    const { id, method } = JSON.parse(`{${members.replace(/,\s*$/, '')}}`) as Record<string, unknown>;
    if (typeof method !== 'string') return undefined;
    return typeof id === 'string' || typeof id === 'number' ? id : undefined;
  } catch {
    return undefined;
  }
}
