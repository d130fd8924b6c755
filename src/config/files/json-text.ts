/** Reads JSON with comments. */
import { createScanner, parseTree, printParseErrorCode, type ParseError } from 'jsonc-parser';
import {
  DEEPEST,
  makePositionFinder,
  toParsedText,
  TOO_DEEP,
  tooMuch,
  withoutByteOrderMark,
  type ParsedText,
  type ReadTree,
  type TreeNode,
} from './text-tree.js';

const EXPECTATIONS: Readonly<Record<string, string>> = {
  InvalidSymbol: 'this is not JSON; put words and names in double quotes',
  InvalidNumberFormat: 'this is not a number',
  PropertyNameExpected: 'a name in double quotes was expected',
  ValueExpected: 'a value was expected',
  ColonExpected: "':' was expected",
  CommaExpected: "',' was expected",
  CloseBraceExpected: "'}' was expected",
  CloseBracketExpected: "']' was expected",
  EndOfFileExpected: 'the JSON ends here, but the text continues',
  UnexpectedEndOfComment: 'a comment is not closed',
  UnexpectedEndOfString: 'a string is not closed on its line',
  UnexpectedEndOfNumber: 'a number is incomplete',
  InvalidUnicode: 'an escape \\u needs four hexadecimal digits',
  InvalidEscapeCharacter: 'unknown escape; write a backslash twice',
  InvalidCharacter: 'a string holds a control character',
};

/** Names, values, brackets, commas and colons. */
const MOST_TOKENS = 1_000_000;

/** Comments, trailing commas and a byte order mark are allowed. */
export const readJsonText: ReadTree = (text) => {
  const body = withoutByteOrderMark(text);
  const excess = excessIn(body);
  if (excess !== undefined) return excess;
  const errors: ParseError[] = [];
  const root = parseTree(body, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) return toBrokenText(error, body, root);
  return root === undefined ? { kind: 'empty' } : toParsedText(root, makePositionFinder(body));
};

/** Uses the parser's own scanner. A bracket closes only the last one that is open, as for the parser. */
function excessIn(text: string): ParsedText | undefined {
  const scanner = createScanner(text, true);
  const open: string[] = [];
  for (let tokens = 0; tokens <= MOST_TOKENS; tokens += 1) {
    scanner.scan();
    const first = text[scanner.getTokenOffset()];
    if (first === undefined) return undefined;
    if (first === '{') open.push('}');
    else if (first === '[') open.push(']');
    else if (first === open.at(-1)) open.pop();
    if (open.length > DEEPEST) return TOO_DEEP;
  }
  return tooMuch(MOST_TOKENS, 'names, values and brackets');
}

function toBrokenText(error: ParseError, body: string, root: TreeNode | undefined): ParsedText {
  const code = printParseErrorCode(error.error);
  const end = body.trimEnd().length;
  const isAtEnd = error.offset >= end;
  if (root === undefined && isAtEnd && code === 'ValueExpected') return { kind: 'empty' };
  const expectation = EXPECTATIONS[code] ?? 'this is not JSON';
  const message = isAtEnd ? `the text ends too early: ${expectation}` : expectation;
  return {
    kind: 'broken',
    code: 'syntax-error',
    message,
    ...makePositionFinder(body)(Math.min(error.offset, end)),
  };
}
