/**
 * The steps of a page of the guide, in order: files to write (a fence with a `title`) and commands to type (a fence of
 * `console`), with the output that the page shows for each.
 *
 * In that output, an ellipsis alone on a line matches any lines, and elsewhere the rest of a word or line. Durations and
 * times of day match any other.
 */

export type Step =
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  | { readonly kind: 'console'; readonly commands: readonly ShownCommand[] };

export interface ShownCommand {
  readonly line: string;
  readonly output: string;
}

const FENCE = /^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$/gms;
const PROMPT = '$ ';
const ANY = String.raw`[^\n]*`;

export function stepsOf(page: string): readonly Step[] {
  return [...page.matchAll(FENCE)].flatMap(([, language, name, text = '']): Step[] => {
    if (name !== undefined) return [{ kind: 'file', name, text }];
    return language === 'console' ? [{ kind: 'console', commands: commandsIn(text) }] : [];
  });
}

function commandsIn(text: string): readonly ShownCommand[] {
  const [before = '', ...shown] = `\n${text}`.split(`\n${PROMPT}`);
  if (before.trim() !== '')
    throw new Error(`A console block does not start with a command: ${before.trim()}`);
  return shown.map((one) => {
    const [line = '', ...output] = one.split('\n');
    return { line, output: output.join('\n').trim() };
  });
}

/** The pattern for output that the page shows as `shown`. */
export function asPattern(shown: string): RegExp {
  const source = shown
    .split('\n')
    .map((line) => (line.trim() === '…' ? String.raw`[\s\S]*?` : lineSource(line)))
    .join('\n');
  return new RegExp(`^${source}$`);
}

function lineSource(line: string): string {
  return line
    .replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
    .replaceAll(/\d+(\\\.\d+)? (ms|s)\b/g, String.raw`[\d.]+ m?s`)
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+\\\.\d{3}Z/g, String.raw`[-\dT:.]+Z`)
    .replaceAll('…', ANY);
}
