/** The table of verdicts. */

const COLUMNS = ['id', 'kind', 'passed', 'what differed'];

/** A line for each verdict and for each further difference. */
export function table(verdicts) {
  const rows = verdicts.flatMap(({ id, kind, passed, differences, ms }) => {
    const [first = `(${seconds(ms)})`, ...more] = differences;
    return [[id, kind, passed ? 'yes' : 'NO', first], ...more.map((text) => ['', '', '', text])];
  });
  const lines = [COLUMNS, ...rows];
  const widths = COLUMNS.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(column === COLUMNS.length - 1 ? 0 : widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function summary(verdicts, ms) {
  const passed = verdicts.filter((verdict) => verdict.passed).length;
  return `${passed} passed, ${verdicts.length - passed} failed in ${seconds(ms)}`;
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}
