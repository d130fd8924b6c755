/** The tests that do not run with Node for Windows: `left-out.json`, by the reason. `*` in a name stands for any text. */
import { readFileSync } from 'node:fs';

/**
 * @param {string | undefined} wine `TROUPE_WINE`: undefined on Windows itself, `all` if only whole files are left out
 * @returns {readonly { name: string, reason: string, isFile: boolean, matches: (test: string) => boolean }[]}
 */
export function leftOut(wine) {
  const { windows, wine: onlyWine } = JSON.parse(
    readFileSync(new URL('left-out.json', import.meta.url), 'utf8'),
  );
  const groups = [windows, ...(wine === undefined ? [] : [onlyWine])].flatMap((group) =>
    Object.entries(group),
  );
  const entries = groups.flatMap(([reason, names]) => names.map((name) => toEntry(name, reason)));
  return wine === 'all' ? entries.filter(({ isFile }) => isFile) : entries;
}

function toEntry(name, reason) {
  const pattern = new RegExp(
    `^${name
      .split('*')
      .map((part) => escaped(part))
      .join('.*')}$`,
    's',
  );
  return { name, reason, isFile: !name.includes(' > '), matches: (test) => pattern.test(test) };
}

function escaped(text) {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
