/**
 * Reads the text of a configuration file into entries. Pure: no file is opened and no variable is looked up.
 *
 * P1. One wrong entry never stops the rest; a text that is not whole JSON gives no entry at all, since half of an
 *     entry could run something else than what was meant.
 * P2. A file in which no servers can be found is an error that says what was looked for, never an empty success.
 * P3. No problem holds a value from the text, except a word that was to be one of a fixed list.
 */
import type { ConfigProblem } from '../errors.js';
import type { ServerConfig } from '../options.js';
import { findServers, REPEATED, WRAPPED, type ReportProblem } from './find-servers.js';
import { locate, readJsonText, repeatsIn, valueOf } from './json-text.js';
import { fieldName, printable, type Path, type Position } from './problem.js';
import { validateEntry } from './validate-entry.js';

export interface ParsedEntry extends Position {
  readonly name: string;
  readonly config: ServerConfig;
}

export interface ParsedConfig {
  /** In the order of the file. */
  readonly entries: readonly ParsedEntry[];
  /** Names whose entry cannot be used; each has at least one problem of severity `error`. */
  readonly refused: readonly string[];
  readonly problems: readonly ConfigProblem[];
}

/**
 * The servers a text names. `sourceName` is how the text is called in problems.
 * Comments, trailing commas and a byte order mark are allowed. Never throws.
 */
export function parseConfigText(text: string, sourceName: string): ParsedConfig {
  const problems: ConfigProblem[] = [];
  const report: ReportProblem = (problem) => {
    problems.push({ source: sourceName, ...problem });
  };
  const entries: ParsedEntry[] = [];
  const refused: string[] = [];
  const reading = readJsonText(text);
  if (reading.kind === 'empty') report({ line: 1, column: 1, message: `is empty; expected ${WRAPPED}` });
  if (reading.kind === 'broken') {
    const { message, line, column } = reading;
    report({ line, column, message });
  }
  if (reading.kind === 'json') {
    const { json } = reading;
    for (const member of findServers(json, report)) {
      const { name, node, position } = member;
      for (const { path, line, column } of repeatsIn(json, node)) {
        report({ ...REPEATED, line, column, server: printable(name), field: fieldName(path) });
      }
      const place = { source: sourceName, locate: (path: Path) => locate(json, member, path) };
      const validated = validateEntry(name, valueOf(node), place);
      problems.push(...validated.problems);
      if (validated.config === undefined) refused.push(printable(name));
      else entries.push({ name, config: validated.config, ...position });
    }
  }
  return { entries, refused, problems };
}
