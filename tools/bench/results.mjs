/** The committed results of a bench: figures by scenario, case and contender, and the machine. */
import { figuresOf, median } from './statistics.mjs';
import { keyOf } from './run-plan.mjs';

export const FORMAT = 1;

/**
 * @param {object[]} plan the plan of the run
 * @param {object} runs the runs of each
 * @param {object} facts `machine`, `versions`, `taken` (a date)
 * @param {object} [old] results of scenarios that are not in the plan are kept
 */
export function makeResults(plan, runs, { machine, versions, taken }, old) {
  const scenarios = { ...old?.scenarios };
  for (const { scenario } of plan)
    scenarios[scenario.name] = { taken, machine, versions, cases: {}, otherLoad: null };
  const loads = new Map();
  for (const kase of plan) {
    const figures = kase.contenders.map(({ name }) => [name, runs.of(keyOf(kase, name))]);
    const all = figures.flatMap(([, list]) => list);
    const name = kase.scenario.name;
    loads.set(name, [...(loads.get(name) ?? []), ...all]);
    scenarios[name].cases[kase.name] = Object.fromEntries(
      figures.filter(([, list]) => list.length > 0).map(([contender, list]) => [contender, figuresOf(list)]),
    );
  }
  for (const [name, list] of loads) {
    const known = list.map(({ otherLoad }) => otherLoad).filter((load) => load !== null);
    const most = known.length === 0 ? null : Math.max(...known);
    const noisy = list.filter(({ isNoisy }) => isNoisy).length;
    scenarios[name].otherLoad = { median: median(known), most, noisy, runs: list.length };
  }
  return { format: FORMAT, scenarios };
}

/** Four digits are precise enough, and keep the committed file small. */
export function rounded(results) {
  return JSON.parse(
    JSON.stringify(results, (_, value) =>
      typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value,
    ),
  );
}

/** A figure, or null. */
export function figureIn(results, scenario, kase, contender, metric) {
  return results.scenarios[scenario]?.cases[kase]?.[contender]?.metrics[metric] ?? null;
}
