/** Progress output for the terminal. */
import { duration, number } from './numbers.mjs';
import { judge } from './targets.mjs';
import { plainTable, tablesOf } from './text-tables.mjs';

/** @param {(line: string) => void} report */
export function makeProgress(plan, report) {
  const total = plan.reduce(
    (sum, { contenders }) => sum + contenders.reduce((all, { runs }) => all + runs, 0),
    0,
  );
  const begun = performance.now();
  let done = 0;
  return (kase, name, run, again) => {
    if (again === undefined) done += 1;
    const count = again ?? `${done}/${total}`;
    const passed = duration(performance.now() - begun);
    report(
      `[${count}, ${passed}] ${kase.scenario.name}/${kase.name} ${name}: ${figureOf(kase, run)}${loadOf(run)}`,
    );
  };
}

/** The first measured figure of the scenario. */
function figureOf({ scenario }, { error, values }) {
  if (error !== undefined) return error;
  const names = [...Object.keys(scenario.metrics), ...Object.keys(values)];
  const name = names.find((key) => typeof values[key] === 'number');
  if (name === undefined) return 'nothing within the limit';
  const { label, unit } = scenario.metrics[name] ?? { label: name, unit: '' };
  return `${label} ${number(values[name])} ${unit}`.trim();
}

function loadOf({ otherLoad, isNoisy, left }) {
  const load = otherLoad === null ? '' : `, other load ${otherLoad.toFixed(2)}${isNoisy ? ' (noisy)' : ''}`;
  return left === undefined ? load : `${load}, ${left} processes left`;
}

/** Tables of the scenarios of this plan. */
export function showTables({ scenarios }, plan) {
  for (const scenario of new Set(plan.map((kase) => kase.scenario))) {
    if (scenarios[scenario.name] === undefined) continue;
    for (const { title, errors, ...table } of tablesOf(scenario, scenarios[scenario.name])) {
      console.log(`\n${scenario.title}: ${title}\n${plainTable(table)}`);
      for (const error of errors) console.log(`  ${error}`);
    }
    const { median, most, noisy, runs } = scenarios[scenario.name].otherLoad;
    console.log(
      `  other load: ${number(median)} cores, at most ${number(most)}; ${noisy} of ${runs} runs noisy`,
    );
  }
}

export function showTargets(results) {
  const rows = judge(results).filter(({ verdict }) => verdict !== 'not measured');
  if (rows.length === 0) return;
  const header = ['target', 'wanted', 'measured', ''];
  const text = rows.map(({ what, target, measured, verdict }) => [what, target, measured, verdict]);
  console.log(`\n${plainTable({ header, rows: text })}`);
}
