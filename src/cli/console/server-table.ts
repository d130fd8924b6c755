/** The servers as a table, with a heading for each column and the selected server marked. Pure. */
import stringWidth from 'string-width';
import { fit } from '../output/fit-text.js';
import { line, type Line, type Look } from './line.js';
import type { Column, Health, Row } from './server-row.js';

/** From the most to the least important: the last ones are left out if the terminal is narrow. */
const HEADINGS: Readonly<Record<Column, string>> = {
  server: 'SERVER',
  state: 'STATE',
  tools: 'TOOLS',
  uptime: 'UPTIME',
  restarts: 'RESTARTS',
  transport: 'TRANSPORT',
  where: 'PID / URL',
};
const COLUMNS = Object.keys(HEADINGS) as readonly Column[];
/** Columns that can be narrower than their content. */
const NARROWEST: Readonly<Partial<Record<Column, number>>> = { server: 12, state: 16, where: 9 };
const GAP = '  ';
const MARK = '▸ ';
const NO_MARK = '  ';

const LOOKS: Readonly<Record<Health, Look>> = { good: 'green', busy: 'yellow', bad: 'red', off: 'dim' };

export interface ServerTable {
  readonly heading: Line;
  readonly lines: readonly Line[];
  /** Index of the first line of the selected server. */
  readonly selectedAt: number;
}

/** A row, and below it the problem of its server, if there is one. */
export function serverTable(rows: readonly Row[], selected: number, width: number): ServerTable {
  const widths = columnWidths(rows, width - MARK.length);
  const cells = (texts: Readonly<Record<Column, string>>): readonly string[] =>
    widths.map(([column, room]) => fit(texts[column], room));
  const lines: Line[] = [];
  let selectedAt = 0;
  for (const [index, row] of rows.entries()) {
    const isSelected = index === selected;
    if (isSelected) selectedAt = lines.length;
    lines.push(rowLine(row, cells(row), isSelected));
    if (row.problem !== '') lines.push(line(`${NO_MARK}└ ${row.problem}`, LOOKS[row.health]));
  }
  return { heading: line(NO_MARK + cells(HEADINGS).join(GAP).trimEnd(), 'dim'), lines, selectedAt };
}

function rowLine(
  { health }: Row,
  [name = '', state = '', ...rest]: readonly string[],
  isSelected: boolean,
): Line {
  const look = health === 'off' ? 'dim' : 'plain';
  return [
    { text: isSelected ? MARK : NO_MARK, look: 'bold' },
    { text: name, look: isSelected ? 'bold' : look },
    { text: GAP + state, look: LOOKS[health] },
    {
      text: rest
        .map((cell) => GAP + cell)
        .join('')
        .trimEnd(),
      look,
    },
  ];
}

/** The columns that fit, each as wide as its content; server, state and address shrink if necessary. */
function columnWidths(rows: readonly Row[], width: number): readonly (readonly [Column, number])[] {
  const wanted = COLUMNS.map((column) => {
    const widest = Math.max(stringWidth(HEADINGS[column]), ...rows.map((row) => stringWidth(row[column])));
    return { column, widest, least: Math.min(widest, NARROWEST[column] ?? widest) };
  });
  let left = width + GAP.length;
  const shown: typeof wanted = [];
  for (const each of wanted) {
    // A terminal that is too narrow for name and state cuts the line.
    if (shown.length > 1 && each.least + GAP.length > left) break;
    left -= each.least + GAP.length;
    shown.push(each);
  }
  const widths: [Column, number][] = [];
  for (const { column, widest, least } of shown) {
    const more = Math.max(0, Math.min(widest - least, left));
    left -= more;
    widths.push([column, least + more]);
  }
  return widths;
}
