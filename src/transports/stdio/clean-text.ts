import { stripVTControlCharacters } from 'node:util';

const UNSAFE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** One line of a server's output as text that cannot steer a terminal: no escape sequence, control or bidi character. */
export function cleanText(line: string): string {
  if (line.search(UNSAFE) === -1) return line;
  return stripVTControlCharacters(line).replaceAll('\t', ' ').replace(UNSAFE, '');
}
