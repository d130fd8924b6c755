/** Refuses options that do not exist: in JavaScript, a misspelt one would otherwise have no effect and no error. */
import { asText } from './as-text.js';
import { nameAtEnd, nearestName } from './near-miss.js';
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
