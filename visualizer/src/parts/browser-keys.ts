/** Whether a key is one of the browser or of the system, as to zoom or to go back: nothing here takes it. */
export function isOfBrowser({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey || altKey;
}
