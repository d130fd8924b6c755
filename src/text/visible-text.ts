/** Cuts, orders and shows text from others. Runs in a browser. */

/** Control characters, marks without a glyph, blank letters, unassigned characters, and every space except the usual one. */
const UNSEEN = /\p{C}|\p{Zl}|\p{Zp}|(?! )\p{Zs}|\p{Default_Ignorable_Code_Point}|\u2800/gu;

/** Hides nothing: characters that cannot be seen appear as their code point, such as `\u{200b}`. */
export function visibleText(text: string): string {
  return text.replaceAll(UNSEEN, codeOf);
}

/** A run of letters, with the marks on them. */
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const LATIN = /\p{Script=Latin}/u;
/** Scripts with letters that look like Latin ones. */
const ALIKE =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}\p{Script=Georgian}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Deseret}\p{Script=Osage}\p{Script=Canadian_Aboriginal}\p{Script=Tifinagh}\p{Script=Carian}\p{Script=Lycian}\p{Script=Old_Italic}\p{Script=Gothic}]/gu;
/** A word of these alone reads as a Latin one. */
const READS_AS_LATIN = /^[аеорсухіјѕһԁԛԝѵӏАВЕЅЗІЈКМНОРСТУХҮԌԚԜοανικρυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ\d]+$/u;
/** Letters and marks that stand for an ASCII character, and look like it: full width, mathematical, phonetic. */
const LIKE_ASCII =
  /[\u00aa\u00ba\u0131\u0237\u0250-\u02af\u1d00-\u1dbf\ua730-\ua7ff\uab30-\uab6f]|(?![-])\p{Pd}|[\u2044\u2215\u2216\u29f8\u2024\u2027\u00b7\u0387\ua789\u2236\u02d0\u01c0\u01c3\u2223]/gu;

/** A name, in which no character can be taken for another: those that cannot be told apart appear as their code point. */
export function visibleName(name: string): string {
  return visibleText(name)
    .replaceAll(/[^\p{ASCII}]/gu, (char) => (isPlain(char.normalize('NFKC'), char) ? char : codeOf(char)))
    .replaceAll(LIKE_ASCII, codeOf)
    .replaceAll(WORD, (word) => {
      if (/^[\p{ASCII}]*$/u.test(word)) return word;
      return LATIN.test(word) || READS_AS_LATIN.test(word) ? word.replaceAll(ALIKE, codeOf) : word;
    });
}

/** Whether a character is not merely another form of ASCII characters. */
function isPlain(normalized: string, char: string): boolean {
  return normalized === char || !/^[\u0020-\u007e]+$/.test(normalized);
}

function codeOf(char: string): string {
  return `\\u{${char.codePointAt(0)?.toString(16)}}`;
}

/** Longest text of a server in an event: an event goes to every observer, and a server may send any amount. */
const MAX_CHARACTERS = 4_096;

export function cutText(text: string, most = MAX_CHARACTERS): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
}

/** The order of names: by code units, which is the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether a cut before this index would separate the two halves of a surrogate pair. */
export function splitsSurrogatePair(text: string, at: number): boolean {
  return isWithin(text, at - 1, 0xd800) && isWithin(text, at, 0xdc00);
}

function isWithin(text: string, at: number, first: number): boolean {
  const code = text.charCodeAt(at);
  return code >= first && code < first + 0x400;
}
