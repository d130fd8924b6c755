/** The wording of configuration problems: the place, and text that is safe to print. */
import type { ConfigProblem } from '../../errors.js';
import { visibleName } from '../../text/visible-text.js';

/** Keys and list positions that lead from an entry to one of its fields. Empty means the entry itself. */
export type Path = readonly (string | number)[];

/** A place in a text. Line and column start at 1; the column counts UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Controls, lone surrogates, line separators and marks that change the reading direction. */
export const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

const ALL_UNPRINTABLE = new RegExp(UNPRINTABLE, 'gu');
const MAX_SHOWN = 160;

/** Text of a file, safe to show to a person: nothing in it moves the cursor, and its length is limited. */
export function printable(text: string): string {
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return shown.replace(ALL_UNPRINTABLE, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

/** `['args', 1]` reads `args[1]`, `['env', 'TOKEN']` reads `env.TOKEN`. */
export function fieldName(path: Path): string {
  return path.reduce<string>((name, step) => {
    if (typeof step === 'number') return `${name}[${step}]`;
    return name === '' ? printable(step) : `${name}.${printable(step)}`;
  }, '');
}

const MOST_LISTED = 20;

/** The first of many names as one text, and how many more there are. */
export function listed<T>(items: readonly T[], inWords: (item: T) => string): string {
  const names = items.slice(0, MOST_LISTED).map(inWords).join(', ');
  return items.length > MOST_LISTED ? `${names} and ${items.length - MOST_LISTED} more` : names;
}

export function isError(problem: ConfigProblem): boolean {
  return problem.severity !== 'warning';
}

/** The errors of single servers, by name. */
export function errorsByServer(
  problems: readonly ConfigProblem[],
): ReadonlyMap<string, readonly ConfigProblem[]> {
  const errors = new Map<string, ConfigProblem[]>();
  for (const problem of problems) {
    if (problem.server === undefined || !isError(problem)) continue;
    const known = errors.get(problem.server);
    if (known === undefined) errors.set(problem.server, [problem]);
    else known.push(problem);
  }
  return errors;
}

/** The whole problem as one line: file with line and column, server, field, message. */
export function describeProblem(problem: ConfigProblem): string {
  const place =
    problem.line === undefined ? problem.source : `${problem.source}:${problem.line}:${problem.column ?? 1}`;
  const subject = [
    ...(problem.server === undefined ? [] : [`server '${visibleName(problem.server)}'`]),
    ...(problem.field === undefined ? [] : [`field '${problem.field}'`]),
  ].join(', ');
  return [place, ...(subject === '' ? [] : [subject]), problem.message].join(': ');
}
