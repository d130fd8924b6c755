/** The results of a run as text. */

/** `results` are those of this and of earlier runs; `equivalents` has the reason, by id, why a mutant is not a mistake. */
export function reportOf(results, equivalents) {
  const files = [...new Set(results.map(({ file }) => file))];
  const rows = files.map((file) =>
    rowOf(
      file,
      results.filter((result) => result.file === file),
      equivalents,
    ),
  );
  const total = rowOf('all', results, equivalents);
  const missing = results.filter(({ id, caughtBy }) => caughtBy === null && equivalents[id] === undefined);
  return { table: tableOf([...rows, total]), missing, score: total.score };
}

function rowOf(name, results, equivalents) {
  const survived = results.filter(({ caughtBy }) => caughtBy === null);
  const equivalent = survived.filter(({ id }) => equivalents[id] !== undefined).length;
  const caught = results.length - survived.length;
  const score = results.length === equivalent ? 100 : (100 * caught) / (results.length - equivalent);
  return { name, mutants: results.length, caught, equivalent, missed: survived.length - equivalent, score };
}

function tableOf(rows) {
  const cells = rows.map(({ score, ...row }) => [...Object.values(row).map(String), `${score.toFixed(1)} %`]);
  const lines = [['file', 'mutants', 'caught', 'equivalent', 'missed', 'score'], ...cells];
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const pad = (cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]));
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}
