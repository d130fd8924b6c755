/**
 * The subject of an entry, found without parsing its line: its kind, the type of its event, and for a note the server.
 * There are few labels, so each is made once and identified by a number.
 *
 * I1. A recorder writes `"kind":"…"` before the event, and `"type"` first in an event and in a note. For any other
 *     line, the label is as far as could be found.
 */

import type { ScannedLine } from '../../../src/event-log/format/line-index.js';

/** Categories that a person looks for in a long log. */
export const CATEGORIES = [
  'rejection',
  'failure',
  'call',
  'list',
  'command',
  'timer',
  'wire',
  'other',
] as const;
export type Category = (typeof CATEGORIES)[number];

export interface Label {
  readonly kind: string;
  /** Type of the event or of the note; empty for a snapshot. */
  readonly type: string;
  /** For a note about a server. */
  readonly server: string | undefined;
  readonly category: Category;
}

const toBytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const SERVER = toBytes(',"server":"');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SNAPSHOT_START = toBytes('snapshot"');
const KIND = patternOf('"kind":"');
const TYPE = patternOf('"type":"');

export class Labels {
  readonly all: Label[] = [];
  readonly #byHash = new Map<number, number>();
  readonly #decoder = new TextDecoder();

  /** The number of the label of a line. `glance` holds the facts that are known already. */
  of(
    bytes: Uint8Array,
    start: number,
    end: number,
    { kindAt, seenTo }: Pick<ScannedLine, 'kindAt' | 'seenTo'>,
  ): number {
    const kind = kindAt < 0 ? after(KIND, bytes, start, end) : kindAt;
    const kindEnd = endOfText(bytes, kind, end);
    const isSnapshot = isAhead(SNAPSHOT_START, bytes, kind);
    const type = isSnapshot ? kindEnd : after(TYPE, bytes, Math.max(kindEnd, seenTo), end);
    const typeEnd = isSnapshot ? kindEnd : endOfText(bytes, type, end);
    const hasServer = isAhead(SERVER, bytes, typeEnd + 1);
    const name = hasServer ? typeEnd + 1 + SERVER.length : typeEnd;
    const nameEnd = hasServer ? endOfText(bytes, name, end) : typeEnd;
    let hash = hashed(bytes, kind, kindEnd, 17);
    hash = hashed(bytes, type, typeEnd, hash);
    hash = hashed(bytes, name, nameEnd, hash);
    const known = this.#byHash.get(hash);
    if (known !== undefined) return known;
    const text = (from: number, to: number): string => this.#decoder.decode(bytes.subarray(from, to));
    const label = {
      kind: text(kind, kindEnd),
      type: isSnapshot ? '' : unescaped(text(type, typeEnd)),
      server: hasServer ? unescaped(text(name, nameEnd)) : undefined,
    };
    const number = this.all.length;
    this.all.push({ ...label, category: categoryOf(label.kind, label.type) });
    this.#byHash.set(hash, number);
    return number;
  }
}

function categoryOf(kind: string, type: string): Category {
  if (type === 'connection.rejected') return 'rejection';
  if (type.startsWith('xstate.error.') || type === 'session.lost' || type === 'session.unreachable')
    return 'failure';
  if (type.startsWith('call.')) return 'call';
  if (type === 'catalog.listChanged' || type === 'catalog.extrasChanged') return 'list';
  if (type === 'wire') return 'wire';
  if (kind === 'send') return 'command';
  return kind === 'timer' ? 'timer' : 'other';
}

function isAhead(expected: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let index = 0; index < expected.length; index += 1)
    if (bytes[at + index] !== expected[index]) return false;
  return true;
}

/** The position after the pattern; the end if it does not occur. After Horspool: most bytes are never read. */
function after({ bytes: expected, skips }: Pattern, bytes: Uint8Array, start: number, end: number): number {
  const last = expected.length - 1;
  for (let at = start; at + last < end;) {
    const byte = bytes[at + last] ?? 0;
    if (byte === QUOTE && isAhead(expected, bytes, at)) return at + expected.length;
    at += skips[byte] ?? 1;
  }
  return end;
}

interface Pattern {
  readonly bytes: Uint8Array;
  /** How far to skip if that byte is below the last one of the pattern. */
  readonly skips: Uint8Array;
}

/** It must end with a quote. */
function patternOf(text: string): Pattern {
  const bytes = toBytes(text);
  const skips = new Uint8Array(256).fill(bytes.length);
  for (let index = 0; index < bytes.length - 1; index += 1)
    skips[bytes[index] ?? 0] = bytes.length - 1 - index;
  return { bytes, skips };
}

/** The end of the text that begins there, without its quote. */
function endOfText(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return Math.min(at, end);
}

function hashed(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let [high, low] = [seed, end - start];
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    low = Math.imul(low ^ byte, 0x01000193) >>> 0;
    high = (Math.imul(high, 31) + byte) & 0x1fffff;
  }
  return high * 0x1_0000_0000 + low;
}

function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}
