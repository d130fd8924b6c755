/**
 * Reads the text of a configuration file into entries. Opens no file and looks up no variable.
 *
 * P1. A wrong entry never stops the rest. A text that is not complete JSON gives no entry at all, because half of an
 *     entry could run something unintended.
 * P2. A file without servers is an error that says what was looked for, never an empty success.
 * P3. No problem holds a value from the text, except a word that was to be one of a fixed list.
 */
import type { ConfigProblem } from '../../errors.js';
import type { ServerConfig } from '../entry/server-config.js';
import { meantField, withSuggestions, type RawEntry } from '../entry/spelling.js';
import { findServers, REPEATED, type FoundServer, type ReportProblem } from './find-servers.js';
import { originOf } from '../hosts/translation.js';
import type { InputSpec } from '../entry/server-spec.js';
import { readJsonText } from './json-text.js';
import { layoutOf, WRAPPED, type Layout } from './layout.js';
import { fieldName, isError, listed, printable, type Path, type Position } from '../entry/problem.js';
import { isObject } from '../entry/read-shape.js';
import { locate, repeatsIn, valueOf, type ReadTree, type TextTree, membersOf } from './text-tree.js';
import { validateEntry } from '../entry/validate-entry.js';
import { codeWords } from '../entry/code-arguments.js';
import { escapeTemplate, type TemplateSyntax } from '../entry/template.js';
import { asText } from '../../text/as-text.js';

export interface ParsedEntry extends Position {
  readonly name: string;
  readonly config: ServerConfig;
}

export interface ParsedConfig {
  /** In the order of the layout's places, then in the order of the file. */
  readonly entries: readonly ParsedEntry[];
  /** Names whose entry cannot be used; each has at least one problem of severity `error`. */
  readonly refused: readonly string[];
  readonly problems: readonly ConfigProblem[];
  /** The declarations of its inputs, by id. */
  readonly inputs: ReadonlyMap<string, InputSpec>;
  /** Names of servers in the project's `.mcp.json` that this file disables. */
  readonly turnedOff: readonly string[];
  /** How many servers were not read, because the file has more than the limit. */
  readonly surplus: number;
}

const ANY_JSON = layoutOf('.json');

/**
 * The servers in a text, at most `most`. `sourceName` is the name of the text in problems; `read` must fit the layout's
 * syntax.
 * Comments, trailing commas and a byte order mark are allowed. Never throws.
 */
export function parseConfigText(
  text: string,
  sourceName: string,
  layout: Layout = ANY_JSON,
  read: ReadTree = readJsonText,
  most = Infinity,
): ParsedConfig {
  const problems: ConfigProblem[] = [];
  const report: ReportProblem = (problem) => {
    problems.push({ source: sourceName, ...problem });
  };
  const parsed = read(text);
  if (parsed.kind === 'tree') return parseTree(parsed.tree, { sourceName, layout, problems, report, most });
  if (parsed.kind === 'broken') {
    const { code, message, line, column } = parsed;
    report({ code, line, column, message });
  } else if (layout.isSettings !== true) {
    report({
      code: 'empty-file',
      line: 1,
      column: 1,
      message: `is empty; expected ${WRAPPED[layout.syntax]}`,
    });
  }
  return { entries: [], refused: [], problems, inputs: new Map(), turnedOff: [], surplus: 0 };
}

/** For one server, or for the rest of the file. Further problems are counted. */
const MOST_PROBLEMS = 50;

/** The problems without those beyond the limit, and how many these are. */
function abridged(problems: readonly ConfigProblem[], source: string): readonly ConfigProblem[] {
  const kept: ConfigProblem[] = [];
  const counts = new Map<string | undefined, number>();
  /** One of those beyond the limit, an error if there is one. */
  const beyond = new Map<string | undefined, ConfigProblem>();
  for (const problem of problems) {
    const { server } = problem;
    const count = (counts.get(server) ?? 0) + 1;
    counts.set(server, count);
    const worst = beyond.get(server) ?? problem;
    if (count <= MOST_PROBLEMS) kept.push(problem);
    else beyond.set(server, isError(worst) ? worst : problem);
  }
  for (const [server, { code, severity = 'error' }] of beyond) {
    const message = `has ${(counts.get(server) ?? 0) - MOST_PROBLEMS} more problems`;
    kept.push({ code, severity, source, ...(server !== undefined && { server }), message });
  }
  return kept;
}

interface Parsing {
  readonly sourceName: string;
  readonly layout: Layout;
  readonly problems: ConfigProblem[];
  readonly report: ReportProblem;
  readonly most: number;
}

function parseTree(tree: TextTree, parsing: Parsing): ParsedConfig {
  const { sourceName, layout, problems, report, most } = parsing;
  const entries: ParsedEntry[] = [];
  const refused: string[] = [];
  const left = new Map<string, string[]>();
  const found = findServers(tree, layout, report);
  for (const server of found.slice(0, most)) {
    const { name, position } = server;
    const result = parseEntry(tree, server, parsing);
    if ('foreign' in result) {
      const names = left.get(result.foreign);
      if (names === undefined) left.set(result.foreign, [name]);
      else names.push(name);
    } else if (result.config === undefined) refused.push(printable(name));
    else entries.push({ name, config: result.config, ...position });
  }
  for (const [why, names] of left) {
    const list = listed(names, (name) => `'${printable(name)}'`);
    report({ code: 'unsupported-entry', severity: 'warning', message: `${list} left out: ${why}` });
  }
  const inputs = readInputs(tree, report);
  return {
    entries,
    refused,
    problems: abridged(problems, sourceName),
    inputs,
    turnedOff: readTurnedOff(tree),
    surplus: Math.max(0, found.length - most),
  };
}

