/** Whether a key belongs to the browser or the system, for example to zoom or go back: the page ignores it. */
export function isOfBrowser({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey || altKey;
}
