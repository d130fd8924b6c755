/**
 * The one file that holds the page and a log (`share.html`): the log that is in it, and the page without a log, for the next
 * file.
 */
import { SHARE_PLACE } from '../log/share-page.js';

const place = (root: ParentNode): HTMLElement | null => root.querySelector<HTMLElement>('script#log');

/** The log that this page was sent with, which is taken out of it; undefined where there is none. */
export function takeEnclosedLog(): Blob | undefined {
  const element = place(document);
  const text = element?.textContent.trim() ?? '';
  if (element === null || !text.startsWith('{')) return undefined;
  element.textContent = SHARE_PLACE;
  return new Blob([text, '\n']);
}

let kept: Promise<string> | undefined;

/** The page as one file, without a log: this one is it, or has it beside itself. Rejects where it cannot be had. */
export async function ownTemplate(): Promise<string> {
  if (place(document) !== null) return withoutContent();
  try {
    return await (kept ??= served());
  } catch (error) {
    kept = undefined;
    throw error;
  }
}

/** Has it at hand: whoever serves the page may be gone when it is wanted. */
export function keepTemplate(): void {
  ownTemplate().catch(() => {});
}

async function served(): Promise<string> {
  const response = await fetch(new URL('share.html', document.baseURI), { cache: 'no-store' });
  if (!response.ok) throw new Error(`The page answers ${response.status}.`);
  return response.text();
}

function withoutContent(): string {
  const copy = document.documentElement.cloneNode(true) as HTMLElement;
  delete copy.dataset['theme'];
  copy.querySelector('#page')?.replaceChildren();
  return `<!doctype html>\n${copy.outerHTML}`;
}
