/**
 * Parses the text output of a script: headings at the left margin, each followed by lines with a label and a number. The
 * name of a figure is `heading: label`.
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
      // A heading may have several lines.
      heading = isOpen && line.startsWith(' ') ? `${heading} ${line.trim()}` : line.trim();
      isOpen = true;
    }
  }
  return figures;
}
