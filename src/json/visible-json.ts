/**
 * JSON text in which every character that controls a terminal, ends a line of code or changes what is seen is written as a
 * Unicode escape. The value stays the same. `JSON.stringify` escapes only up to U+001F.
 */
const UNSEEN = /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** `indent` is the number of blanks for each level. Default: all on one line. */
export function visibleJson(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? 'null').replace(UNSEEN, escaped);
}

function escaped(char: string): string {
  return Array.from({ length: char.length }, (_, at) => char.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
}
