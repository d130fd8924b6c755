/** What the tools of this folder have measured, from which the reference has its tables. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('figures.json', import.meta.url);

export function readFigures() {
  return existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
}

/** Replaces the figures of one tool. */
export function keepFigures(tool, figures) {
  writeFileSync(FILE, `${JSON.stringify({ ...readFigures(), [tool]: figures }, null, 2)}\n`);
}
