/** The outcome of a run as text. */

/** One line for each figure, by group. */
export function table(figures) {
  const rows = Object.entries(figures).flatMap(([group, values]) =>
    Object.entries(values).map(([name, value]) => [group, name, value.toLocaleString('en')]),
  );
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map(([group, name, value], index) => {
      const shown = rows[index - 1]?.[0] === group ? '' : group;
      return `${shown.padEnd(widths[0])}  ${name.padEnd(widths[1])}  ${value.padStart(widths[2])}`;
    })
    .join('\n');
}

/** `again` is the command that repeats the run. */
export function verdict({ passed, interrupted, faults }, { again, logFile }) {
  if (interrupted) return 'interrupted: no verdict';
  if (passed) return 'passed';
  return [
    ...faults.map((fault) => `FAILED: ${fault}`),
    `the events are in ${logFile}`,
    `to repeat it: ${again}`,
  ].join('\n');
}
