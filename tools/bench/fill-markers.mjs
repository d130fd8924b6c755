/**
 * Writes figures into a page that people write: what stands between `<!-- bench:NAME -->` and `<!-- /bench -->` is
 * replaced by the block of that name, so that no figure of the page is anybody's memory.
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
  if (missing.size > 0) throw new Error(`The page has no place for ${[...missing].join(', ')}.`);
  return filled;
}
