/** Text of a server, made safe and short for messages and terminals. */
import { stripVTControlCharacters } from 'node:util';

const MAX_QUOTED = 100;
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** A line of output without escape sequences, control and bidi characters, so that it cannot control a terminal. */
export function cleanText(line: string): string {
  if (line.search(UNSAFE) === -1) return line;
  return stripVTControlCharacters(line).replaceAll('\t', ' ').replace(UNSAFE, '');
}

/** A text within a message: quoted, cut and without control characters. */
export function quoted(text: string): string {
  const cut = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
  return JSON.stringify(cut).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
}

/** The first and the last lines, with the number of the omitted ones between them. */
export function excerptOf(lines: readonly string[], limit: number): readonly string[] {
  if (lines.length <= limit) return lines;
  const first = Math.floor(limit / 3);
  const last = limit - first - 1;
  return [...lines.slice(0, first), `… ${lines.length - first - last} more lines …`, ...lines.slice(-last)];
}
