/**
 * The page as one file: the log that is enclosed in this page, and the page without a log, for the next file. A served
 * page builds that file from its own parts.
 */
import { pageInOneFile } from '../log/one-file.js';
import { SHARE_PLACE } from '../log/share-page.js';
import { WORKER_FILES } from '../worker/start-workers.js';

const place = (root: ParentNode): HTMLElement | null => root.querySelector<HTMLElement>('script#log');

/** The enclosed log, which is removed from the page; undefined if there is none. */
export function takeEnclosedLog(): File | undefined {
  const element = place(document);
  const text = element?.textContent.trim() ?? '';
  if (element === null || !text.startsWith('{')) return undefined;
  element.textContent = SHARE_PLACE;
  return new File([text, '\n'], 'log.jsonl');
}

let kept: Promise<string> | undefined;

/** The page as one file without a log: this page itself, or one built from it. Rejects if a file is not available. */
export async function ownTemplate(): Promise<string> {
  if (place(document) !== null) return withoutContent();
  try {
    return await (kept ??= inOneFile());
  } catch (error) {
    kept = undefined;
    throw error;
  }
}

/** Loads it in advance: the server may be gone when it is needed. */
export function keepTemplate(): void {
  ownTemplate().catch(() => {});
}

function withoutContent(): string {
  const copy = document.documentElement.cloneNode(true) as HTMLElement;
  delete copy.dataset['theme'];
  copy.querySelector('#page')?.replaceChildren();
  return `<!doctype html>\n${copy.outerHTML}`;
}

/** From the page as it was served, because browser extensions may have changed this one. */
async function inOneFile(): Promise<string> {
  return pageInOneFile({ page: await served(''), workers: WORKER_FILES, read: served });
}

async function served(path: string): Promise<string> {
  const response = await fetch(new URL(path, document.baseURI), { cache: 'no-store' });
  if (!response.ok) throw new Error(`The page answers ${response.status}.`);
  return response.text();
}
