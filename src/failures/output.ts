/** The output of a server (stderr and stdout) as a failure shows it: an excerpt, and the line that says why it failed. Pure. */
import { excerptOf } from '../text/server-text.js';
import type { RawFailure } from './transport-error.js';

/** The most lines of stderr and of stdout that a failure carries; the whole rings stay with the transport. */
const EXCERPT_LINES = 20;

/** The first and last lines of what a server wrote. */
export function outputOf(
  stderr: readonly string[],
  stdout: readonly string[],
): Pick<RawFailure, 'stderrTail' | 'stdoutTail'> {
  return {
    ...(stderr.length === 0 ? {} : { stderrTail: excerptOf(stderr, EXCERPT_LINES) }),
    ...(stdout.length === 0 ? {} : { stdoutTail: excerptOf(stdout, EXCERPT_LINES) }),
  };
}

/** Quotes the line that says why: an error on stderr, then one on stdout, then whatever it wrote last. */
export function causeHint(stderr: readonly string[], stdout: readonly string[]): string | undefined {
  const cure = damagedCacheHint(stderr);
  if (cure !== undefined) return cure;
  const onStderr = pickErrorLine(stderr);
  const onStdout = pickErrorLine(stdout);
  const isOnStdout =
    onStdout !== undefined && (onStderr === undefined || (reportsError(onStdout) && !reportsError(onStderr)));
  if (isOnStdout) return quoted(onStdout, stdout, 'stdout');
  return onStderr === undefined ? undefined : quoted(onStderr, stderr, 'stderr');
}

export function quoted(line: string, lines: readonly string[], stream: 'stderr' | 'stdout'): string {
  const isLast = line === lines.findLast((each) => each.trim() !== '');
  return `${isLast ? `The last line on its ${stream} was` : `On its ${stream} it said`}: ${line}`;
}

