/** The plan of a run: cases of scenarios, their contenders, and the number of runs. */
import { KEY } from './contenders.mjs';
import { scenario as calls } from './scenarios/calls.mjs';
import { scenario as close } from './scenarios/close.mjs';
import { scenario as command } from './scenarios/command.mjs';
import { scenario as faults } from './scenarios/faults.mjs';
import { scenario as gateway } from './scenarios/gateway.mjs';
import { scenario as growth } from './scenarios/growth.mjs';
import { scenario as handingOn } from './scenarios/handing-on.mjs';
import { scenario as importing } from './scenarios/import.mjs';
import { scenario as largeResults } from './scenarios/large-results.mjs';
import { scenario as memory } from './scenarios/memory.mjs';
import { scenario as newEra } from './scenarios/new-era.mjs';
import { scenario as notifications } from './scenarios/notifications.mjs';
import { scenario as observing } from './scenarios/observing.mjs';
import { scenario as recovery } from './scenarios/recovery.mjs';
import { scenario as scale } from './scenarios/scale.mjs';
import { scenario as scripts } from './scenarios/scripts.mjs';
import { scenario as search } from './scenarios/search.mjs';
import { scenario as startUp } from './scenarios/start-up.mjs';
import { scenario as warmCache } from './scenarios/warm-cache.mjs';

export const SCENARIOS = [
  ...[importing, startUp, warmCache, command, faults, calls, largeResults, notifications, recovery, close],
  ...[memory, newEra, growth, observing, gateway, handingOn, search, scripts, scale],
];

/** Scenarios without a comparison with the SDK client, the floor or an earlier build. */
const WITHOUT_RATIOS = ['command', 'handing-on', 'search', 'scripts', 'scale'];
/** Scenarios that take long and rarely change. */
const NOT_QUICK = ['growth'];

/** What `--check` measures: one row for each thing that a change can make slower, in less than five minutes together. */
export const CHECKED = [
  'import/stdio',
  'start-up/1 server',
  'start-up/50 servers',
  'calls/stdio, 1',
  'calls/memory, 64',
  'calls/http, 64',
  'large-results/10 MiB',
  'recovery/killed',
  'close/50 well-behaved',
  'memory/in memory, 1,000',
];

const QUICK_RUNS = 1;
const CHECK_RUNS = 3;

/**
 * @param {object} options of the command line
 * @returns cases in order, each with its contenders and their number of runs
 */
export function makePlan(
  { only, quick, check, mostRuns = Infinity, clients, against },
  scenarios = SCENARIOS,
) {
  const isBrief = quick || check;
  const isWanted = (scenario, kase) =>
    (only === undefined &&
      !(check && !CHECKED.includes(`${scenario}/${kase}`)) &&
      !(isBrief && WITHOUT_RATIOS.includes(scenario)) &&
      !(quick && NOT_QUICK.includes(scenario))) ||
    only?.includes(scenario) ||
    only?.includes(`${scenario}/${kase}`);
  const runsOf = (kase, client) => {
    const isKey = client === 'before' || KEY.includes(client);
    const own = kase.runsOf?.[client] ?? (isKey ? kase.runs : (kase.peerRuns ?? kase.runs));
    if (mostRuns !== Infinity)
      return isKey && kase.runsOf?.[client] === undefined ? mostRuns : Math.min(mostRuns, own);
    return Math.min(own, quick ? QUICK_RUNS : check ? CHECK_RUNS : own);
  };
  const isIn = (client) =>
    clients === undefined ? !isBrief || KEY.includes(client) : clients.includes(client);
  const plan = scenarios.flatMap((scenario) =>
    scenario
      .cases({ isQuick: quick })
      .filter(({ name }) => isWanted(scenario.name, name))
      .map((kase) => {
        const all = kase.clients.flatMap((name) =>
          name === 'troupe' && against !== undefined ? [name, 'before'] : [name],
        );
        const contenders = all
          .filter(isIn)
          .map((name) => ({ name, runs: runsOf(kase, name) }))
          .filter(({ runs }) => runs > 0);
        const { name, params, limitMs, seconds } = kase;
        return { scenario, name, params, limitMs, seconds, contenders };
      }),
  );
  if (plan.length === 0) throw new Error(`Unknown scenario. Available: ${names(scenarios)}`);
  return plan.filter(({ contenders }) => contenders.length > 0);
}

/** The duration of a plan on an idle machine in milliseconds; `seconds` of a case is the duration of one run. */
export function expectedMs(plan) {
  const runs = ({ contenders }) => contenders.reduce((sum, { runs: count }) => sum + count, 0);
  return plan.reduce((sum, kase) => sum + runs(kase) * kase.seconds * 1_000, 0);
}

export const names = (scenarios = SCENARIOS) => scenarios.map(({ name }) => name).join(', ');

/** Rotates the order, because the first contender of a round has an advantage. */
export function rotated(list, round) {
  const from = list.length === 0 ? 0 : round % list.length;
  return [...list.slice(from), ...list.slice(0, from)];
}
