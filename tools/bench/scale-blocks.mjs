/** Builds the tables of docs/explanation/scale.md from the figures of the scenario `scale`. */
import { table } from './benchmark-page.mjs';
import { number } from './numbers.mjs';
import { figureIn } from './results.mjs';

const COLUMNS = {
  connections: ['startMs', 'closeMs', 'heapMiB', 'rssMiB', 'callUs', 'callsPerS', 'eventsPerS'],
  programs: ['startMs', 'closeMs', 'heapMiB', 'rssMiB', 'serversMiB', 'idleCores', 'callUs'],
  tools: ['startMs', 'heapMiB', 'callUs', 'refreshMs'],
  'event-log': ['startBytes', 'plainCallBytes', 'callBytes', 'logMB', 'wireLogMB'],
};
const ENDS = {
  connections: 'connections in memory',
  programs: 'programs',
  tools: 'tools of 10 servers',
  'event-log': 'event log',
};

export function scaleBlocks(scenario, results) {
  const measured = results.scenarios[scenario.name];
  if (measured === undefined) return undefined;
  const blocks = Object.entries(ENDS).map(([name, end]) => {
    const rows = Object.keys(measured.cases)
      .filter((kase) => kase.endsWith(end))
      .map((kase) => [
        kase,
        ...COLUMNS[name].map((metric) => number(figureIn(results, 'scale', kase, 'troupe', metric)?.median)),
      ]);
    const header = COLUMNS[name].map((metric) => {
      const { label, unit } = scenario.metrics[metric];
      return unit === '' ? label : `${label}, ${unit}`;
    });
    return [name, table(['', ...header], rows)];
  });
  const { processor, node } = measured.machine;
  const where = `Measured on ${measured.taken} by \`npm run bench -- --only scale\` on ${processor} with Node ${node}; each figure is one process.`;
  return { ...Object.fromEntries(blocks), machine: where };
}
