/** How much one message of a server may hold, and what takes the place of an answer that holds more. */
import type { JSONRPCErrorResponse, RequestId } from '../mcp/messages.js';
import { DEFAULT_EVENTS_PER_SECOND } from '../lifecycle/event-rate.js';
import { type MessageLimits, JSON_LIMITS, type JsonLimits } from '../json/parse-json.js';
import { digitGroups } from '../text/digit-groups.js';

export const DEFAULT_MESSAGE_LIMITS: Required<MessageLimits> = {
  stdioMessageBytes: 16 * 1024 * 1024,
  remoteMessageBytes: 16 * 1024 * 1024,
  structuralCharacters: JSON_LIMITS.structure,
  listEntries: 2_000,
  eventsPerSecond: DEFAULT_EVENTS_PER_SECOND,
};

/** Every limit; an absent one, or null, has its default. */
export function allLimits(limits: MessageLimits | null = {}): Required<MessageLimits> {
  const given = Object.entries(limits ?? {}).filter(([, value]) => typeof value === 'number');
  return { ...DEFAULT_MESSAGE_LIMITS, ...Object.fromEntries(given) };
}

/** The part of a message that names the option for a limit. If there are several options, the transport decides which applies. */
export function raisedBy(...options: readonly (keyof MessageLimits)[]): string {
  return ` (the option ${options.map((option) => `'limits.${option}'`).join(' or ')} raises this limit)`;
}

/** The limits on the JSON of one message. */
export function jsonLimits(limits: MessageLimits): JsonLimits {
  const { structuralCharacters: structure } = allLimits(limits);
  return { ...JSON_LIMITS, structure, raisedBy: raisedBy('structuralCharacters') };
}

/** What a message with too many bytes exceeds, as the end of a sentence that begins with the message. */
export function excessOfBytes(option: 'stdioMessageBytes' | 'remoteMessageBytes', limit: number): string {
  return `has more than ${digitGroups(limit)} bytes${raisedBy(option)}`;
}

/** JSON-RPC error code (in the range for implementations) of the answer that replaces one beyond a limit. */
export const MESSAGE_TOO_LARGE = -32010;

/** Fails the call that waits for an answer beyond a limit, so that it does not wait for its timeout. */
export function tooLargeAnswer(id: RequestId, why: string): JSONRPCErrorResponse {
  const error = { code: MESSAGE_TOO_LARGE, message: `The answer was skipped: it ${why}.` };
  return { jsonrpc: '2.0', id, error };
}

// Finds the id of a JSON-RPC response from its first and last bytes. Pure.
//
// Servers write the id before or after the result. Only members of the outermost object count: the ones before the first
// composite value, and the ones between the last composite value and the closing brace.

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
