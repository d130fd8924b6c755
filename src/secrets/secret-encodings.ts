/**
 * Patterns for the spellings in which programs repeat a secret: unchanged; in JSON, with or without escapes for
 * characters outside ASCII, also nested in further JSON; in an address, encoded as a component, a form or by the
 * platform; and in base64. Pure. Other encodings of a whole text, such as hexadecimal digits, are not found.
 */

/** A longer secret is searched only in its three usual spellings, since the size of a pattern is limited. */
const MAX_PATTERN = 512;
/** A longer beginning of a secret is recognized by this many characters, and masked up to the cut. */
const MAX_CUT = 64;
/** Enough for JSON in JSON in JSON. The bound keeps the search fast, whatever a server sends. */
const MAX_BACKSLASHES = 8;
/** An address inside an address encodes the sign again. */
const PERCENT = '%(?:25){0,3}';
const BACKSLASH = `(?:\\\\|${PERCENT}5[cC])`;
/** The remains of one character's spelling at a cut. */
const BROKEN = '[%\\\\\\dA-Fa-fu]{0,12}';

/** The patterns that find the whole secret. */
export function spellings(secret: string): readonly (string | RegExp)[] {
  if (/^[\w.-]*$/.test(secret)) return [secret];
  if (secret.length <= MAX_PATTERN) return [new RegExp(spelledParts(secret).join(''), 'g')];
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
}

/**
 * The characters of a base64 text that depend on the secret alone, for each offset of the secret (RFC 4648, both
 * alphabets). For secrets that are long enough not to be found by chance.
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

/** Finds a beginning of the secret, of at least `shortest` characters, at a cut of the text: at its end, or before `…`. */
export function cutSpelling(secret: string, shortest: number): RegExp {
  const parts = spelledParts(secret.slice(0, MAX_CUT));
  const rest = parts.slice(shortest).reduceRight((inner, part) => `(?:${part}${inner})?`, '');
  const deeper = secret.length > MAX_CUT ? `|${parts.slice(shortest).join('')}[^…]*` : '';
  return new RegExp(`${parts.slice(0, shortest).join('')}(?:${rest}${BROKEN}${deeper})(?=…|$)`, 'g');
}

/**
 * A pattern for each character. A run of backslashes is one part, since each nesting in JSON doubles it. Backslashes
 * before the first character are not matched, since a pattern that begins with a repetition is slow to fail.
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
    return `${BACKSLASH}{${part.length},${isFirst ? part.length : part.length * MAX_BACKSLASHES}}`;
  }
  const escape = isFirst || isAfterBackslash ? '' : `${BACKSLASH}{0,${MAX_BACKSLASHES}}`;
  const ways = [`${escape}(?:${asPattern(part)}|${percentEncoded(part)})`, jsonEscaped(part, isFirst)];
  if (part === ' ') ways.push('\\+');
  return `(?:${ways.join('|')})`;
}

function asPattern(text: string): string {
  return text.replace(/[!-/:-@[-`{-~]/g, '\\$&');
}

/** `\n` and the like, or `\uXXXX` for each UTF-16 unit. */
function jsonEscaped(part: string, isFirst: boolean): string {
  const escape = `${BACKSLASH}{1,${MAX_BACKSLASHES}}`;
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
