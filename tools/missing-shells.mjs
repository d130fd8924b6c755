/** The tests of completion in shells that this machine lacks: they are left out, and reported. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const OPTIONAL = ['zsh', 'fish', 'pwsh'];

/** @returns {readonly { name: string, reason: string, isFile: boolean, matches: (test: string) => boolean }[]} */
export function missingShells(path = process.env.PATH ?? '') {
  const folders = path.split(delimiter);
  const missing = OPTIONAL.filter((shell) => !folders.some((folder) => existsSync(join(folder, shell))));
  return missing.map((shell) => {
    const name = `test/e2e/cli/completion.test.ts > completion works in ${shell}.`;
    return { name, reason: `${shell} is not installed`, isFile: false, matches: (test) => test === name };
  });
}
