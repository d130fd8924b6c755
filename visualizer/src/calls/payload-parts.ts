/** The content of a request or an answer, as parts that a person can read. */
import { isJsonObject } from '../../../src/json/json-object.js';

export interface PayloadPart {
  /** What it is, such as `text` or `image/png`. */
  readonly title: string;
  readonly text: string;
}

/** The parts of a result of MCP; any other value is one part, as JSON. */
export function payloadParts(value: unknown): readonly PayloadPart[] {
  if (!isJsonObject(value) || !Array.isArray(value['content'])) return [json('JSON', value)];
  const { content, structuredContent, ...rest } = value;
  const others = Object.keys(rest).length === 0 ? [] : [json('more', rest)];
  const structured = structuredContent === undefined ? [] : [json('structured', structuredContent)];
  return [...(content as readonly unknown[]).map(blockPart), ...structured, ...others];
}

function blockPart(block: unknown): PayloadPart {
  if (!isJsonObject(block)) return json('JSON', block);
  const { type, text, data, mimeType } = block;
  if (type === 'text' && typeof text === 'string') return { title: 'text', text: readable(text) };
  if (typeof data === 'string' && typeof mimeType === 'string') {
    const bytes = Math.floor((data.replace(/=+$/u, '').length * 3) / 4);
    return { title: mimeType, text: `${bytes.toLocaleString('en-US')} bytes, not shown` };
  }
  return json(typeof type === 'string' ? type : 'JSON', block);
}

/** Many servers send JSON as text, on one line. */
function readable(text: string): string {
  if (!/^\s*[[{]/u.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function json(title: string, value: unknown): PayloadPart {
  return { title, text: JSON.stringify(value, null, 2) ?? 'nothing' };
}

const MOST_LINES = 24;
const MOST_CHARACTERS = 2_000;

/** The beginning of a long text; undefined if it is short enough. */
export function beginning(text: string): string | undefined {
  const lines = text.split('\n', MOST_LINES + 1);
  const short = lines.slice(0, MOST_LINES).join('\n');
  if (short.length > MOST_CHARACTERS) return short.slice(0, MOST_CHARACTERS).replace(/[\uD800-\uDBFF]$/u, '');
  return lines.length > MOST_LINES ? short : undefined;
}
