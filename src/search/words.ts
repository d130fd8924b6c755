/**
 * The words of a text, in the form in which they are compared: lower case, without stop words, one word for all that mean the
 * same in the names of tools, and stemmed (Porter, English).
 */
import { stemmer } from 'stemmer';

/** Words that say nothing about a tool. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an and any are as at be by can do does for from have how i if in into is it its let make me my of on or our please ' +
    'should so some that the their them there these this those to us use used using want we what when where which who will ' +
    'with you your'
  ).split(' '),
);

/** Words that name the same thing or action in most programs. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map(
  [
    'directory folder dir folders directories',
    'image picture photo img images pictures photos',
    'repository repo repos repositories',
    'database db databases',
    'delete remove erase',
    'create new',
    'search find lookup',
    'copy duplicate',
    'execute run',
    'move rename',
    'write save',
    'command cmd commands',
    'organization org organisation',
    'application app apps applications',
    'documentation docs doc',
    'environment env',
    'configuration config settings',
    'information info',
    'kubernetes k8s',
    'javascript js',
  ].flatMap((line) => {
    const [first = '', ...others] = line.split(' ');
    return others.map((other) => [other, [first]] as const);
  }),
);
const SHORT_FORMS: ReadonlyMap<string, readonly string[]> = new Map([
  ['pr', ['pull', 'request']],
  ['prs', ['pull', 'request']],
  ['mr', ['merge', 'request']],
  ['mrs', ['merge', 'request']],
]);
const ENGLISH = /^[a-z]+$/;

/** Splits at everything that is not a letter or digit, and `readFile` into `read` and `file`. */
export function wordsOf(text: string): string[] {
  const apart = text.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2');
  return apart.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}

/** The same for a query, in which a word may be written as two: `box plot` is also `boxplot`. */
export function queryWordsOf(text: string): string[] {
  const words = wordsOf(text);
  return [...words, ...words.slice(1).map((word, index) => `${words[index]}${word}`)];
}

/** The forms in which a word is compared; null if it says nothing about a tool. */
export function toTerms(word: string): string[] | null {
  const lower = word.toLowerCase();
  if (STOP_WORDS.has(lower)) return null;
  const meant = SYNONYMS.get(lower) ?? SHORT_FORMS.get(lower) ?? [lower];
  return meant.map((each) => (ENGLISH.test(each) ? stemmer(each) : each));
}
