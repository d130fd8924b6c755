/** Medians, spreads and ratios of measurements. */

export function median(values) {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @returns {{ median: number, min: number, max: number, runs: number } | null} */
export function summary(values) {
  if (values.length === 0) return null;
  return {
    median: median(values),
    min: values.reduce((least, value) => Math.min(least, value)),
    max: values.reduce((most, value) => Math.max(most, value)),
    runs: values.length,
  };
}

/**
 * The runs that count: the quiet ones if these are at least half of all runs and at least two; otherwise all runs, and the
 * figure is marked as rough.
 */
export function countedRuns(runs) {
  const good = runs.filter(({ values }) => values !== undefined);
  const quiet = good.filter(({ isNoisy }) => !isNoisy);
  const isQuiet = quiet.length === good.length || quiet.length >= Math.max(2, good.length / 2);
  return { counted: isQuiet ? quiet : good, isRough: !isQuiet };
}

/** The figures of one contender in one case, by metric. */
export function figuresOf(runs) {
  const { counted, isRough } = countedRuns(runs);
  const names = [...new Set(counted.flatMap(({ values }) => Object.keys(values)))];
  const of = (name) => counted.map(({ values }) => values[name]).filter((value) => typeof value === 'number');
  const metrics = Object.fromEntries(names.map((name) => [name, summary(of(name))]));
  const error = runs.findLast((run) => run.error !== undefined)?.error;
  return {
    metrics,
    isRough,
    runs: runs.length,
    counted: counted.length,
    ...(error === undefined ? {} : { error }),
  };
}

const isMissing = (figure) => figure === null || figure === undefined;

/** The ratio of two medians; null if one is missing or the divisor is zero. */
export function ratio(figure, base) {
  return isMissing(figure) || isMissing(base) || base.median === 0 ? null : figure.median / base.median;
}
