/**
 * The page and a log as one HTML file. What is put into the page is JSON without any `<`, so that no text in a log can
 * end the element that it stands in, or begin a comment.
 */
import { SHARE_PLACE, type Hello } from './protocol.js';

/** Undefined where the template has no place for a log, or more than one. */
export function sharePage(
  template: string,
  hello: Hello,
  log: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<string, void, undefined> | undefined {
  const [before, after, ...others] = template.split(SHARE_PLACE);
  if (before === undefined || after === undefined || others.length > 0) return undefined;
  return pieces(before, after, { ...hello, mode: 'file' }, log);
}

async function* pieces(
  before: string,
  after: string,
  hello: Hello,
  log: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<string, void, undefined> {
  yield `${before}<script type="application/json" id="troupe-log">{"hello":${inScript(hello)},"lines":"`;
  for await (const lines of log) yield inScript(lines).slice(1, -1);
  yield `"}</script>${after}`;
}

function inScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
