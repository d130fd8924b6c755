/** What the command line of the bench says. */
import { parseArgs } from 'node:util';
import { MAX_OTHER_LOAD } from './noise.mjs';

/** Of a whole bench on a machine that does nothing else, with room to spare. */
const MAX_MINUTES = 45;

export const USAGE = `Usage: npm run bench -- [options]

  --quick          Troupe, the SDK client and the floor only, few runs: under two minutes. Writes nothing.
  --only NAME      one scenario, or several: --only calls,import; with a case: --only "calls/stdio, 64"
  --list           what there is
  --runs N         N runs of Troupe, the SDK client and the floor, and at most N of the peers
  --clients NAMES  only these: --clients troupe,sdk
  --continue       goes on where the last run was interrupted
  --write          writes results and pages even if it was not everything (scenarios that were run replace their old figures)
  --pages          writes the pages again from the committed results, and measures nothing
  --check          compares ratios with the committed ones, fails where more than 15 % were lost, writes nothing
  --dist DIR       another build than dist
  --against DIR    measures that build as well, beside the other
  --prof DIR       leaves a processor profile of each measurement in DIR
  --noise CORES    other work on the machine from which a run is taken again; default ${MAX_OTHER_LOAD}
  --minutes N      ends after that, and --continue goes on; default ${MAX_MINUTES}
  --results FILE   results that are compared with, or written, instead of the committed ones; no page is written
  --help`;

const SPEC = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  list: { type: 'boolean', default: false },
  runs: { type: 'string' },
  clients: { type: 'string' },
  continue: { type: 'boolean', default: false },
  write: { type: 'boolean', default: false },
  pages: { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
  dist: { type: 'string' },
  against: { type: 'string' },
  prof: { type: 'string' },
  noise: { type: 'string', default: String(MAX_OTHER_LOAD) },
  minutes: { type: 'string', default: String(MAX_MINUTES) },
  results: { type: 'string' },
  help: { type: 'boolean', default: false },
};

/** Throws an error with a message for the user where the line cannot be understood. */
export function readOptions(args) {
  const { values } = parseArgs({ args, options: SPEC });
  const { runs, noise, minutes, only, clients, ...rest } = values;
  const mostRuns = runs === undefined ? Infinity : Number(runs);
  if (!(mostRuns >= 1)) throw new Error(`--runs wants a number of at least 1, not '${runs}'`);
  if (!(Number(noise) >= 0)) throw new Error(`--noise wants a number of cores, not '${noise}'`);
  if (!(Number(minutes) > 0)) throw new Error(`--minutes wants a number of minutes, not '${minutes}'`);
  return {
    ...rest,
    mostRuns,
    noise: Number(noise),
    minutes: Number(minutes),
    only: listIn(only, /,(?! )/),
    clients: listIn(clients, ','),
  };
}

const listIn = (text, separator) =>
  text
    ?.split(separator)
    .map((word) => word.trim())
    .filter((word) => word !== '');
