/** Data folders for the example server, removed after the test. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-business-data-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A category with one field, whose only value is `mark`. */
export function category(mark: string): string {
  const fields = { mark: { type: 'text', description: 'A mark.' } };
  return JSON.stringify({ title: 'Marks', description: 'Marks.', fields, records: [{ mark }] });
}

/** Writes files, by path, into a new folder; returns the folder. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}
