/** A value of a note in a line of text. Nobody has looked what it is: where it is nothing plain, that is only hinted at. */
export function inWords(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '…';
}
