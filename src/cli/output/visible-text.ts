/** Shows text from others so that nothing in it is hidden. Runs in a browser. */

/** Control characters, zero-width marks, unassigned characters, and every space except the usual one. */
const UNSEEN = /\p{C}|\p{Zl}|\p{Zp}|(?! )\p{Zs}/gu;

/** Hides nothing: characters that cannot be seen appear as their code point, such as `\u{200b}`. */
export function visibleText(text: string): string {
  return text.replaceAll(UNSEEN, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}
