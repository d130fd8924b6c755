/**
 * Makes text from others (servers, files, names) safe to show: nothing in it controls the terminal.
 */
import { cleanText } from '../../text/server-text.js';
import { visibleName } from '../../text/visible-text.js';

/** On one line: each run of white space becomes one space. */
export function oneLine(text: string): string {
  return cleanText(text.replace(/\s+/g, ' ').trim());
}

/** The name of a server, on one line, in which no character can be taken for another. */
export function nameOf(server: string): string {
  return visibleName(oneLine(server));
}

/** Keeps the line breaks. */
export function manyLines(text: string): string {
  return text.split(/\r?\n/).map(cleanText).join('\n');
}
