/** Whether a server that runs once in the fleet ever runs twice, under faults: see `only-one.mjs --help`. */
import { judge } from './hosts/beats.mjs';
import { command, middleAndMost, row, usageOfOptions } from './hosts/command.mjs';
import { FAULTS } from './only-one/faults.mjs';
import { openScene } from './only-one/scene.mjs';
import { SeededRandom } from './seeded-random.mjs';

const USAGE = `Usage: node tools/chaos/only-one.mjs [options]        (after npm run build)

Two hosts of a fleet, each a process, share one server that may run once. It writes its token and the time into a file every
5 ms. Faults hit the host that has it, the engine, and the network between them. At no time may two servers run, and no token
may be smaller than one before it.

  --lease MS     time to live of the lease, 2000 to 60000 (default 2000)
${usageOfOptions(FAULTS)}`;

const HEAD = row('fault', [
  'rounds',
  'overlaps',
  'together',
  'shrunk',
  'handed on',
  'gap median',
  'gap most',
]);

async function run({ engine, faults, rounds, lease, seed }, say, report) {
  say(`lease ${lease} ms`);
  say(HEAD);
  const random = new SeededRandom(seed);
  const scene = await openScene(engine, lease);
  const results = [];
  try {
    for (const fault of faults) {
      const figures = [];
      for (let round = 0; round < rounds; round += 1) {
        await scene.settle(random);
        const since = scene.now();
        await FAULTS[fault](scene);
        await scene.settle(random);
        figures.push(judge(scene.runs(), since));
      }
      const result = { fault, rounds, ...sum(figures) };
      results.push(result);
      const { overlaps, togetherMs, shrunk, handedOn, gapMedianMs, gapMostMs } = result;
      say(row(fault, [rounds, overlaps, togetherMs, shrunk, handedOn, gapMedianMs, gapMostMs]));
      if (overlaps > 0) report(`${fault}: ${overlaps} time(s), two servers ran together`);
      if (shrunk > 0) report(`${fault}: ${shrunk} time(s), a token was smaller than one before it`);
    }
  } finally {
    await scene.close();
  }
  return { leaseMs: lease, results };
}

function sum(figures) {
  const gaps = figures.flatMap(({ gapsMs }) => gapsMs);
  const total = (name) => figures.reduce((all, each) => all + each[name], 0);
  const [gapMedianMs, gapMostMs] = middleAndMost(gaps);
  return {
    overlaps: total('overlaps'),
    togetherMs: Math.max(...figures.map(({ togetherMs }) => togetherMs)),
    shrunk: total('shrunk'),
    handedOn: gaps.length,
    gapMedianMs,
    gapMostMs,
  };
}

await command({
  usage: USAGE,
  faults: FAULTS,
  numbers: { lease: { low: 2_000, high: 60_000, standard: 2_000 } },
  run,
});
