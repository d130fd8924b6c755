/** Changes JSON with comments in one place. */
import { applyEdits, modify } from 'jsonc-parser';
import type { TextEdit } from './edit-text.js';

/** Keeps the indentation and the line ends of the text. A text without indentation gets two spaces. */
export function editJson(text: string, { path, value }: TextEdit): string {
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  const isTabs = indent.startsWith('\t');
  const formattingOptions = { insertSpaces: !isTabs, tabSize: isTabs ? 1 : indent.length, eol };
  const body = text.trim() === '' ? `{}${eol}` : text;
  // A formatted removal would format the neighbour too.
  const options = value === undefined ? {} : { formattingOptions };
  return applyEdits(body, modify(body, [...path], value, options));
}
