/** Finds the known name that a misspelled word probably means. */

/** The known name nearest to `word` by typing mistakes; undefined if none is near. Case, `_` and `-` do not count. */
export function nearestName(word: string, known: readonly string[]): string | undefined {
  const typed = plain(word);
  const allowed = Math.min(2, Math.floor(typed.length / 3));
  let nearest: string | undefined;
  let least = allowed + 1;
  for (const name of known) {
    const target = plain(name);
    if (Math.abs(target.length - typed.length) >= least) continue;
    const distance = typingDistance(typed, target);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

/** The known name that ends a longer word: `servers` for `mcpServers`. */
export function nameAtEnd(word: string, known: readonly string[]): string | undefined {
  return known.find((name) => word.endsWith(`${name.slice(0, 1).toUpperCase()}${name.slice(1)}`));
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

/** Letters added, lost, changed or swapped with their neighbour (optimal string alignment). */
function typingDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Infinity;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const changed = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Infinity;
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, changed, swapped));
    }
  }
  return at(a.length, b.length);
}
