/**
 * The one line of a program's last words that says why it ended.
 *
 * L1. Mostly that is the last line. Node and npm end with lines that say nothing: a stack, the version, where a log is, the
 *     end of a value that is shown over several lines.
 * L2. It is always one of the lines, whole: nothing is made up or put together.
 */

/** What follows the cause: the version of Node, a piece of advice, the place of npm's log. */
const AFTERWORD =
  /^Node\.js v\d|^\(Use `node --trace-|^npm (?:error|ERR!)\s+(?:A complete log |\/)|^npm notice\b/;
const STACK_FRAME = /^\s+at /;
/** The rest of an error whose fields are shown below its stack. */
const BELOW_A_STACK = /^\s|^[}\])]/;
/** Only brackets, which end a value. */
const CLOSING = /^[}\])]+[,;]*$/;
const WORD = /[\p{L}\p{N}]/u;
/** Below a line of source, where in it the fault is. */
const CARET = /^\s*[\^~]+\s*$/;
const ERROR_NAME = /(?:Error|Exception)\b/;
const OF_NPM = /^npm (?:error|ERR!) /;
const NPM_DETAIL = /^npm (?:error|ERR!) (?:code|errno|syscall|path|command|cwd|dest|type) /;

/** Undefined where there is none with anything in it. Pure. */
export function tellingLine(lines: readonly string[]): string | undefined {
  const said = lines.slice(0, lines.findLastIndex(saysSomething) + 1);
  return (
    aboveTheStack(said) ?? firstOfNpm(said) ?? firstOfValue(said) ?? said.at(-1) ?? lines.findLast(isFilled)
  );
}

function isFilled(line: string): boolean {
  return line.trim() !== '';
}

function saysSomething(line: string): boolean {
  return isFilled(line) && !AFTERWORD.test(line);
}

/** Where a stack is the last that there is: the error it belongs to, which may have several lines. */
function aboveTheStack(lines: readonly string[]): string | undefined {
  const last = lines.findLastIndex((line) => STACK_FRAME.test(line));
  if (last === -1 || !lines.slice(last + 1).every((line) => BELOW_A_STACK.test(line))) return undefined;
  const above = lines.slice(0, lines.slice(0, last).findLastIndex((line) => !STACK_FRAME.test(line)) + 1);
  const paragraph = withoutSource(above.slice(above.findLastIndex((line) => !isFilled(line)) + 1));
  return paragraph.findLast((line) => ERROR_NAME.test(line)) ?? paragraph.at(-1);
}

/** Deno shows the line of source below the error, Bun some of them above it. */
function withoutSource(paragraph: readonly string[]): readonly string[] {
  const caret = paragraph.findLastIndex((line) => CARET.test(line));
  if (caret === -1) return paragraph;
  const below = paragraph.slice(caret + 1);
  return below.length > 0 ? below : paragraph.slice(0, Math.max(0, caret - 1));
}

function firstOfValue(lines: readonly string[]): string | undefined {
  if (!CLOSING.test(lines.at(-1) ?? '')) return undefined;
  const value = lines.slice(
    Math.max(
      0,
      lines.findLastIndex((line) => !BELOW_A_STACK.test(line)),
    ),
  );
  return value.find((line) => WORD.test(line));
}

/** npm tells the cause first and then what could be done about it. */
function firstOfNpm(lines: readonly string[]): string | undefined {
  if (!OF_NPM.test(lines.at(-1) ?? '')) return undefined;
  const block = lines.slice(lines.findLastIndex((line) => !OF_NPM.test(line)) + 1);
  return block.find((line) => !NPM_DETAIL.test(line));
}
