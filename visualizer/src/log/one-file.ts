/** Makes the page one HTML file, from its built files. Pure: the caller reads the files. */
import { SHARE_PLACE } from './share-page.js';

export const WORKER_NAMES = ['elk', 'log'] as const;
export type WorkerName = (typeof WORKER_NAMES)[number];

/** Id of the element that holds the code of a worker as a JSON text. */
export const enclosedId = (name: WorkerName): string => `worker-${name}`;

/** A shared page makes no requests. */
const POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline' blob:",
  'worker-src blob:',
  "style-src 'unsafe-inline'",
  'img-src data:',
].join('; ');

/** The references of the built page to its script and its style sheet. */
const SCRIPT = /<script\b[^>]*\ssrc="([^"]*)"[^>]*><\/script>/;
const STYLES = /<link\b[^>]*\srel="stylesheet"[^>]*\shref="([^"]*)"[^>]*>/;

export interface BuiltPage {
  /** The text of its `index.html`. */
  readonly page: string;
  /** The files of its workers, as addresses from the page. */
  readonly workers: Readonly<Record<WorkerName, string>>;
  /** The text of a file, by its address from the page. */
  readonly read: (address: string) => Promise<string>;
}

/**
 * The file, with a place for a log (`share-page.ts`). It is assembled as text, not as elements, because the policy of
 * the served page forbids a style sheet in an element even if it is not shown.
 */
export async function pageInOneFile({ page, workers, read }: BuiltPage): Promise<string> {
  const enclosed = async (name: WorkerName): Promise<string> => {
    const code = JSON.stringify(await read(workers[name])).replaceAll('<', String.raw`\u003c`);
    return `<script type="application/json" id="${enclosedId(name)}">${code}</script>`;
  };
  const [script, styles, ...elements] = await Promise.all([
    read(addressIn(page, SCRIPT)),
    read(addressIn(page, STYLES)),
    ...WORKER_NAMES.map(enclosed),
  ]);
  const log = `<script type="application/x-ndjson" id="log">${SHARE_PLACE}</script>`;
  return page
    .replace('<head>', `<head><meta http-equiv="Content-Security-Policy" content="${POLICY}">`)
    .replace('</head>', () => [...elements, log, '</head>'].join('\n'))
    .replace(STYLES, () => `<style>${styles}</style>`)
    .replace(SCRIPT, () => `<script type="module">${endless(script)}</script>`);
}

function addressIn(page: string, pattern: RegExp): string {
  const [, address] = pattern.exec(page) ?? [];
  if (address === undefined) throw new Error('The page names no file where one is expected.');
  return address;
}

/** Makes code safe inside an element: it cannot end the element or start a comment. */
function endless(code: string): string {
  return code.replaceAll(/<\/(script)/gi, String.raw`<\/$1`).replaceAll('<!--', String.raw`<\!--`);
}
