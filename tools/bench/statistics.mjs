/** Medians, spreads and ratios of what was measured. */

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
 * The runs that count: those without much other work on the machine, where at least half of them, and two, are so; else
 * all, and the figure is told as a rough one.
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

/** One median to another; null where either is missing or there is nothing to divide by. */
export function ratio(figure, base) {
  return isMissing(figure) || isMissing(base) || base.median === 0 ? null : figure.median / base.median;
}
