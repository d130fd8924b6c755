/** The text without its percent encoding; as it is, where it has none that can be read. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
