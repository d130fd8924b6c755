/** The code of pages of the guide as files, so that what a page shows is what is run. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const BLOCK = /^```(?:js|dockerfile)\n(?:\/\/|#) (\S+)\n(.*?)^```$/gms;

/** The blocks of a page that begin with their name as a comment, by that name. */
export function guideFiles(page) {
  const text = readFileSync(new URL(`../../docs/guide/${page}`, import.meta.url), 'utf8');
  return new Map([...text.matchAll(BLOCK)].map(([, name, code]) => [name, code]));
}

export function writeFiles(folder, files) {
  for (const [name, code] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), code);
  }
}