/** npx keeps each package in a folder of its own, which an interrupted download leaves unusable for every later start. */
function damagedCacheHint(lines: readonly string[]): string | undefined {
  if (!lines.some((line) => /^npm (?:error|ERR!).*\b(?:ENOENT|ENOTEMPTY|EEXIST)\b/.test(line)))
    return undefined;
  const [folder] = lines.flatMap((line) => /(?:[A-Za-z]:)?[^\s'":]*[/\\]_npx[/\\][0-9a-f]+/.exec(line) ?? []);
  return folder === undefined
    ? undefined
    : `npm's copy of this package is damaged, perhaps by an interrupted download: delete ${folder} and retry.`;
}

// Finds the line of a program's output that says why it failed. Pure.
//
// L1. The last line that reports an error wins; if there is none, the last line. Usage, advice, stacks, the version of
//     Node and the report of a launcher follow the cause and are skipped.
// L2. The result is always one whole line.

/** Lines that follow the cause: the version of Node, advice, the path of npm's log. */
const AFTERWORDS: readonly RegExp[] = [
  /^Node\.js v\d|^\(Use `node --trace-|^npm (?:error|ERR!)\s+(?:A complete log |\/)|^npm notice\b/,
  /^\W*(?:see|for (?:more|help|further)|visit|read|learn more|more info(?:rmation)?|docs|documentation)\b.*(?:https?:|--help|documentation|docs\b)/i,
];
const STACK_FRAME = /^\s+at /;
/** The rest of an error whose fields are shown below its stack. */
const BELOW_A_STACK = /^\s|^[}\])]/;
/** Only closing brackets, which end a value. */
const CLOSING = /^[}\])]+[,;]*$/;
const WORD = /[\p{L}\p{N}]/u;
/** Marks the position of the error below a line of source. */
const CARET = /^\s*[\^~]+\s*$/;
const ERROR_NAME = /(?:Error|Exception)\b/;
const OF_NPM = /^npm (?:error|ERR!) /;
const NPM_DETAIL = /^npm (?:error|ERR!) (?:code|errno|syscall|path|command|cwd|dest|type) /;

/** A line that reports an error: a level, the name of an error before a colon, or what is missing. */
const ERRORS: readonly RegExp[] = [
  /(?:^|[^\w-])(?:fatal|panic|critical|error|err!?|[\w.]*(?:Error|Exception))[\])"']*\s*(?::|-\s)/i,
  /^\W*(?:fatal|panic|error|critical)\b/i,
  /"(?:level|severity)":\s*(?:50\b|60\b|"(?:error|fatal|critical|panic)")/i,
  /\b(?:must be set|(?:is|are) (?:not set|required|missing|not defined|undefined)|missing (?:required|env|api|argument)|permission denied|(?:connection )?refused)\b/i,
];
/** The level of a line that reports no error. */
const NO_ERROR =
  /^[^\p{L}]*(?:[\dTZ:.+-]+\s+)?\W*(?:info|debug|trace|warn(?:ing)?)\b|"level":\s*"?(?:info|debug|trace|warn|[1-4]0\b)/iu;
/** A launcher reports that the program failed, but not why. */
const LAUNCHER =
  /command failed|exited with (?:code|status|exit)|exit (?:code|status) \d|ELIFECYCLE|lifecycle script/i;
const USAGE = /^\s*usage\b/i;
/** A line of a usage: blank, indented, an option, or a heading. */
const OF_USAGE = /^\s*$|^\s|^-|:\s*$/;

/** Undefined if no line says anything. */
export function pickErrorLine(lines: readonly string[]): string | undefined {
  const output = withoutUsage(lines.slice(0, lines.findLastIndex(saysSomething) + 1));
  const last = aboveTheStack(output) ?? firstOfNpm(output) ?? firstOfValue(output) ?? output.at(-1);
  if (last !== undefined && (OF_NPM.test(last) || reportsError(last)) && !LAUNCHER.test(last)) return last;
  return output.findLast(reportsError) ?? last ?? lines.findLast(isFilled);
}

/** Whether a line reports why the program failed. */
export function reportsError(line: string): boolean {
  return (
    ERRORS.some((form) => form.test(line)) &&
    ![NO_ERROR, LAUNCHER, NPM_DETAIL].some((form) => form.test(line))
  );
}

/** Drops a usage at the end: it follows the error that it explains. */
function withoutUsage(lines: readonly string[]): readonly string[] {
  const at = lines.findLastIndex((line) => USAGE.test(line));
  if (at === -1 || !lines.slice(at + 1).every((line) => OF_USAGE.test(line))) return lines;
  const before = lines.slice(0, lines.slice(0, at).findLastIndex(saysSomething) + 1);
  return before.length === 0 ? lines.slice(at, at + 1) : before;
}

function isFilled(line: string): boolean {
  return line.trim() !== '';
}

function saysSomething(line: string): boolean {
  return isFilled(line) && !AFTERWORDS.some((form) => form.test(line));
}

/** If the output ends in a stack: the error above it, which may have several lines. */
function aboveTheStack(lines: readonly string[]): string | undefined {
  const last = lines.findLastIndex((line) => STACK_FRAME.test(line));
  if (last === -1 || !lines.slice(last + 1).every((line) => BELOW_A_STACK.test(line))) return undefined;
  const above = lines.slice(0, lines.slice(0, last).findLastIndex((line) => !STACK_FRAME.test(line)) + 1);
  const paragraph = withoutSource(above.slice(above.findLastIndex((line) => !isFilled(line)) + 1));
  return paragraph.findLast((line) => ERROR_NAME.test(line)) ?? paragraph.at(-1);
}

/** Drops lines of source: Deno shows one below the error, Bun some above it. */
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

/** The first line of npm's report: the cause comes first, then advice. */
function firstOfNpm(lines: readonly string[]): string | undefined {
  if (!OF_NPM.test(lines.at(-1) ?? '')) return undefined;
  const block = lines.slice(lines.findLastIndex((line) => !OF_NPM.test(line)) + 1);
  return block.find((line) => !NPM_DETAIL.test(line));
}
