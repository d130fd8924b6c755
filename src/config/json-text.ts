/**
 * JSON with comments as a tree that knows where everything stands.
 *
 * Owns the reading of the text and its places; knows nothing of servers.
 */
import { getNodeValue, parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';
import type { Path, Position } from './problem.js';

/** A named part of an object. */
export interface Member {
  readonly name: string;
  readonly node: Node;
  /** Where the name stands. */
  readonly position: Position;
}

export interface JsonText {
  readonly root: Node;
  positionOf(node: Node): Position;
}

export type JsonNode = Node;

export type JsonReading =
  | { readonly kind: 'json'; readonly json: JsonText }
  /** Nothing but blanks and comments. */
  | { readonly kind: 'empty' }
  | ({ readonly kind: 'broken'; readonly message: string } & Position);

/** A name that an object holds more than once, at its later place. */
export interface Repeat extends Position {
  readonly path: readonly (string | number)[];
}

const EXPECTATIONS: Readonly<Record<string, string>> = {
  InvalidSymbol: 'this is not JSON; words and names stand in double quotes',
  InvalidNumberFormat: 'this is not a number',
  PropertyNameExpected: 'a name in double quotes was expected',
  ValueExpected: 'a value was expected',
  ColonExpected: "':' was expected",
  CommaExpected: "',' was expected",
  CloseBraceExpected: "'}' was expected",
  CloseBracketExpected: "']' was expected",
  EndOfFileExpected: 'the JSON is over here, but the text goes on',
  UnexpectedEndOfComment: 'a comment is not closed',
  UnexpectedEndOfString: 'a string is not closed on its line',
  UnexpectedEndOfNumber: 'a number breaks off',
  InvalidUnicode: 'an escape \\u needs four hexadecimal digits',
  InvalidEscapeCharacter: 'an escape is not known; write a backslash twice',
  InvalidCharacter: 'a string holds a control character',
};

const DEEPEST = 200;
const TOO_DEEP: JsonReading = { kind: 'broken', message: 'is nested too deeply', line: 1, column: 1 };

/** Comments, trailing commas and a byte order mark are allowed. Never throws; a message holds nothing of the text. */
export function readJsonText(text: string): JsonReading {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(body, errors, { allowTrailingComma: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return TOO_DEEP;
  }
  const [error] = errors;
  if (error !== undefined) return toFailedReading(error, body, root);
  if (root === undefined) return { kind: 'empty' };
  if (isDeeperThan(DEEPEST, root)) return TOO_DEEP;
  const positionAt = makePositionFinder(body);
  return { kind: 'json', json: { root, positionOf: (node) => positionAt(node.offset) } };
}

/** Members in the order of the text, repeated names included; none where `node` is not an object. */
export function membersOf(json: JsonText, node: Node): readonly Member[] {
  if (node.type !== 'object') return [];
  return (node.children ?? []).flatMap(({ children: [name, value] = [] }) =>
    name === undefined || value === undefined
      ? []
      : [{ name: String(name.value), node: value, position: json.positionOf(name) }],
  );
}

/** The value as plain data; of a repeated name the last one counts, as in `JSON.parse`. */
export function valueOf(node: Node): unknown {
  return getNodeValue(node);
}

/** Where the last existing step of `path` below `member` stands: a name, or an item of a list. */
export function locate(json: JsonText, member: Member, path: Path): Position {
  const [step, ...rest] = path;
  if (typeof step === 'string') {
    const next = membersOf(json, member.node).findLast(({ name }) => name === step);
    return next === undefined ? member.position : locate(json, next, rest);
  }
  const item = step === undefined ? undefined : member.node.children?.[step];
  return item === undefined || member.node.type !== 'array' ? member.position : json.positionOf(item);
}

/** Names written more than once in the objects below `node`. */
export function repeatsIn(json: JsonText, node: Node, path: Path = []): readonly Repeat[] {
  if (node.type === 'array') {
    return (node.children ?? []).flatMap((item, index) => repeatsIn(json, item, [...path, index]));
  }
  const seen = new Set<string>();
  return membersOf(json, node).flatMap(({ name, node: value, position }) => {
    const repeat = seen.has(name) ? [{ path: [...path, name], ...position }] : [];
    seen.add(name);
    return [...repeat, ...repeatsIn(json, value, [...path, name])];
  });
}

/** Recursion over a tree that passes stays within the stack. */
function isDeeperThan(limit: number, node: Node): boolean {
  return limit < 0 || (node.children ?? []).some((child) => isDeeperThan(limit - 1, child));
}

function toFailedReading(error: ParseError, body: string, root: Node | undefined): JsonReading {
  const code = printParseErrorCode(error.error);
  const end = body.trimEnd().length;
  const isAtEnd = error.offset >= end;
  if (root === undefined && isAtEnd && code === 'ValueExpected') return { kind: 'empty' };
  const expectation = EXPECTATIONS[code] ?? 'this is not JSON';
  const message = isAtEnd ? `the file ends too early: ${expectation}` : expectation;
  return { kind: 'broken', message, ...makePositionFinder(body)(Math.min(error.offset, end)) };
}

function makePositionFinder(text: string): (offset: number) => Position {
  const starts = [0, ...[...text.matchAll(/\r\n|\r|\n/g)].map((match) => match.index + match[0].length)];
  return (offset) => {
    let line = 0;
    for (let after = starts.length; after - line > 1;) {
      const middle = (line + after) >> 1;
      if ((starts[middle] ?? 0) <= offset) line = middle;
      else after = middle;
    }
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
}
