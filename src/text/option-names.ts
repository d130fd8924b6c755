/** Refuses options that do not exist: in JavaScript, a misspelt one would otherwise have no effect and no error. */
import { asText } from './as-text.js';
import { visibleText } from './visible-text.js';

/** Every name of the options `T`. */
export type OptionNames<T> = { readonly [K in keyof T]-?: true };

const LONGEST_SHOWN = 100;

/** What is wrong with a name that none of the known ones is, to follow that name. */
export function unknownName(name: string, known: readonly string[]): string {
  const meant = nearestName(name, known) ?? nameAtEnd(name, known);
  return `is not known here${meant === undefined ? '' : `; did you mean '${meant}'?`}`;
}

/** Throws a `TypeError` for a word that is none of the known names. `what` says what they are names of. */
export function requireKnownName(
  called: string,
  what: string,
  name: unknown,
  names: Readonly<Record<string, true>>,
): void {
  if (typeof name === 'string' && Object.hasOwn(names, name)) return;
  const text = asText(name);
  const shown = visibleText(text.slice(0, LONGEST_SHOWN));
  throw new TypeError(`${called}: the ${what} '${shown}' ${unknownName(text, Object.keys(names))}`);
}

/** What is wrong with options, by their names alone; undefined if nothing is. An option that is undefined counts as absent. */
export function unknownOption<T extends object>(options: T, names: OptionNames<T>): string | undefined {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(names, name)) continue;
    return `the option '${visibleText(name.slice(0, LONGEST_SHOWN))}' ${unknownName(name, Object.keys(names))}`;
  }
  return undefined;
}

/** A `TypeError` if the options of a function are no object or have an unknown name; undefined if they are fine. */
export function optionProblem<T extends object>(
  called: string,
  options: T,
  names: OptionNames<T>,
): TypeError | undefined {
  const isObject = typeof options === 'object' && options !== null;
  const problem = isObject ? unknownOption(options, names) : 'the options must be an object';
  return problem === undefined ? undefined : new TypeError(`${called}: ${problem}`);
}

/** Throws it. */
export function requireKnown<T extends object>(called: string, options: T, names: OptionNames<T>): void {
  const problem = optionProblem(called, options, names);
  if (problem !== undefined) throw problem;
}

// Finds the known name that a misspelled word probably means.

/** The known name nearest to `word` by typing mistakes; undefined if none is near. Case, `_` and `-` do not count. */
export function nearestName(word: string, known: readonly string[]): string | undefined {
  const typed = plain(word);
  const allowed = Math.min(2, Math.floor(typed.length / 3));
  let nearest: string | undefined;
  let least = allowed + 1;
  for (const name of known) {
    const target = plain(name);
    if (Math.abs(target.length - typed.length) >= least) continue;
    const distance = typingDistance(typed, target);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

/** The known name that ends a longer word: `servers` for `mcpServers`. */
export function nameAtEnd(word: string, known: readonly string[]): string | undefined {
  return known.find((name) => word.endsWith(`${name.slice(0, 1).toUpperCase()}${name.slice(1)}`));
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

/** Letters added, lost, changed or swapped with their neighbour (optimal string alignment). */
function typingDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Infinity;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const changed = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Infinity;
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, changed, swapped));
    }
  }
  return at(a.length, b.length);
}
