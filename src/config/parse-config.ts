/**
 * Reads the text of a configuration file into entries. No file is opened and no variable is looked up.
 *
 * P1. One wrong entry never stops the rest; a text that is not whole JSON gives no entry at all, since half of an
 *     entry could run something else than what was meant.
 * P2. A file in which no servers can be found is an error that says what was looked for, never an empty success.
 * P3. No problem holds a value from the text, except a word that was to be one of a fixed list.
 */
import type { ConfigProblem } from '../errors.js';
import type { ServerConfig } from '../options.js';
import { meantField } from './entry-fields.js';
import { findServers, REPEATED, type FoundServer, type ReportProblem } from './find-servers.js';
import { originOf } from './hosts/translation.js';
import { readInputs, type InputSpec } from './inputs.js';
import { readJsonText } from './json-text.js';
import { layoutOf, WRAPPED, type Layout } from './layout.js';
import { asLiteral } from './literal-text.js';
import { fieldName, printable, type Path, type Position } from './problem.js';
import { isObject } from './read-shape.js';
import { locate, repeatsIn, valueOf, type ReadTree, type TextTree } from './text-tree.js';
import { validateEntry } from './validate-entry.js';

export interface ParsedEntry extends Position {
  readonly name: string;
  readonly config: ServerConfig;
}

export interface ParsedConfig {
  /** In the order of the layout's places, and within them of the file. */
  readonly entries: readonly ParsedEntry[];
  /** Names whose entry cannot be used; each has at least one problem of severity `error`. */
  readonly refused: readonly string[];
  readonly problems: readonly ConfigProblem[];
  /** What the file says about the answers its entries refer to, by their id. */
  readonly inputs: ReadonlyMap<string, InputSpec>;
}

const ANY_JSON = layoutOf('.json');

/**
 * The servers a text names. `sourceName` is how the text is called in problems; `read` has to fit the layout's syntax.
 * Comments, trailing commas and a byte order mark are allowed. Never throws.
 */
export function parseConfigText(
  text: string,
  sourceName: string,
  layout: Layout = ANY_JSON,
  read: ReadTree = readJsonText,
): ParsedConfig {
  const problems: ConfigProblem[] = [];
  const report: ReportProblem = (problem) => {
    problems.push({ source: sourceName, ...problem });
  };
  const reading = read(text);
  if (reading.kind === 'tree') return parseTree(reading.tree, { sourceName, layout, problems, report });
  if (reading.kind === 'broken') {
    const { message, line, column } = reading;
    report({ line, column, message });
  } else if (layout.isSettings !== true) {
    report({ line: 1, column: 1, message: `is empty; expected ${WRAPPED[layout.syntax]}` });
  }
  return { entries: [], refused: [], problems, inputs: new Map() };
}

interface Parsing {
  readonly sourceName: string;
  readonly layout: Layout;
  readonly problems: ConfigProblem[];
  readonly report: ReportProblem;
}

function parseTree(tree: TextTree, parsing: Parsing): ParsedConfig {
  const { layout, problems, report } = parsing;
  const entries: ParsedEntry[] = [];
  const refused: string[] = [];
  const left = new Map<string, string[]>();
  for (const server of findServers(tree, layout, report)) {
    const { name, position } = server;
    const result = parseEntry(tree, server, parsing);
    if ('foreign' in result) left.set(result.foreign, [...(left.get(result.foreign) ?? []), name]);
    else if (result.config === undefined) refused.push(printable(name));
    else entries.push({ name, config: result.config, ...position });
  }
  for (const [why, names] of left) {
    const list = names.map((name) => `'${printable(name)}'`).join(', ');
    report({ severity: 'warning', message: `${list} left out: ${why}` });
  }
  return { entries, refused, problems, inputs: readInputs(tree, report) };
}

function parseEntry(
  tree: TextTree,
  server: FoundServer,
  { sourceName, layout, problems, report }: Parsing,
): { readonly foreign: string } | { readonly config: ServerConfig | undefined } {
  const { name, node, translate } = server;
  const shown = printable(name);
  for (const { path, line, column } of repeatsIn(tree, node)) {
    report({ ...REPEATED, line, column, server: shown, field: fieldName(path) });
  }
  const value = valueOf(node);
  const place = { source: sourceName, locate: (path: Path) => locate(tree, server, path) };
  if (!isObject(value)) {
    problems.push(...validateEntry(name, value, place).problems);
    return { config: undefined };
  }
  const { expands } = layout;
  const { entry, origins, unused, words, foreign } = translate(
    expands === undefined ? value : asLiteral(value, expands),
  );
  if (foreign !== undefined) return { foreign };
  for (const field of unused) {
    const meant = meantField(field, words);
    const question = meant === undefined ? '' : `; did you mean '${meant}'?`;
    const message = `has no counterpart here and is not used${question}`;
    report({
      severity: 'warning',
      ...place.locate([field]),
      server: shown,
      field: printable(field),
      message,
    });
  }
  const validated = validateEntry(name, entry, { ...place, asWritten: (path) => originOf(path, origins) });
  problems.push(...validated.problems);
  return { config: validated.config };
}
