/** The command line of the bench. */
import { parseArgs } from 'node:util';
import { MAX_OTHER_LOAD } from './noise.mjs';

/** Enough for a complete bench on an idle machine. */
const MAX_MINUTES = 45;

export const USAGE = `Usage: npm run bench -- [options]

  --quick          run only Troupe, the SDK client and the floor, with few runs: under two minutes; write nothing
  --only NAME      run one or several scenarios: --only calls,import; or one case: --only "calls/stdio, 64"
  --list           list the scenarios
  --runs N         N runs of Troupe, the SDK client and the floor, and at most N of the peers
  --clients NAMES  run only these clients: --clients troupe,sdk
  --continue       continue an interrupted run
  --write          write results and pages even if not everything was run (only the scenarios of this run change)
  --pages          write the pages from the committed results, and measure nothing
  --check          compare the main ratios with the committed ones, fail if a loss is above 30 %, write nothing: under
                   five minutes
  --dist DIR       measure another build than dist
  --against DIR    measure this build, too, for comparison
  --where start-up print what a start does with its processor time, by phase, for 1 and 50 servers; write nothing
  --prof DIR       write a processor profile of each measurement to DIR
  --noise CORES    other load of the machine above which a run is repeated; default ${MAX_OTHER_LOAD}
  --minutes N      stop after this time, so that --continue can go on; default ${MAX_MINUTES}
  --results FILE   compare with, or write, this file instead of the committed results; write no page
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
  where: { type: 'string' },
  prof: { type: 'string' },
  noise: { type: 'string', default: String(MAX_OTHER_LOAD) },
  minutes: { type: 'string', default: String(MAX_MINUTES) },
  results: { type: 'string' },
  help: { type: 'boolean', default: false },
};

/** Throws an error with a message for the user if the arguments are invalid. */
export function readOptions(args) {
  const { values } = parseArgs({ args, options: SPEC });
  const { runs, noise, minutes, only, clients, ...rest } = values;
  const mostRuns = runs === undefined ? Infinity : Number(runs);
  if (rest.where !== undefined && rest.where !== 'start-up')
    throw new Error(`--where knows only start-up, not '${rest.where}'`);
  if (!(mostRuns >= 1)) throw new Error(`--runs must be a number of at least 1, not '${runs}'`);
  if (!(Number(noise) >= 0)) throw new Error(`--noise must be a number of cores, not '${noise}'`);
  if (!(Number(minutes) > 0)) throw new Error(`--minutes must be a number of minutes, not '${minutes}'`);
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
