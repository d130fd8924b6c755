/**
 * Reads what a script prints for people: a heading at the left, and below it lines of a label and a number. Each figure
 * is named `heading: label`.
 */
const FIGURE = /^\s+(.*?\S)\s{1,}(-?[\d,]*\.?\d+)\s*(?:[a-zµ/%×]*)$/u;

export function reportedFigures(text) {
  const figures = {};
  let heading = '';
  let isOpen = false;
  for (const line of text.split('\n')) {
    const [, label, value] = FIGURE.exec(line) ?? [];
    if (label !== undefined) {
      figures[heading === '' ? label : `${heading}: ${label}`] = Number(value.replaceAll(',', ''));
      isOpen = false;
    } else if (line.trim() !== '') {
      // A heading may be broken into lines.
      heading = isOpen && line.startsWith(' ') ? `${heading} ${line.trim()}` : line.trim();
      isOpen = true;
    }
  }
  return figures;
}
