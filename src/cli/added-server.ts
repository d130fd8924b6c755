/** One `--add NAME=COMMAND-OR-URL`: a server named on the command line itself. */
import type { ServerConfig } from '../options.js';
import { UsageError } from './usage-error.js';

export interface AddedServer {
  readonly name: string;
  readonly config: ServerConfig;
}

/** Throws a `UsageError`, whose message never holds the value: it may be secret. */
export function toAddedServer(text: string): AddedServer {
  const at = text.indexOf('=');
  const name = at === -1 ? '' : text.slice(0, at).trim();
  const value = at === -1 ? '' : text.slice(at + 1).trim();
  if (name === '' || value === '') throw new UsageError('--add: expected NAME=COMMAND-OR-URL');
  if (/^https?:\/\//i.test(value)) return { name, config: { url: value } };
  const words = splitWords(value);
  if (words === undefined) throw new UsageError(`--add ${name}: a quote is not closed`);
  const [command = '', ...args] = words;
  if (command === '') throw new UsageError(`--add ${name}: the command is empty`);
  return { name, config: { command, args } };
}

/**
 * The words of a command line. Space separates; what stands in single or double quotes is taken as it is; a backslash
 * means nothing, so that Windows paths stay whole. Undefined where a quote is not closed.
 */
export function splitWords(line: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (const char of line) {
    if (quote !== undefined) {
      if (char === quote) quote = undefined;
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + char;
    }
  }
  if (quote !== undefined) return undefined;
  if (word !== undefined) words.push(word);
  return words;
}
