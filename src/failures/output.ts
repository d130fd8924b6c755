/** The output of a server (stderr and stdout) as a failure shows it. Pure. */
import { excerptOf } from '../text/server-text.js';
import { pickErrorLine, reportsError } from './error-line.js';
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
