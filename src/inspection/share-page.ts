/**
 * The page and a log as one HTML file. The log is put in without any `<`, so that no text in it can end the element that
 * it stands in, or begin a comment.
 */
import { SHARE_PLACE } from './protocol.js';
import type { LogText } from './source.js';

const PLACE = new RegExp(`(<script[^>]*\\bid="log"[^>]*>)\\s*${SHARE_PLACE}\\s*(</script>)`);

/** Undefined where the template has no place for a log. */
export function sharePage(
  template: string,
  log: LogText,
): AsyncGenerator<string, void, undefined> | undefined {
  const found = PLACE.exec(template);
  if (found === null) return undefined;
  const [whole, begin = '', end = ''] = found;
  const before = template.slice(0, found.index) + begin;
  const after = end + template.slice(found.index + whole.length);
  return pieces(before, log, after);
}

async function* pieces(before: string, log: LogText, after: string): AsyncGenerator<string, void, undefined> {
  yield before;
  const decoder = new TextDecoder();
  // In JSON there is none outside of texts.
  for await (const piece of log) {
    const text = typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
    yield text.replaceAll('<', String.raw`\u003c`);
  }
  yield after;
}
