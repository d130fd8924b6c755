/** Reads a table as it is written: a line for each row, cells apart by `|`, the first line naming the columns. */

/** One row, by the names of the columns. Lines of dashes are for the eye. */
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
