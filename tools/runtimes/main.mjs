/** The command that tests Troupe in every runtime that it supports; see `HELP`. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { install } from './install.mjs';
import { stepsOf, take } from './steps.mjs';

const HELP = `Usage: npm run runtimes -- [--only NAME]... [--gate] [--keep] [--folder DIR] [TEST]...

Runs the tests in other runtimes than this one: the whole suite and the fault kit in each version of Node, the smoke suite and
the fault kit in Bun and Deno. Needs a built package. The binaries are npm packages in exact versions
(tools/runtimes/runtimes.json), which are fetched once.

  TEST          only these files or folders of tests, and no fault kit
  --only NAME   only this runtime, such as node26; may be given more than once
  --gate        what the gate runs: the smoke suite and some cases of the fault kit, in the runtimes that are marked
  --keep        writes what whole runs found into tools/runtimes/results.json, which docs/reference/runtimes.md is made of
  --folder DIR  where the binaries are kept; default: node_modules/.cache/troupe-runtimes
  --help        print this

Exits with 0 if everything passed, with 1 if something failed, with 2 for a wrong command line.`;

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const RESULTS = new URL('results.json', import.meta.url);

class UsageError extends Error {}

async function main() {
  const { values, positionals: paths } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: 'string', multiple: true },
      gate: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      folder: { type: 'string', default: join(PROJECT, 'node_modules', '.cache', 'troupe-runtimes') },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(HELP);
  const all = readJson(new URL('runtimes.json', import.meta.url));
  const unknown = values.only?.find((name) => all.every((runtime) => runtime.name !== name));
  if (unknown !== undefined) throw new UsageError(`there is no runtime '${unknown}' in runtimes.json`);
  const chosen = all.filter(
    ({ name, inGate = false }) => values.only?.includes(name) ?? (!values.gate || inGate),
  );
  const isWhole = !values.gate && paths.length === 0;
  const results = [];
  for (const runtime of chosen) {
    const result = await tryRuntime(runtime, values, paths);
    results.push(result);
    if (values.keep && isWhole) keep(result, all);
  }
  console.log(`\n${results.flatMap(({ lines }) => lines).join('\n')}`);
  const failed = results.flatMap(({ failures }) => failures);
  for (const failure of failed) console.log(failure);
  if (failed.length > 0) process.exitCode = 1;
}

/** One step after the other, each with a line when it ends. */
async function tryRuntime(runtime, { gate: isGate, folder }, paths) {
  const start = [install(runtime, folder), ...(runtime.run ?? [])];
  const title = `${runtime.name} ${runtime.version}`;
  const scratch = mkdtempSync(join(tmpdir(), 'troupe-runtimes-'));
  const lines = [];
  const failures = [];
  const counts = {};
  try {
    for (const step of stepsOf(runtime, { isGate, paths })) {
      const startedAt = performance.now();
      const { passed, failed, failures: found } = await take(step, runtime, start, scratch);
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
      const outcome = failed === 0 ? 'passed' : 'FAILED';
      lines.push(`${outcome}  ${title}: ${step.name} (${passed} passed, ${failed} failed, ${seconds} s)`);
      console.log(lines.at(-1));
      for (const text of found) console.log(`  ${text}`);
      failures.push(...found.map((text) => `${title}: ${text}`));
      if (failed > 0 && found.length === 0) failures.push(`${title}: ${step.name} failed`);
      const before = counts[step.kind] ?? { passed: 0, failed: 0 };
      counts[step.kind] = { passed: before.passed + passed, failed: before.failed + failed };
      rmSync(join(scratch, 'tests.json'), { force: true });
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return { runtime, lines, failures, counts };
}

/** In the order of runtimes.json. */
function keep({ runtime: { name, version }, counts }, all) {
  const kept = existsSync(RESULTS) ? readJson(RESULTS) : [];
  const result = { name, version, date: new Date().toISOString().slice(0, 10), ...counts };
  const results = all.flatMap((each) =>
    each.name === name ? [result] : kept.filter((other) => other.name === each.name),
  );
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
}

function readJson(place) {
  return JSON.parse(readFileSync(place, 'utf8'));
}

try {
  await main();
} catch (error) {
  const isUsage = error instanceof UsageError || error.code?.startsWith('ERR_PARSE_ARGS');
  console.error(isUsage ? `${error.message}\n\n${HELP}` : error);
  process.exitCode = isUsage ? 2 : 1;
}
