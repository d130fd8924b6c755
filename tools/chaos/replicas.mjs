/** What faults of hosts, engine and network do to calls over replicas: see `replicas.mjs --help`. */
import { judge } from './hosts/beats.mjs';
import { command, middleAndMost, row, usageOfOptions } from './hosts/command.mjs';
import { now } from './replicas/caller.mjs';
import { FAULTS } from './replicas/faults.mjs';
import { judgeCalls, judgeRound } from './replicas/judge.mjs';
import { Scene } from './replicas/scene.mjs';
import { SeededRandom } from './seeded-random.mjs';

const USAGE = `Usage: node tools/chaos/replicas.mjs [options]        (after npm run build)

Two replicas of a gateway behind a plain proxy, and a host whose program calls tools itself, are one fleet. Clients of SDK v1 and v2
and that program call two servers all the time: one at each host, and one that may run once in the fleet. Each call has an id, and
its side effect is that id in a journal. Faults hit replicas, the engine, and the network between them. Every call must settle in
time with an outcome that agrees with the journal, no side effect may happen twice, no two of the servers that run once may
run at the same time, a drain must not fail anything, and after each fault every client must succeed again.

${usageOfOptions(FAULTS)}`;

const HEAD = row('fault', [
  ...['calls', 'succeeded', 'not sent', 'unknown', 'gave up', 'sessions'],
  ...['median', 'most', 'once median', 'once most'],
]);

async function run({ engine, faults, rounds, seed }, say, report) {
  say(HEAD);
  const random = new SeededRandom(seed);
  const results = [];
  for (const fault of faults) {
    const { problems, ...figures } = await hit(fault, { engine, rounds, random });
    results.push({ fault, ...figures });
    const { calls, succeeded, notDelivered, unknown, gaveUp, lost, pauses, oncePauses } = figures;
    say(row(fault, [calls, succeeded, notDelivered, unknown, gaveUp, lost, ...pauses, ...oncePauses]));
    for (const problem of problems) report(`${fault}: ${problem}`);
  }
  return { results };
}

/** All rounds of one fault. */
async function hit(fault, { engine: kind, rounds, random }) {
  const { run: hurt, victim, hasPeerLinks, ...terms } = FAULTS[fault];
  const scene = await Scene.open({ kind, random, hasPeerLinks });
  const begun = now();
  const times = [];
  const problems = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      // In every other round, the fault hits the host that runs the server which may run once.
      const target = victim && (await scene.find(victim, round % 2 === 0));
      await scene.pause(random.between(0, 1_500));
      const [since, lost] = [now(), scene.lost];
      try {
        await hurt(scene, target);
        await scene.recovered();
      } catch (error) {
        problems.push(error.message);
      }
      times.push({ since, until: now(), lost: scene.lost - lost });
      if (problems.length > 0) break;
    }
    await scene.quiet();
    const { calls, limitMs } = scene;
    const judged = times.map((each) => judgeRound(calls, each, terms));
    const { overlaps, togetherMs, shrunk } = judge(scene.runs(), begun);
    problems.push(...judgeCalls(calls, scene.journal(), limitMs), ...judged.flatMap((each) => each.problems));
    if (overlaps > 0) problems.push(`two servers that run once ran together, for up to ${togetherMs} ms`);
    if (shrunk > 0) problems.push(`a token of the server that runs once was smaller than one before it`);
    return { problems, ...sum(judged) };
  } finally {
    await scene.close();
  }
}

function sum(judged) {
  const total = (name) => judged.reduce((all, each) => all + each[name], 0);
  const pauses = (server) => middleAndMost(judged.flatMap(({ pausesMs }) => pausesMs[server] ?? []));
  return {
    calls: total('calls'),
    succeeded: total('succeeded'),
    notDelivered: total('not-delivered'),
    unknown: total('unknown'),
    gaveUp: total('gave-up'),
    lost: total('lost'),
    pauses: pauses('plain'),
    oncePauses: pauses('once'),
  };
}

await command({ usage: USAGE, faults: FAULTS, run });
