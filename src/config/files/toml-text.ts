/**
 * Reads TOML. The parser reports values but no positions, so the positions of names are looked up in the text: a table
 * by its header, a field by the line that begins with it. A name that is not found has the position of its table.
 */
import { parse, TomlError } from 'smol-toml';
import { isDeeperThan } from '../../json/parse-json.js';
import {
  DEEPEST,
  hasMoreThan,
  makePositionFinder,
  toParsedText,
  TOO_DEEP,
  tooMuch,
  withoutByteOrderMark,
  type ParsedText,
  type ReadTree,
  type TreeNode,
} from './text-tree.js';
import { asText } from '../../text/as-text.js';

const WRITTEN_TWICE = 'a name is written more than once';
const NOT_CLOSED = 'a bracket is not closed';
const WRONG_ESCAPE = 'unknown escape; write a backslash twice, or put the text in single quotes';
const NESTED = 'document contains excessively nested structures. aborting.';
const OVER = 'the value ends here, but the line continues';

/** The parser has no codes; other messages of it could contain part of the text. */
const EXPECTATIONS: Readonly<Record<string, string>> = {
  'invalid value': 'a value was expected; put a text in quotes',
  'unfinished string': 'a string is not closed',
  'unfinished array': NOT_CLOSED,
  'unfinished table': NOT_CLOSED,
  'expected comma or end of structure': "',' or a closing bracket was expected",
  'trying to redefine an already defined value': WRITTEN_TWICE,
  'trying to redefine an already defined table or value': WRITTEN_TWICE,
  'incomplete key-value: cannot find end of key': "'=' was expected",
  'illegal character in key': 'a name is not closed here, or needs quotes',
  'each key-value declaration must be followed by an end-of-line': OVER,
  'unrecognised escape sequence': WRONG_ESCAPE,
  'invalid unicode escape': WRONG_ESCAPE,
  'invalid non-hex character in unicode escape': WRONG_ESCAPE,
  'control characters are not allowed in strings': 'a string holds a control character',
  'integer value cannot be represented losslessly': 'a whole number is too large',
};

const HEADER = /^\s*\[\[?([^\]]+)\]\]?\s*(?:#.*)?$/;
const FIELD = /^\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_.-])+)\s*=/;
const KEY_PART = /"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)/g;

/** What separates parts of a text. It also counts within strings. */
const MARKS = /[=.,[\]{}\r\n]/g;
const MOST_MARKS = 500_000;

export const readTomlText: ReadTree = (text) => {
  const body = withoutByteOrderMark(text);
  if (hasMoreThan(MOST_MARKS, MARKS, body)) return tooMuch(MOST_MARKS, 'names, values and lines');
  const positionAt = makePositionFinder(body);
  try {
    const value = parse(body, { maxDepth: DEEPEST });
    if (isDeeperThan(DEEPEST, value)) return TOO_DEEP;
    if (Object.keys(value).length === 0) return { kind: 'empty' };
    return toParsedText(toNode(value, findPlaces(body)), positionAt);
  } catch (error) {
    return toBrokenText(error);
  }
};

function toBrokenText(error: unknown): ParsedText {
  if (!(error instanceof TomlError)) throw error;
  const { line, column, message } = error;
  const [, reason = ''] = /^Invalid TOML document: (.*)/.exec(message) ?? [];
  if (reason === NESTED) return TOO_DEEP;
  const expectation = Object.hasOwn(EXPECTATIONS, reason) ? EXPECTATIONS[reason] : undefined;
  return { kind: 'broken', code: 'syntax-error', message: expectation ?? 'this is not TOML', line, column };
}

/** The first position of a name, and of the names below it. */
interface Location {
  readonly offset: number;
  readonly below: Map<string, Location>;
}

/** A tree, so that its size is proportional to the text, however long a name or a path is. */
function findPlaces(text: string): Location {
  const root: Location = { offset: 0, below: new Map() };
  let table = root;
  for (const { index, 0: line } of text.matchAll(/[^\r\n]+/g)) {
    const offset = index + line.search(/\S|$/);
    const header = HEADER.exec(line)?.[1];
    const field = FIELD.exec(line)?.[1];
    if (header !== undefined) table = placeAt(root, header, offset);
    else if (field !== undefined) placeAt(table, field, offset);
  }
  return root;
}

/** The place of a key below another; new parts of it are at `offset`. */
function placeAt(from: Location, key: string, offset: number): Location {
  let place = from;
  for (const part of partsOf(key)) {
    const next = place.below.get(part) ?? { offset, below: new Map() };
    place.below.set(part, next);
    place = next;
  }
  return place;
}

function partsOf(key: string): readonly string[] {
  return [...key.matchAll(KEY_PART)].map(([, double, single, bare]) => double ?? single ?? bare ?? '');
}

function toNode(value: unknown, place: Location | undefined, inherited = 0): TreeNode {
  const offset = place?.offset ?? inherited;
  const node = { offset, length: 0 };
  if (Array.isArray(value)) {
    const children = value.map((item: unknown) => toNode(item, undefined, offset));
    return { ...node, type: 'array', children };
  }
  if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    const children = Object.entries(value).map(([name, item]): TreeNode => {
      const child = toNode(item, place?.below.get(name), offset);
      const key: TreeNode = { type: 'string', offset: child.offset, length: 0, value: name };
      return { type: 'property', offset: child.offset, length: 0, children: [key, child] };
    });
    return { ...node, type: 'object', children };
  }
  if (typeof value === 'number' || typeof value === 'boolean') {
    return { ...node, type: typeof value === 'number' ? 'number' : 'boolean', value };
  }
  return { ...node, type: 'string', value: value instanceof Date ? value.toISOString() : asText(value) };
}
