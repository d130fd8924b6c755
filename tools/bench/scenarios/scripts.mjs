/** Runs the benchmarks that are separate scripts and parses their output. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { reportedFigures } from '../reported-figures.mjs';

const pathOf = (file) => fileURLToPath(new URL(`../${file}`, import.meta.url));
const SCRIPTS = [
  {
    name: 'event log',
    file: 'event-log.mjs',
    args: ['--entries', '200000'],
    quickArgs: ['--entries', '30000'],
    seconds: 75,
  },
  { name: 'inspection', file: 'inspection.mjs', seconds: 84 },
  { name: 'page', file: 'visualizer.mjs', args: ['200000'], seconds: 64 },
  { name: 'chart floor', file: 'chart-floor.mjs', seconds: 3 },
  { name: 'gateway', file: 'gateway.mjs', seconds: 3 },
  { name: 'gateway, many sessions', file: 'gateway-load.mjs', args: ['--seconds', '20'], seconds: 28 },
];

export const scenario = {
  name: 'scripts',
  title: 'What the scripts of single parts report',
  about: 'The output of scripts in `tools/bench` that measure a single part. You can also run them alone.',
  isReported: true,
  metrics: {},
  cases: ({ isQuick }) =>
    SCRIPTS.filter(
      ({ file, quickArgs }) => existsSync(pathOf(file)) && (!isQuick || quickArgs !== undefined),
    ).map(({ name, file, args = [], quickArgs, seconds }) => ({
      name,
      params: { file, args: isQuick ? quickArgs : args },
      clients: ['troupe'],
      // Independent of `--runs`, because these figures are not compared.
      ...{ runs: 1, runsOf: { troupe: 1 }, seconds, limitMs: 240_000 },
    })),
};

const run = promisify(execFile);

async function outputOf(script, args) {
  try {
    return (await run(process.execPath, ['--expose-gc', script, ...args])).stdout;
  } catch (error) {
    // The last line, without the stack.
    const lines = (error.stderr ?? '').split('\n').filter((line) => /^\w*Error\b/.test(line));
    throw new Error(lines.at(-1) ?? error.message.split('\n')[0], { cause: error });
  }
}

export async function measure({ params: { file, args } }) {
  const stdout = await outputOf(pathOf(file), args);
  const figures = reportedFigures(stdout);
  if (Object.keys(figures).length === 0) throw new Error(`${file} prints no figures`);
  return figures;
}
