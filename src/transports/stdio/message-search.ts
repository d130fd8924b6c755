/**
 * Finds JSON-RPC messages in output that is not one message per line: after log text, several in a row, or spread over
 * several lines. Pure, except that `SpreadMessage` keeps the lines of a message that is not complete.
 *
 * M1. A text that is JSON as a whole is never searched: a message within it is data.
 * M2. A message that only clients send is noise: the server has echoed what it received.
 * M3. The work is linear in the length of the text: objects that do not end in it are followed to its end only until
 *     `MAX_EXTRA` characters more than its length were read.
 */
import type { JSONRPCMessage } from '../../mcp/messages.js';
import { excessOf, JSON_LIMITS, parseJson, type JsonLimits } from '../../json/parse-json.js';
import { messagesIn } from '../json-rpc.js';

export type Piece =
  | { readonly kind: 'message'; readonly message: JSONRPCMessage }
  | { readonly kind: 'noise'; readonly text: string }
  /** An object that is beyond a limit, and was not parsed. */
  | { readonly kind: 'too-complex'; readonly text: string }
  /** The beginning of an object that goes on in the next line. */
  | { readonly kind: 'open'; readonly text: string };

/** A JSON-RPC object: its first member, or nothing yet. */
const BEGIN = /\{\s*(?:"(?:jsonrpc|id|method|params|result|error)"\s*:|$)/g;
/** A line of printed JSON. */
const OF_JSON = /^\s*(?:["{}[\],\d-]|true\b|false\b|null\b|$)/;
const MAX_TRIES = 100;
/** Characters that are read more than once, at most. */
const MAX_EXTRA = 262_144;

/** MCP 2025-11-25, schema: `ClientRequest` and `ClientNotification`, without what servers send as well. */
const FROM_CLIENTS =
  /^(?:initialize|notifications\/(?:initialized|roots\/list_changed)|(?:tools|resources|prompts|completion|logging)\/.*)$/;

/** The pieces of a line, in order; undefined if it contains neither a message nor the beginning of one. */
export function piecesOf(line: string, limits = JSON_LIMITS): readonly Piece[] | undefined {
  const pieces: Piece[] = [];
  let from = 0;
  const noiseUntil = (end: number): void => {
    const text = line.slice(from, end);
    if (text.trim() !== '') pieces.push({ kind: 'noise', text });
  };
  /** Where an object begins that does not end here. */
  let open: number | undefined;
  let budget = line.length + MAX_EXTRA;
  BEGIN.lastIndex = 0;
  for (let tries = 0; tries < MAX_TRIES && budget > 0; tries += 1) {
    const begin = BEGIN.exec(line);
    if (begin === null) break;
    const nesting = new Nesting();
    const end = nesting.endIn(line, begin.index);
    budget -= (end ?? line.length) - begin.index;
    if (end === undefined) {
      if (!nesting.isInText) open ??= begin.index;
      continue;
    }
    const text = line.slice(begin.index, end);
    const messages = received(text, limits);
    BEGIN.lastIndex = end;
    const isTooComplex = messages === undefined && excessOf(text, limits) !== undefined;
    if (messages === undefined && !isTooComplex) continue;
    noiseUntil(begin.index);
    if (isTooComplex) pieces.push({ kind: 'too-complex', text });
    for (const message of messages ?? []) pieces.push({ kind: 'message', message });
    from = end;
    open = undefined;
  }
  if (open !== undefined) {
    noiseUntil(open);
    return [...pieces, { kind: 'open', text: line.slice(open) }];
  }
  if (pieces.length === 0) return undefined;
  noiseUntil(line.length);
  return pieces;
}

/** The messages in the text of a complete object; undefined if it is not a message, or not one for a client. */
function received(text: string, limits: JsonLimits): readonly JSONRPCMessage[] | undefined {
  const messages = messagesIn(parseJson(text, limits));
  return messages?.some(isEcho) === true ? undefined : messages;
}

function isEcho(message: JSONRPCMessage): boolean {
  const method: unknown = 'method' in message ? message.method : undefined;
  return typeof method === 'string' && FROM_CLIENTS.test(method);
}

/** How deep a position in JSON is nested. */
class Nesting {
  #depth = 0;
  isInText = false;

  /** The index after the end of the outermost value; undefined if it does not end in this text. */
  endIn(text: string, from = 0): number | undefined {
    for (let index = from; index < text.length; index += 1) {
      const character = text[index];
      if (this.isInText) {
        if (character === '\\') index += 1;
        else if (character === '"') this.isInText = false;
      } else if (character === '"') this.isInText = true;
      else if (character === '{' || character === '[') this.#depth += 1;
      else if (character === '}' || character === ']') {
        this.#depth -= 1;
        if (this.#depth === 0) return index + 1;
      }
    }
    return undefined;
  }
}

/** How a further line continues a message that spans several lines. */
export type Continued =
  | { readonly kind: 'open' }
  /** `rest` follows the message in its last line. */
  | { readonly kind: 'complete'; readonly messages: readonly JSONRPCMessage[]; readonly rest: string }
  /** It is complete and beyond a limit. */
  | { readonly kind: 'too-complex'; readonly text: string; readonly rest: string }
  /** It was not a message: neither `lines` nor the new line have been processed. */
  | { readonly kind: 'none' };

/** A message that is printed over several lines. */
export class SpreadMessage {
  readonly #lines: string[] = [];
  readonly #nesting = new Nesting();
  #length = 0;

  constructor(
    first: string,
    private readonly maxLength: number,
    private readonly limits: JsonLimits = JSON_LIMITS,
  ) {
    this.#add(first);
    this.#nesting.endIn(first);
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  next(line: string): Continued {
    const isJson = OF_JSON.test(line);
    const end = isJson ? this.#nesting.endIn(line) : undefined;
    const isBroken = !isJson || this.#nesting.isInText || this.#length + line.length > this.maxLength;
    if (isBroken) return { kind: 'none' };
    if (end === undefined) {
      this.#add(line);
      return { kind: 'open' };
    }
    const text = [...this.#lines, line.slice(0, end)].join('\n');
    const rest = line.slice(end);
    const messages = received(text, this.limits);
    if (messages !== undefined) return { kind: 'complete', messages, rest };
    return excessOf(text, this.limits) === undefined ? { kind: 'none' } : { kind: 'too-complex', text, rest };
  }

  #add(line: string): void {
    this.#lines.push(line);
    // An empty line is a line feed.
    this.#length += line.length + 1;
  }
}
