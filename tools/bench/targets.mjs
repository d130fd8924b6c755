/**
 * The targets of the figures. A row reads its value from the results; `null` means not measured.
 *
 * `most` is the largest value that meets the target. `--check` compares `isRatio` rows, because these do not depend on the
 * machine.
 */
import { ALONE } from './contenders.mjs';
import { number, times } from './numbers.mjs';
import { figureIn } from './results.mjs';
import { caseName } from './scenarios/faults.mjs';
import { caseName as serversOf } from './scenarios/start-up.mjs';
import { ratio } from './statistics.mjs';

const over = (base) => (scenario, kase, metric) => (results) =>
  ratio(figureIn(results, scenario, kase, 'troupe', metric), figureIn(results, scenario, kase, base, metric));
const overSdk = over('sdk');
const overFloor = over('floor');
const itself = (scenario, kase, metric) => (results) =>
  figureIn(results, scenario, kase, 'troupe', metric)?.median ?? null;
const least = (scenario, kase, metric) => (results) =>
  figureIn(results, scenario, kase, 'troupe', metric)?.min ?? null;
const most = (scenario, kase, metric) => (results) =>
  figureIn(results, scenario, kase, 'troupe', metric)?.max ?? null;

const toSdk = (what, bound, ...where) => ({
  what,
  most: bound,
  against: 'SDK client',
  isRatio: true,
  where: `${where[0]}/${where[1]}`,
  value: overSdk(...where),
});
const toFloor = (what, bound, ...where) => ({
  what,
  most: bound,
  against: 'floor',
  isRatio: true,
  where: `${where[0]}/${where[1]}`,
  value: overFloor(...where),
});

const toSdk2 = (what, bound, metric, contender = 'troupe') => ({
  what,
  most: bound,
  against: 'SDK client, version 2',
  isRatio: true,
  where: 'new-era/in memory, 1,000',
  value: (results) =>
    ratio(
      figureIn(results, 'new-era', 'in memory, 1,000', contender, metric),
      figureIn(results, 'new-era', 'in memory, 1,000', 'client-v2', metric),
    ),
});

/** Troupe compared with itself in a case without faults. */
const toHealthy = (servers, faulty, kind) => ({
  what: `${faulty} of ${servers} ${kind}: the others usable`,
  most: 1.1,
  against: 'all answering',
  isRatio: true,
  where: `faults/${caseName(servers, faulty, kind)}`,
  value: (results) =>
    ratio(
      figureIn(results, 'faults', caseName(servers, faulty, kind), 'troupe', 'othersMs'),
      figureIn(results, 'faults', caseName(servers, faulty, 'none'), 'troupe', 'othersMs'),
    ),
});

