/** Reads JSON with comments. */
import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';
import {
  makePositionFinder,
  toParsedText,
  TOO_DEEP,
  withoutByteOrderMark,
  type ParsedText,
  type ReadTree,
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

/** Comments, trailing commas and a byte order mark are allowed. */
export const readJsonText: ReadTree = (text) => {
  const body = withoutByteOrderMark(text);
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(body, errors, { allowTrailingComma: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return TOO_DEEP;
  }
  const [error] = errors;
  if (error !== undefined) return toBrokenText(error, body, root);
  return root === undefined ? { kind: 'empty' } : toParsedText(root, makePositionFinder(body));
};

function toBrokenText(error: ParseError, body: string, root: Node | undefined): ParsedText {
  const code = printParseErrorCode(error.error);
  const end = body.trimEnd().length;
  const isAtEnd = error.offset >= end;
  if (root === undefined && isAtEnd && code === 'ValueExpected') return { kind: 'empty' };
  const expectation = EXPECTATIONS[code] ?? 'this is not JSON';
  const message = isAtEnd ? `the file ends too early: ${expectation}` : expectation;
  return {
    kind: 'broken',
    code: 'syntax-error',
    message,
    ...makePositionFinder(body)(Math.min(error.offset, end)),
  };
}
