/**
 * Combines the page and a log in one HTML file. The log is inserted without any `<`, so that no text in it can end its
 * element or begin a comment. In JSON, `<` occurs only in strings, and there `\u003c` means the same.
 */

/** The placeholder for the log (`one-file.ts`). */
export const SHARE_PLACE = 'TROUPE-LOG';
const PLACE = new RegExp(`(<script[^>]*\\bid="log"[^>]*>)\\s*${SHARE_PLACE}\\s*(</script>)`);
const LESS_THAN = 0x3c;

/** The file in pieces. `log` is whole lines. Throws if the template has no place for them. */
export function* sharePage(
  template: string,
  log: Iterable<Uint8Array<ArrayBuffer>>,
): Generator<string | Uint8Array<ArrayBuffer>> {
  const found = PLACE.exec(template);
  if (found === null) throw new Error('The template of the shared page has no place for a log.');
  const [whole, begin = '', end = ''] = found;
  yield template.slice(0, found.index) + begin;
  const decoder = new TextDecoder();
  for (const lines of log)
    yield lines.includes(LESS_THAN) ? decoder.decode(lines).replaceAll('<', String.raw`\u003c`) : lines;
  yield end + template.slice(found.index + whole.length);
}
