import { stripVTControlCharacters } from 'node:util';

const UNSAFE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** A line of a server's output without escape sequences, control and bidi characters, so that it cannot control a terminal. */
export function cleanText(line: string): string {
  if (line.search(UNSAFE) === -1) return line;
  return stripVTControlCharacters(line).replaceAll('\t', ' ').replace(UNSAFE, '');
}
