/** The words of a text, in the form in which they are compared: lower case, without stop words, and stemmed (Porter, English). */
import { stemmer } from 'stemmer';

/** Words that say nothing about a tool. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an and any are as at be by can do does for from have how i if in into is it its let make me my of on or our please ' +
    'should so some that the their them there these this those to us use used using want we what when where which who will ' +
    'with you your'
  ).split(' '),
);
const ENGLISH = /^[a-z]+$/;

/** Splits at everything that is not a letter or digit, and `readFile` into `read` and `file`. */
export function wordsOf(text: string): string[] {
  const apart = text.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2');
  return apart.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}

/** The form in which a word is compared; null if it says nothing about a tool. */
export function toTerm(word: string): string | null {
  const lower = word.toLowerCase();
  if (STOP_WORDS.has(lower)) return null;
  return ENGLISH.test(lower) ? stemmer(lower) : lower;
}
