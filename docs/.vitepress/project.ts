/** Where the files of the project are, and where each of its pages is on the site. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
/** Where the site is on its host. */
export const BASE = process.env['SITE_BASE'] ?? '/';

export const inProject = (path: string): string => join(PROJECT, path);

/** The page of the site that is made of this Markdown file; both are relative to their roots. */
export function sitePage(file: string): string {
  if (file === 'README.md') return 'index.md';
  if (!file.startsWith('docs/')) return file.toLowerCase();
  if (file === 'docs/README.md') return 'overview.md';
  return file.slice('docs/'.length).replace(/(^|\/)README\.md$/, '$1index.md');
}

/** Where a file that is no page lies on the site. One without an extension would be taken for a page. */
export function siteFile(file: string): string {
  const path = file.startsWith('docs/') ? file.slice('docs/'.length) : file;
  return /\.[^/]+$/.test(path) ? path : `${path}.txt`;
}

/** The first heading of a Markdown file, without its markup. */
export function titleOf(file: string): string {
  const heading = /^# (.+)$/m.exec(readFileSync(inProject(file), 'utf8'))?.[1];
  if (heading === undefined) throw new Error(`${file} has no title.`);
  return heading.replaceAll(/[`*]/g, '');
}