export const TARGETS = [
  toSdk(
    'process start to all tools listed, 1 stdio server, import included',
    1,
    'start-up',
    serversOf(1),
    'totalMs',
  ),
  toSdk('import alone', 0.8, 'import', 'stdio', 'importMs'),
  ...[10, 50, 200].flatMap((servers) => [
    toSdk(
      `cold start of ${servers} stdio servers, from the call`,
      1,
      'start-up',
      serversOf(servers),
      'readyMs',
    ),
    toSdk(
      `cold start of ${servers} stdio servers, from the start of the process`,
      1,
      'start-up',
      serversOf(servers),
      'totalMs',
    ),
  ]),
  toSdk('first server usable of 50, from the call', 0.15, 'start-up', serversOf(50), 'firstMs'),
  {
    what: '`troupe.tools` with a warm cache, 50 servers, after import',
    ...{ most: 30, unit: 'ms', value: itself('warm-cache', '50 servers', 'toolsMs') },
  },
  {
    what: 'a search among 5,000 tools',
    ...{ most: 5, unit: 'ms', value: itself('search', '5,000 tools', 'searchMs') },
  },
  {
    what: 'a call on the command line, with the connections of `up --background`',
    ...{ most: 150, unit: 'ms', value: itself('command', '1 server', 'warmMs') },
  },
  { what: 'programs spawned by then', most: 0, unit: '', value: most('warm-cache', '50 servers', 'spawned') },
  toHealthy(10, 1, 'silent'),
  toHealthy(10, 1, 'slow'),
  toHealthy(10, 1, 'missing'),
  toHealthy(50, 10, 'silent'),
  toSdk('`callTool` over stdio, one after another', 1, 'calls', 'stdio, 1', 'callUs'),
  toSdk('`callTool` over stdio, 64 at once', 0.85, 'calls', 'stdio, 64', 'callUs'),
  toSdk('`callTool` in memory, one after another', 1.25, 'calls', 'memory, 1', 'callUs'),
  toSdk('`callTool` in memory, 64 at once', 1.25, 'calls', 'memory, 64', 'callUs'),
  toSdk('`callTool` over HTTP, 64 at once', 0.6, 'calls', 'http, 64', 'callUs'),
  toSdk('`callTool` over HTTP, one after another', 0.8, 'calls', 'http, 1', 'callUs'),
  ...[1, 10, 50].flatMap((size) => [
    toFloor(`one result of ${size} MiB over stdio`, 1.3, 'large-results', `${size} MiB`, 'ms'),
    toFloor(
      `one result of ${size} MiB over stdio, peak memory over idle`,
      1.5,
      'large-results',
      `${size} MiB`,
      'growthMiB',
    ),
  ]),
  toSdk('100,000 small notifications', 0.7, 'notifications', 'stdio', 'ms'),
  toFloor('`kill -9` until tools are usable again, no call made', 1.2, 'recovery', 'killed', 'backMs'),
  {
    what: 'HTTP server restarted: next call answers (1 is yes)',
    ...{ least: 1, unit: '', value: least('recovery', 'session lost', 'answered') },
  },
  toFloor('close of 50 well-behaved servers', 1.2, 'close', '50 well-behaved', 'closeMs'),
  {
    what: 'close of 50 servers that ignore SIGTERM, under `sh -c`',
    ...{
      most: 4.5,
      unit: 's',
      value: (results) => seconds(most('close', '50 that ignore SIGTERM, under sh -c', 'closeMs')(results)),
    },
  },
  {
    what: 'left alive after that',
    most: 0,
    unit: '',
    value: most('close', '50 that ignore SIGTERM, under sh -c', 'later'),
  },
  toSdk('heap of an idle connection, 50 stdio', 0.8, 'memory', 'stdio, 50', 'heapKiB'),
  toSdk('heap of an idle connection, 1,000 in memory', 1, 'memory', 'in memory, 1,000', 'heapKiB'),
  toSdk2('`callTool` in memory in the new era, one after another', 0.3, 'callUs'),
  toSdk2('heap of an idle connection of the new era, 1,000 in memory', 0.6, 'heapKiB'),
  toSdk2('the same without supervision: the protocol client alone', 0.6, 'heapKiB', ALONE),
  growth('start'),
  growth('stop'),
  {
    what: '`events$` with 10 observers minus none, an event',
    ...{ most: 2, unit: 'µs', value: itself('observing', '10 observers', 'costUs') },
  },
  {
    what: 'recorder on, an event of any actor',
    ...{ most: 15, unit: 'µs', value: itself('observing', 'recorder', 'eventUs') },
  },
  {
    what: '`telemetry` without an OpenTelemetry SDK, a call',
    ...{ most: 0.3, unit: 'µs', value: itself('observing', 'telemetry without an SDK', 'costUs') },
  },
  {
    what: 'a call through the gateway, median',
    ...{
      most: 1.5,
      against: 'a direct call behind one pipe hop',
      isRatio: true,
      where: 'gateway/stdio',
      value: itself('gateway', 'stdio', 'ratio'),
    },
  },
  {
    what: 'handing a call on to the replica of its session, median',
    ...{ most: 1, unit: 'ms', value: itself('handing-on', 'http', 'addedMs') },
  },
];

function growth(part) {
  return {
    what: `in-process connections, ${part}: time for each at 2,000`,
    most: 1.3,
    against: 'at 500',
    isRatio: true,
    where: 'growth/in memory',
    value: (results) =>
      ratio(
        figureIn(results, 'growth', 'in memory', 'troupe', `${part}2000Us`),
        figureIn(results, 'growth', 'in memory', 'troupe', `${part}500Us`),
      ),
  };
}

const seconds = (ms) => (ms === null ? null : ms / 1_000);

/** @returns {{ what: string, target: string, measured: string, verdict: 'met' | 'not met' | 'not measured', factor: number | null }[]} */
export function judge(results, targets = TARGETS) {
  return targets.map((target) => {
    const value = target.value(results);
    const show = (amount) => (target.isRatio ? times(amount) : `${number(amount)} ${target.unit}`.trim());
    const bound = target.least ?? target.most;
    const sign = target.least === undefined ? '≤' : '≥';
    const against = target.against === undefined ? '' : ` ${target.against}`;
    const isMet = value !== null && (target.least === undefined ? value <= bound : value >= bound);
    return {
      what: target.what,
      target: `${sign} ${show(bound)}${against}`,
      measured: value === null ? '–' : show(value),
      verdict: value === null ? 'not measured' : isMet ? 'met' : 'not met',
      factor: value === null || bound === 0 ? null : value / bound,
    };
  });
}
