/**
 * The language of the page's searches: words, and `field:value` pairs.
 *
 * Q1. Words must all fit, fields as well; a field that is given twice needs one of its values.
 * Q2. Quotes keep spaces together (`"answered after"`, `state:"waiting to retry"`); `-` in front excludes.
 * Q3. Upper and lower case are the same. `*` in the value of a field stands for any text.
 * Q4. Nothing that a person types is an error: what is not understood is searched as a word, and reported.
 */
import { matchesSegments } from '../../../src/text/matches-segments.js';
import { nearestName } from '../../../src/text/option-names.js';

export interface Term {
  /** Undefined for a word. */
  readonly field: string | undefined;
  /** In lower case. */
  readonly value: string;
  readonly isExcluded: boolean;
}

export interface QueryProblem {
  /** Name of the unknown field, as it was typed. */
  readonly field: string;
  /** The known field that was probably meant. */
  readonly meant: string | undefined;
}

export interface Query {
  readonly terms: readonly Term[];
  readonly problems: readonly QueryProblem[];
}

/** Texts of a thing that can be found. Called only as needed, because some are costly. */
export interface Subject {
  /** What the row shows, in lower case, has this word. */
  shows(word: string): boolean;
  /** The values of a field; none if the thing does not have it. */
  valuesOf(field: string): readonly string[];
}

/** A term: an optional `-`, an optional field, and a value with or without quotes. An open quote lasts until the end. */
const TERM = /(-?)(?:([a-z]+):(?!\/\/))?(?:"((?:[^"\\]|\\.)*)"?|(\S+))/giu;

/** `fields` are the fields that this search knows, cheapest first. */
export function parseQuery(text: string, fields: readonly string[]): Query {
  const terms: Term[] = [];
  const problems: QueryProblem[] = [];
  for (const [whole, minus, name, quoted, bare] of text.matchAll(TERM)) {
    const value = (quoted?.replaceAll(/\\(.)/gu, '$1') ?? bare ?? '').toLowerCase();
    const field = name?.toLowerCase();
    const isExcluded = minus === '-';
    // A field whose value is not typed yet.
    if (fields.some((known) => whole.toLowerCase() === `${known}:`)) continue;
    if (field === undefined || fields.includes(field)) terms.push({ field, value, isExcluded });
    else {
      problems.push({ field: name ?? '', meant: nearestName(field, fields) ?? startsWith(field, fields) });
      terms.push({ field: undefined, value: whole.toLowerCase(), isExcluded: false });
    }
  }
  return { terms: terms.filter(({ value }) => value !== ''), problems };
}

function startsWith(field: string, fields: readonly string[]): string | undefined {
  return field.length < 2 ? undefined : fields.find((known) => known.startsWith(field));
}

/** The text with another name for that field. */
export function withField(text: string, { field, meant }: QueryProblem): string {
  return meant === undefined ? text : text.replace(`${field}:`, `${meant}:`);
}

/** A term as a person would type it. */
export function termOf(field: string, value: string): string {
  return /^[^\s"]+$/u.test(value) ? `${field}:${value}` : `${field}:"${value.replaceAll(/["\\]/gu, '\\$&')}"`;
}

/** Fields of which a part of the value is enough. */
export type PartFields = ReadonlySet<string>;

/** Whether a thing fits, as one function for many of them. */
export function fitting(
  { terms }: Query,
  fields: readonly string[],
  parts: PartFields,
): (subject: Subject) => boolean {
  const tests = fields.flatMap((field) => {
    const ofField = terms.filter((term) => term.field === field);
    const wanted = ofField.filter(({ isExcluded }) => !isExcluded).map((term) => test(term, parts));
    const excluded = ofField.filter(({ isExcluded }) => isExcluded).map((term) => test(term, parts));
    if (ofField.length === 0) return [];
    return (subject: Subject): boolean => {
      const values = subject.valuesOf(field).map((value) => value.toLowerCase());
      const has = (fits: (value: string) => boolean): boolean => values.some(fits);
      return (wanted.length === 0 || wanted.some(has)) && !excluded.some(has);
    };
  });
  const words = terms.filter(({ field }) => field === undefined);
  return (subject) =>
    tests.every((fits) => fits(subject)) &&
    words.every(({ value, isExcluded }) => subject.shows(value) !== isExcluded);
}

function test({ field, value }: Term, parts: PartFields): (value: string) => boolean {
  if (value.includes('*')) {
    const pieces = value.split('*');
    return (given) => matchesSegments(given, pieces);
  }
  return parts.has(field ?? '') ? (given) => given.includes(value) : (given) => given === value;
}
