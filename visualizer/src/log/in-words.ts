/** A value of a note in a line of text. The value is not validated: anything but a text or a number is only indicated. */
export function inWords(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '…';
}
