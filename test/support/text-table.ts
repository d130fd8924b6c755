/** Reads a text table: one line for each row, cells separated by `|`, the names of the columns in the first line. */

/** One row, by the names of the columns. Lines of dashes are ignored. */
export type Row = Readonly<Record<string, string>>;

export function readTable(text: string): Row[] {
  const [head = [], ...rows] = text
    .split('\n')
    .filter((line) => /[^\s|-]/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return rows.map((cells) => {
    if (cells.length !== head.length)
      throw new Error(`A row with ${cells.length} cells: ${cells.join(' | ')}`);
    return Object.fromEntries(head.map((name, index) => [name, cells[index]!]));
  });
}
