/**
 * What a person sees after a program has written to a terminal. Knows the few escape sequences that Troupe uses and
 * throws on every other, so that nothing is missed.
 */
const ESCAPE = '\u001B';
const TOKEN = new RegExp(`${ESCAPE}\\[(?<parameters>[?\\d;]*)(?<command>[A-Za-z])|[^]`, 'gu');

export function screenOf(written: string): string {
  const lines: string[][] = [[]];
  let row = 0;
  let column = 0;
  const lineAt = (index: number): string[] => (lines[index] ??= []);

  const obey = (command: string, parameters: string): void => {
    const count = Math.max(1, Number(parameters) || 1);
    switch (command) {
      case 'A':
        row = Math.max(0, row - count);
        return;
      case 'B':
        row += count;
        return;
      case 'G':
        column = count - 1;
        return;
      case 'H': {
        const [atRow = 1, atColumn = 1] = parameters.split(';').map(Number);
        row = Math.max(1, atRow) - 1;
        column = Math.max(1, atColumn) - 1;
        return;
      }
      case 'J':
        lines.length = 0;
        return;
      case 'K':
        if (parameters === '2') lines[row] = [];
        else lineAt(row).length = Math.min(column, lineAt(row).length);
        return;
      case 'h':
      case 'l':
      case 'm':
        return;
      default:
        throw new Error(`Unknown escape sequence: ${command}`);
    }
  };

  for (const { 0: text, groups } of written.matchAll(TOKEN)) {
    if (groups?.['command'] !== undefined) {
      obey(groups['command'], groups['parameters'] ?? '');
    } else if (text === '\n') {
      row += 1;
      column = 0;
    } else if (text === '\r') {
      column = 0;
    } else {
      const line = lineAt(row);
      while (line.length < column) line.push(' ');
      line[column] = text;
      column += 1;
    }
  }
  return Array.from(lines, (line) => (line ?? []).join('').trimEnd())
    .join('\n')
    .trimEnd();
}
