/** Text that others wrote, shown so that nothing in it is hidden: what cannot be seen is shown by its number. */

/** Controls, marks without a width, unassigned characters, and every space but the usual one. */
const UNSEEN = /\p{C}|\p{Zl}|\p{Zp}|(?! )\p{Zs}/gu;

export function visibleText(text: string): string {
  return text.replaceAll(UNSEEN, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}