/** Claude Code has this list in its settings. */
function readTurnedOff(tree: TextTree): readonly string[] {
  const list = tree.memberOf(tree.root, 'disabledMcpjsonServers');
  const names = list === undefined ? [] : valueOf(list.node);
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
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
    for (const problem of validateEntry(name, value, place).problems) problems.push(problem);
    return { config: undefined };
  }
  const { expands } = layout;
  const { entry, origins, unused, words, foreign } = translate(
    expands === undefined ? value : asLiteral(value, expands),
  );
  if (foreign !== undefined) return { foreign };
  const [first] = unused;
  if (first !== undefined) {
    report({
      code: 'unused-field',
      severity: 'warning',
      ...place.locate([first]),
      server: shown,
      ...(unused.length === 1 && { field: printable(first) }),
      message: whyUnused(unused, words),
    });
  }
  const validated = validateEntry(name, entry, { ...place, asWritten: (path) => originOf(path, origins) });
  for (const problem of validated.problems) problems.push(problem);
  return { config: validated.config };
}

/** One message for all fields of an entry that have a meaning only in other hosts. */
function whyUnused(unused: readonly string[], words: readonly string[]): string {
  const [first = '', ...others] = unused;
  if (others.length === 0) {
    const meant = meantField(first, words);
    return `has no counterpart here and is not used${meant === undefined ? '' : `; did you mean '${meant}'?`}`;
  }
  return `${withSuggestions(unused, words)} have no counterpart here and are not used`;
}

// The inputs that a file declares beside its servers, as in VS Code.

/** The declarations of a file, at its top or beside the servers under `mcp`, by id. */
function readInputs(tree: TextTree, report: ReportProblem): ReadonlyMap<string, InputSpec> {
  const top = membersOf(tree, tree.root);
  const below = top.filter(({ name }) => name === 'mcp').flatMap(({ node }) => membersOf(tree, node));
  const found = [...top, ...below].find(({ name }) => name === 'inputs');
  if (found === undefined) return new Map();
  const list = valueOf(found.node);
  const specs = Array.isArray(list) ? list.flatMap(toSpec) : [];
  if (!Array.isArray(list) || specs.length < list.length) {
    const message = "expected a list of objects, each with an 'id'";
    report({ code: 'wrong-type', severity: 'warning', ...found.position, field: 'inputs', message });
  }
  const commands = Array.isArray(list) ? list.flatMap(commandId) : [];
  if (commands.length > 0) {
    const message = `only VS Code can run the command of ${listed(commands, (id) => id)}: a person is asked instead`;
    report({ code: 'command-input', severity: 'warning', ...found.position, field: 'inputs', message });
  }
  return new Map(specs.map((spec) => [spec.id, spec]));
}

function commandId(value: unknown): readonly string[] {
  return isObject(value) && value['type'] === 'command' ? [`'${printable(asText(value['id']))}'`] : [];
}

function toSpec(value: unknown): readonly InputSpec[] {
  if (!isObject(value) || typeof value['id'] !== 'string') return [];
  const { id, description, default: proposal, options, password } = value;
  return [
    {
      id,
      ...(typeof description === 'string' && { description: printable(description) }),
      ...(typeof proposal === 'string' && { default: proposal }),
      ...(Array.isArray(options) && { options: options.flatMap(toOption) }),
      password: password === true,
    },
  ];
}

/** A plain text, or an object with a label and a value. */
function toOption(option: unknown): readonly string[] {
  const value = isObject(option) ? option['value'] : option;
  return typeof value === 'string' ? [value] : [];
}

// Entries of hosts that expand no variables: something that looks like a reference is plain text there, and must be
// escaped to remain text here.

/** Fields that are read like a command line, under the names that hosts use for them. */
const COMMAND_LINE = new Set(['command', 'cmd', 'args', 'cwd', 'envFile']);

/** The entry with every text outside of the `expanded` fields escaped. */
function asLiteral(entry: RawEntry, expanded: readonly string[]): RawEntry {
  const code = codeIn(entry);
  const escape = (value: unknown, syntax: TemplateSyntax, place: string): unknown => {
    if (typeof value === 'string') return escapeTemplate(value, code.has(place) ? 'code' : syntax);
    if (Array.isArray(value))
      return value.map((item: unknown, index) => escape(item, syntax, `${place}/${index}`));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        escape(item, key === 'env' ? 'plain' : syntax, `${place}/${key}`),
      ]),
    );
  };
  return Object.fromEntries(
    Object.entries(entry).map(([field, value]) => [
      field,
      expanded.includes(field)
        ? value
        : escape(value, COMMAND_LINE.has(field) ? 'command-line' : 'plain', field),
    ]),
  );
}

/** The places of the arguments that are code for a shell or an interpreter: the same text elsewhere is no code. */
function codeIn({ command, cmd, args }: RawEntry): ReadonlySet<string> {
  const old = isObject(command) ? command : {};
  const words = [
    ...wordsAt('command', command),
    ...(command === undefined ? wordsAt('cmd', cmd) : []),
    ...wordsAt('command/path', old['path']),
    ...wordsAt('args', args),
    ...wordsAt('command/args', old['args']),
  ];
  const code = codeWords(words.map(({ word }) => word));
  return new Set(words.flatMap(({ place }, index) => (code.has(index) ? [place] : [])));
}

function wordsAt(
  place: string,
  value: unknown,
): readonly { readonly place: string; readonly word: string }[] {
  if (typeof value === 'string') return [{ place, word: value }];
  if (!Array.isArray(value)) return [];
  return value.flatMap((word: unknown, index) =>
    typeof word === 'string' ? [{ place: `${place}/${index}`, word }] : [],
  );
}
