/**
 * Text that others wrote (servers, files, names) as a person may see it: nothing in it steers the terminal.
 */
import { cleanText } from '../transports/stdio/clean-text.js';

/** On one line: every run of white space is one space. */
export function oneLine(text: string): string {
  return cleanText(text.replace(/\s+/g, ' ').trim());
}

/** With its lines kept. */
export function manyLines(text: string): string {
  return text.split(/\r?\n/).map(cleanText).join('\n');
}
