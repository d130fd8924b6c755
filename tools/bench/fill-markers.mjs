/**
 * Writes figures into a handwritten page: replaces the text between `<!-- bench:NAME -->` and `<!-- /bench -->` with the
 * block of that name, so that no figure of the page is copied by hand.
 */
export function fillMarkers(page, blocks) {
  const missing = new Set(Object.keys(blocks));
  const filled = page.replaceAll(
    /(<!-- bench:([\w-]+) -->\n)[\s\S]*?(<!-- \/bench -->)/g,
    (whole, begin, name, end) => {
      missing.delete(name);
      return blocks[name] === undefined ? whole : `${begin}\n${blocks[name]}\n\n${end}`;
    },
  );
  if (missing.size > 0) throw new Error(`The page has no marker for ${[...missing].join(', ')}.`);
  return filled;
}
