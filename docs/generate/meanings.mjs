/**
 * A row that does not say what it is about is an error: a page with one is not written.
 */

/** @param {string} owner @param {import('./source-reader.mjs').Member[]} members */
export function undocumented(owner, members) {
  return members.filter(({ doc }) => doc === '').map(({ name }) => `${owner}.${name} has no doc comment`);
}

/** @param {string} what the rows of a page, in the plural @param {readonly string[]} problems */
export function failOn(what, problems) {
  if (problems.length > 0) throw new Error(`${what} that cannot be documented:\n  ${problems.join('\n  ')}`);
}
