/** Keys that are not the page's. */

/** Whether a key belongs to the browser or the system, for example to zoom or go back: the page ignores it. */
export function isOfBrowser({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey || altKey;
}

/** Inputs that take no text. */
const WORDLESS: ReadonlySet<string> = new Set(['checkbox', 'range']);

/** Whether a key goes to a field in which the user types or chooses. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    (target instanceof HTMLInputElement && !WORDLESS.has(target.type)) ||
    target instanceof HTMLSelectElement ||
    target instanceof HTMLTextAreaElement
  );
}
