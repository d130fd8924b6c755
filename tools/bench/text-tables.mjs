/** The figures of a scenario as tables with header and rows of text, for a terminal and for a page. */
import { LABELS } from './contenders.mjs';
import { number, spread, times } from './numbers.mjs';
import { ratio } from './statistics.mjs';

const isMarked = ({ isRough }) => (isRough ? ' ~' : '');

/** @returns {{ title: string, header: string[], rows: string[][] }[]} one table for each measured case */
export function tablesOf(scenario, measured) {
  return Object.entries(measured.cases).map(([name, contenders]) => ({
    title: name,
    ...tableOf(scenario, contenders),
  }));
}

/** Marks figures that are missing in some runs, for example if there was no recovery. */
function partly({ metrics, counted }, key) {
  const runs = metrics[key]?.runs ?? counted;
  return runs < counted ? ` in ${runs} of ${counted}` : '';
}

function tableOf(scenario, contenders) {
  if (scenario.isReported) return reported(contenders);
  const all = Object.values(contenders);
  const metrics = Object.entries(scenario.metrics).filter(([key]) => all.some(({ metrics }) => metrics[key]));
  const hasRatios = (key, base) =>
    scenario.metrics[key].ratio !== false && contenders[base]?.metrics[key] && all.length > 1;
  const columns = metrics.flatMap(([key, { label, unit }]) => [
    {
      head: unit === '' ? label : `${label}, ${unit}`,
      cell: (one) => `${spread(one.metrics[key])}${partly(one, key)}`,
    },
    ...['sdk', 'floor']
      .filter((base) => hasRatios(key, base))
      .map((base) => ({
        head: `× ${base}`,
        cell: (one) => times(ratio(one.metrics[key], contenders[base].metrics[key])).replace(' ×', ''),
      })),
  ]);
  const rows = Object.entries(contenders).map(([name, one]) => [
    `${LABELS[name] ?? name}${isMarked(one)}`,
    number(one.runs),
    ...columns.map(({ cell }) => cell(one)),
  ]);
  return { header: ['', 'runs', ...columns.map(({ head }) => head)], rows, errors: errorsOf(contenders) };
}

/** Figures with names from a script. */
function reported({ troupe }) {
  const rows = Object.entries(troupe.metrics).map(([label, { median }]) => [label, number(median)]);
  return { header: ['', ''], rows, errors: errorsOf({ troupe }) };
}

function errorsOf(contenders) {
  return Object.entries(contenders)
    .filter(([, { error }]) => error !== undefined)
    .map(([name, { error }]) => `${LABELS[name] ?? name}: ${error}`);
}

/** Aligned columns for a terminal. */
export function plainTable({ header, rows }) {
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => row[column].length)));
  return [header, ...rows]
    .map((row) =>
      row.map((text, at) => (at === 0 ? text.padEnd(widths[at]) : text.padStart(widths[at]))).join('  '),
    )
    .join('\n');
}
