/**
 * The benchmarks: `npm run bench -- --help`.
 *
 * Owns: the course of a run. `scenarios/` has the measurements, `targets.mjs` the targets.
 */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { unexplained } from './benchmark-page.mjs';
import { compare } from './check.mjs';
import { PEERS } from './contenders.mjs';
import { installPeers } from './install-peers.mjs';
import { keptRuns } from './kept-runs.mjs';
import { describeMachine, installedVersions } from './machine.mjs';
import { duration, times } from './numbers.mjs';
import { DIST } from './from-dist.mjs';
import { readOptions, USAGE } from './options.mjs';
import { isNoisy, watchLoad } from './noise.mjs';
import { expectedMs, makePlan, SCENARIOS } from './plan.mjs';
import { makeProgress, showTables, showTargets } from './progress.mjs';
import { makeResults, rounded } from './results.mjs';
import { runPlan } from './run-plan.mjs';
import { take } from './take.mjs';
import { committedResults, writePages } from './write-pages.mjs';

const LOOK_MS = 1_000;
/** Share of the time of a plan for repeated runs, but at least a minute. */
const RETAKES_SHARE = 0.2;
const MIN_RETAKES_MS = 60_000;

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(USAGE);
  if (options.pages) return pagesAgain();
  if (options.where !== undefined) return where(options);
  const plan = makePlan(options);
  if (options.list) return list(plan);
  const begun = performance.now();
  const committed = await committedResults(options.results);
  if (options.check && committed === undefined) throw new Error('There are no results to compare with.');
  await warnOfLoad(options.noise);
  const kept = isWritten(options) && !options.check ? committed : undefined;
  const results = await measureAll(withPeers(plan), options, kept);
  showTables(results, plan);
  showTargets(results);
  if (options.check) await check(results, plan, options, committed);
  else if (isWritten(options)) await write(results, options);
  report(`Took ${duration(performance.now() - begun)}.`);
}

async function write(results, { results: file }) {
  if (file !== undefined) await writeFile(file, JSON.stringify(results));
  const files = file === undefined ? await writePages(results, SCENARIOS) : [file];
  report(`Written: ${files.join(', ')}`);
  const missing = file === undefined ? unexplained(results) : [];
  for (const what of missing) report(`Not met, without a reason in tools/bench/why-not-met.mjs: ${what}`);
  if (missing.length > 0) process.exitCode = 1;
}

async function where({ dist, noise }) {
  for (const servers of [1, 50]) {
    const job = {
      scenario: 'phases',
      name: 'troupe',
      params: { servers },
      dist: resolve(dist ?? DIST),
      noise,
    };
    const { values, error } = await take(job);
    if (values === undefined) throw new Error(error);
    const total = Object.values(values).reduce((sum, ms) => sum + ms, 0);
    console.log(
      `${servers} servers, processor time per server with the profiler: ${perServer(total, servers)}`,
    );
    for (const [phase, ms] of Object.entries(values))
      console.log(`  ${phase.padEnd(20)} ${perServer(ms, servers)}  ${Math.round((100 * ms) / total)} %`);
  }
}

const perServer = (ms, servers) => `${(ms / servers).toFixed(2).padStart(7)} ms`;

const report = (text) => console.error(text);

/** Incomplete results are written only on request. */
const isWritten = ({ write, quick, only, clients, mostRuns }) =>
  write || (!quick && only === undefined && clients === undefined && mostRuns === Infinity);

async function pagesAgain() {
  const results = await committedResults();
  if (results === undefined) throw new Error('There are no committed results.');
  await write(results, {});
}

function list(plan) {
  for (const { scenario, name, contenders } of plan)
    console.log(
      `${scenario.name}/${name}: ${contenders.map((one) => `${one.name} ×${one.runs}`).join(', ')}`,
    );
}

/** The plan, without the peers if they cannot be installed. */
function withPeers(plan) {
  if (!plan.some(({ contenders }) => contenders.some(({ name }) => PEERS.includes(name)))) return plan;
  const problem = installPeers(report);
  if (problem === undefined) return plan;
  report(`The peers cannot be installed and are left out: ${problem}`);
  return plan
    .map((kase) => ({ ...kase, contenders: kase.contenders.filter(({ name }) => !PEERS.includes(name)) }))
    .filter(({ contenders }) => contenders.length > 0);
}

async function warnOfLoad(noise) {
  const load = watchLoad();
  await pause(LOOK_MS);
  const other = load();
  if (isNoisy(other, noise))
    report(`Other processes use ${other.toFixed(1)} cores: figures will be rough, and runs are repeated.`);
}

async function measureAll(plan, options, old) {
  const { continue: goesOn, dist, against, prof, noise, quick, minutes, results: file } = options;
  const expected = expectedMs(plan);
  const mostRetakeMs = quick ? 0 : Math.max(MIN_RETAKES_MS, RETAKES_SHARE * expected);
  report(
    `Takes about ${duration(expected)}, and up to ${duration(mostRetakeMs)} more if other processes disturb it.`,
  );
  const end = performance.now() + minutes * 60_000;
  const runs = keptRuns(goesOn, JSON.stringify({ quick, dist, against }), file && `${file}.runs`);
  const isWhole = await runPlan(plan, {
    runs,
    mostRetakeMs,
    isOver: () => performance.now() > end,
    tell: makeProgress(plan, report),
    take: (kase, name) =>
      take({
        ...{ scenario: kase.scenario.name, name, params: kase.params, limitMs: kase.limitMs },
        ...{ dist: resolve(name === 'before' ? against : (dist ?? DIST)), profile: prof, noise },
      }),
  });
  if (!isWhole)
    throw new Error(`${minutes} minutes are over. Go on with --continue, or give more --minutes.`);
  const taken = new Date().toISOString().slice(0, 10);
  return rounded(
    makeResults(plan, runs, { machine: describeMachine(), versions: installedVersions(), taken }, old),
  );
}

/** A loss counts only if two measurements show it. */
async function check(results, plan, options, committed) {
  const rows = compare(results, committed);
  const isLost = ({ what }) => rows.some((row) => row.isLost && row.what === what);
  let lost = rows.filter((row) => row.isLost);
  if (lost.length > 0) {
    report(`${lost.length} ratios are lost; measuring them once more.`);
    const isMeant = ({ scenario, name }) => lost.some(({ where }) => where === `${scenario.name}/${name}`);
    const again = compare(await measureAll(plan.filter(isMeant), { ...options, continue: false }), committed);
    lost = again.filter((row) => row.isLost && isLost(row));
  }
  for (const { what, before, now } of rows) console.log(`${what}: ${times(now)}, committed ${times(before)}`);
  for (const { what, before, now } of lost)
    report(
      `Lost: ${what}: ${times(now)}, committed ${times(before)} (${Math.round((now / before - 1) * 100)} % worse)`,
    );
  if (lost.length > 0) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 2;
}
