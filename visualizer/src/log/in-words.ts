/** Values of a note in a line of text. A value is not validated: anything but a text or a number is only indicated. */
export function inWords(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '…';
}

/** A command by the last part of its type: `retry` for `connection.retry`. */
export function commandWords(type: unknown): string {
  return inWords(type).split('.').at(-1) ?? '';
}
