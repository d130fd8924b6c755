/**
 * Whether a value of an entry is a secret, judged by its name and by its form. Pure.
 *
 * Masking ordinary words garbles what people and models read. So a name that suggests a secret is not enough for
 * `true`, `5432`, `debug` or `postgres`, and a value under any other name is a secret only if it does not consist of
 * words and numbers.
 */

/** Found anywhere in a name, since names run words together: `PGPASSWORD`, `githubToken`. */
const SECRET_PARTS =
  /pass(?:word|wd|phrase|code)|secret|token|api-?key|access-?key|private-?key|signing-?key|credential|authorization|bearer|cookie|signature|webhook/;
/** Found as a whole word of a name. */
const SECRET_WORDS: ReadonlySet<string> = new Set(
  'auth creds cred dsn jwt key keys otp pass pat pin psk pw pwd salt sas session sid'.split(' '),
);
const SECRET_ENDINGS = /(?<!by|com|tres|sur)pass$/;

/** A name that ends in one of these describes a secret, but is not one: `TOKEN_URL`, `KEY_FILE`, `AUTH_MODE`. */
const ABOUT_A_SECRET: ReadonlySet<string> = new Set(
  `algorithm alg audience budget count dir directory disabled enabled endpoint expires expiry file filename folder
  format header host id interval issuer length level limit max method min mode name path port prefix provider region
  required scope scopes size store timeout ttl type uri url user username version`.split(/\s+/),
);

/** Values that are never secret, whatever their name. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  `true false yes no on off none null nil undefined default auto always never enabled disabled enable disable
  trace debug verbose info notice warn warning error critical alert emergency fatal silent quiet
  stdio http https sse streamable-http websocket tcp udp unix
  production prod development dev staging stage test testing local localhost sandbox demo example sample
  root admin administrator user username guest public private anonymous nobody me
  password passwd secret token apikey key changeme change-me
  postgres postgresql mysql mariadb mongo mongodb redis sqlite sqlserver oracle elastic elasticsearch
  basic bearer oauth oauth2 jwt digest read write readonly read-only readwrite read-write
  json yaml text plain utf8 utf-8 node python docker main master latest
  string number integer boolean object array any unknown required optional missing empty unset redacted hidden
  invalid expired valid ok failed`.split(/\s+/),
);

const NUMBER = /^[-+]?\d[\d.,_:]{0,11}(?:[a-z]{1,2}|%)?$/i;
/** A number with this many digits may be a key. */
const MIN_KEY_DIGITS = 8;
const HOST =
  /^(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\]|(?:[a-z][a-z\d-]*\.)+(?:com|net|org|io|dev|app|cloud|local|internal|lan|test|example|invalid))(?::\d{1,5})?$/i;

/** Shorter values under a neutral name are not secret: they would be found everywhere. */
const MIN_UNNAMED = 8;

/**
 * Whether a value is secret. `names`: the name of its variable, and of the header, parameter or option that holds it.
 */
export function isSecret(names: readonly string[], value: string): boolean {
  if (isHarmless(value)) return false;
  return names.some(suggestsSecret) || (value.length >= MIN_UNNAMED && !isOrdinary(value));
}

/** Whether a name says that its value is a secret. */
export function suggestsSecret(name: string): boolean {
  const words = wordsOf(name);
  const text = words.join('-');
  if (text.endsWith('session-id')) return true;
  if (ABOUT_A_SECRET.has(words.at(-1) ?? '') || words[0] === 'max') return false;
  return SECRET_PARTS.test(text) || SECRET_ENDINGS.test(text) || words.some((word) => SECRET_WORDS.has(word));
}

/** `githubToken`, `GITHUB_TOKEN` and `--github-token` have the same words. */
export function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$2 ')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}

/** Whether a text is a word that says nothing, even under the name of a secret: `true`, `required`, `string`. */
export function isCommonWord(text: string): boolean {
  const word = text
    .trim()
    .replace(/[;,]+$/, '')
    .replace(/^(["'])(.*)\1$/, '$2');
  return word === '' || COMMON_WORDS.has(word.toLowerCase());
}

/** Whether it is not secret even under the name of a secret. */
function isHarmless(value: string): boolean {
  const text = value.trim();
  if (isCommonWord(text) || HOST.test(text)) return true;
  if (NUMBER.test(text)) return text.replace(/\D/g, '').length < MIN_KEY_DIGITS || /[.,:]/.test(text);
  return isPath(text) && isOrdinary(text);
}

function isPath(text: string): boolean {
  return /^(?:~|\.{1,2})?[/\\][^/\\]+[/\\]|^[a-z]:[/\\]/i.test(text);
}

/** Whether it consists of words and numbers, as the names of databases, regions, models and files do. */
function isOrdinary(value: string): boolean {
  return value.split(/[^\p{L}\p{N}]+/u).every((piece) => piece.length <= MAX_WORD && ORDINARY.test(piece));
}

/** Whether a long part of it is neither a word nor a number. Paths and names of several words have no such part. */
export function hasRandomPiece(value: string): boolean {
  return value
    .split(/[^\p{L}\p{N}]+/u)
    .some((piece) => piece.length >= MIN_RANDOM && !(piece.length <= MAX_WORD && ORDINARY.test(piece)));
}

const MIN_RANDOM = 12;
const MAX_WORD = 24;
/** Digits; capitals; a word such as `north`, `North` or `northWestPassage`; `4o`, `1a`, `29T10`; `v2`, `utf8`, `node18x`. */
const ORDINARY =
  /^(?:\d*|\p{Lu}*|\p{Lu}?\p{L}?\p{Ll}+(?:\p{Lu}\p{Ll}+){0,3}|\d{1,3}\p{L}{1,3}\d{0,3}|\p{Lu}?\p{Ll}{1,12}\d{1,4}\p{Ll}?)$/u;
