/**
 * How programs spell a secret when they repeat it, as patterns: as it is, as JSON spells it, with or without escapes for
 * what is not ASCII and also inside further JSON, as an address spells it, of a component, a form or the platform, and
 * inside base64. Pure. Other encodings of a whole text, such as hexadecimal digits, are not found.
 */

/** A longer secret is looked for in its three usual spellings: there is an end to how large a pattern can be. */
const LONGEST_PATTERN = 512;
/** Of a longer one, only so much is looked for where it was cut. */
const LONGEST_CUT = 64;
/** JSON inside JSON inside JSON; a bound, so that a server cannot make the search slow. */
const MOST_BACKSLASHES = 8;
/** An address inside an address encodes the sign again. */
const PERCENT = '%(?:25){0,3}';
const BACKSLASH = `(?:\\\\|${PERCENT}5[cC])`;
/** What may be left of the spelling of one character. */
const BROKEN = '[%\\\\\\dA-Fa-fu]{0,12}';

/** What to look for so that the whole secret is found. */
export function spellings(secret: string): readonly (string | RegExp)[] {
  if (/^[\w.-]*$/.test(secret)) return [secret];
  if (secret.length <= LONGEST_PATTERN) return [new RegExp(spelledParts(secret).join(''), 'g')];
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
}

/**
 * What the secret alone decides of a base64 text that holds it, wherever in it the secret begins (RFC 4648, both
 * alphabets). Meant for secrets that are long enough for this not to be found by chance.
 */
export function base64Spellings(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const first = Math.ceil((before * 8) / 6);
    const end = Math.floor(((before + bytes.length) * 8) / 6);
    const spelling = text.slice(first, end);
    const inAddress = spelling.replaceAll('+', '-').replaceAll('/', '_');
    return inAddress === spelling ? [spelling] : [spelling, inAddress];
  });
}

/** The beginning of the secret, of at least so many characters, where the text was cut: at its end, or before `…`. */
export function cutSpelling(secret: string, shortest: number): RegExp {
  const parts = spelledParts(secret.slice(0, LONGEST_CUT));
  const rest = parts.slice(shortest).reduceRight((inner, part) => `(?:${part}${inner})?`, '');
  return new RegExp(`${parts.slice(0, shortest).join('')}${rest}${BROKEN}(?=…|$)`, 'g');
}

/**
 * A pattern for each character. Backslashes are taken together: each further JSON doubles them. Those before the first
 * character are not looked for, since a pattern that begins with "some" is slow to fail.
 */
function spelledParts(secret: string): readonly string[] {
  const parts = secret.match(/\\+|[^\\]/gu) ?? [];
  return parts.map((part, index) => {
    const isAfterBackslash = parts[index - 1]?.startsWith('\\') === true;
    return spelled(part, index === 0, isAfterBackslash);
  });
}

function spelled(part: string, isFirst: boolean, isAfterBackslash: boolean): string {
  if (/^\w$/.test(part)) return part;
  if (part.startsWith('\\')) {
    return `${BACKSLASH}{${part.length},${isFirst ? part.length : part.length * MOST_BACKSLASHES}}`;
  }
  const escape = isFirst || isAfterBackslash ? '' : `${BACKSLASH}{0,${MOST_BACKSLASHES}}`;
  const ways = [`${escape}(?:${asPattern(part)}|${percentEncoded(part)})`, jsonEscaped(part, isFirst)];
  if (part === ' ') ways.push('\\+');
  return `(?:${ways.join('|')})`;
}

function asPattern(text: string): string {
  return text.replace(/[!-/:-@[-`{-~]/g, '\\$&');
}

/** `\n` and the like, or `\uXXXX` for each unit. */
function jsonEscaped(part: string, isFirst: boolean): string {
  const escape = `${BACKSLASH}{1,${MOST_BACKSLASHES}}`;
  const short = /^"\\([bfnrt])"$/.exec(JSON.stringify(part))?.[1];
  const units = Array.from({ length: part.length }, (_, at) => part.charCodeAt(at));
  const long = units.map((unit) => `u${anyCase(unit.toString(16).padStart(4, '0'))}`).join(escape);
  return `${isFirst ? BACKSLASH : escape}(?:${short === undefined ? long : `${short}|${long}`})`;
}

function percentEncoded(part: string): string {
  return [...Buffer.from(part)]
    .map((byte) => `${PERCENT}${anyCase(byte.toString(16).padStart(2, '0'))}`)
    .join('');
}

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}
