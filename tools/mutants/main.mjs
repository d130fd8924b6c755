/** `npm run mutants`: checks whether the tests of the machines detect small mistakes in them. See `--help`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runAll } from './crew.mjs';
import { Memory } from './memory.mjs';
import { mutantsOf } from './mutate.mjs';
import { reportOf } from './report.mjs';

const USAGE = `Usage: npm run mutants -- [options]

Changes \`machines/\` in one place at a time and runs \`test/unit/machines\` and \`test/property/model\`. Fails if fewer than
99 of 100 mutants are caught. \`equivalent.json\` lists mutants that are not mistakes, with the reason; they do not count.

  --quick N        run only N mutants, spread evenly
  --only TEXT      run only the mutants whose name contains this text
  --survivors      also list every mutant that was not caught
  --without TEXT   leave out the test files whose name contains this text; repeatable
  --workers N      number of processes (default 2)
  --fresh          do not use results of earlier runs
  --help           print this text

Exit codes: 0 enough are caught, 1 too few, 2 wrong arguments.
`;

const WANTED_PERCENT = 99;
/** Files with only exports or only types. */
const WITHOUT_MISTAKES = ['machines/index.ts', 'machines/mcp.ts'];

const project = fileURLToPath(new URL('../..', import.meta.url));
const options = read();

const machines = textsIn('machines', '.ts');
const ownTests = new Map([...textsIn('test/unit/machines', '.ts'), ...textsIn('test/property/model', '.ts')]);
/** The tests and everything that they read. */
const texts = new Map([
  ...ownTests,
  ...textsIn('test/support', '.ts'),
  ...textsIn('tools/explore', '.ts'),
  ...textsIn('docs/explanation', '.md'),
]);
const tests = [...ownTests.keys()].filter(
  (file) => file.endsWith('.test.ts') && !options.without.some((text) => file.includes(text)),
);
const equivalents = JSON.parse(readFileSync(new URL('equivalent.json', import.meta.url), 'utf8'));

const all = [...machines]
  .filter(([file]) => !WITHOUT_MISTAKES.includes(file))
  .flatMap(([file, text]) => mutantsOf(file, text, chartOf(file)));
const chosen = spread(
  all.filter(({ id }) => id.includes(options.only ?? '')),
  Number(options.quick ?? Infinity),
);

const startedAt = performance.now();
const milliseconds = await healthyDurations();
const memory = new Memory(project, machines, new Map([...texts].filter(([file]) => isUsed(file))));
const results = new Map();
for (const { id } of chosen) {
  const known = options.fresh ? undefined : memory.get(id);
  if (known !== undefined) results.set(id, known);
}
const known = results.size;
const jobs = chosen.filter(({ id }) => !results.has(id));
console.log(`${all.length} mutants, ${chosen.length} chosen, ${known} known from an earlier run`);

await runAll(jobs.map(jobOf), report, Number(options.workers));

const found = chosen.map((mutant) => ({ ...mutant, ...results.get(mutant.id) }));
const { table, missing, score } = reportOf(found, equivalents);
console.log(`\n${table}\n`);
for (const { id, line } of missing) console.log(`missed, line ${line}: ${id}`);
const stale = Object.keys(equivalents).filter((id) => !all.some((mutant) => mutant.id === id));
for (const id of stale) console.log(`equivalent.json names a mutant that no longer exists: ${id}`);
const caughtEquivalents = found.filter(
  ({ id, caughtBy }) => caughtBy !== null && equivalents[id] !== undefined,
);
for (const { id, caughtBy } of caughtEquivalents)
  console.log(`equivalent.json names a mutant that ${caughtBy} catches: ${id}`);
if (options.survivors)
  for (const { id, caughtBy } of found) if (caughtBy === null) console.log(`survived: ${id}`);
const hasPassed = score >= WANTED_PERCENT && stale.length === 0 && caughtEquivalents.length === 0;
const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
console.log(`\n${hasPassed ? 'passed' : 'FAILED'}: ${score.toFixed(1)} % caught in ${seconds} s`);
process.exitCode = hasPassed ? 0 : 1;

/** Ends the process for `--help` and for wrong arguments. */
function read() {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'string' },
        only: { type: 'string' },
        without: { type: 'string', multiple: true, default: [] },
        workers: { type: 'string', default: '2' },
        survivors: { type: 'boolean', default: false },
        fresh: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    for (const name of ['quick', 'workers']) requireCount(name, values[name]);
    if (!values.help) return values;
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    console.error(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

function requireCount(name, text) {
  if (text !== undefined && !/^[1-9]\d*$/.test(text))
    throw new Error(`--${name} must be a whole number above 0.`);
}

/** The texts of a chart, which is in one file or in several files with the same first part of the name. */
function chartOf(file) {
  const chart = file.split('.')[0];
  return [...machines].filter(([name]) => name.split('.')[0] === chart).map(([, text]) => text);
}

/** Whether the tests use a file. */
function isUsed(file) {
  return !file.endsWith('.test.ts') || tests.includes(file);
}

function textsIn(folder, ending) {
  return readdirSync(join(project, folder), { recursive: true })
    .filter((name) => name.endsWith(ending))
    .toSorted()
    .map((name) => [`${folder}/${name}`, readFileSync(join(project, folder, name), 'utf8')]);
}

/** `count` entries, evenly spread over the list. */
function spread(list, count) {
  if (count >= list.length) return list;
  return Array.from({ length: count }, (_, index) => list[Math.floor((index * list.length) / count)]);
}

/** Runs the tests without a mutant, which must pass. Returns the duration of each file. */
async function healthyDurations() {
  const durations = new Map();
  const unaltered = tests.map((file) => ({ id: file, path: null, text: '', files: [file] }));
  let from = performance.now();
  await runAll(
    unaltered,
    ({ id }, { caughtBy, how }) => {
      if (caughtBy !== null) throw new Error(`${id} fails without any mutant: ${how}`);
      durations.set(id, performance.now() - from);
      from = performance.now();
    },
    1,
  );
  return durations;
}

/** The tests of the same name first, then the fast ones. */
function jobOf({ id, file, text }) {
  const name = file.replace(/^machines\//, '').replace(/(\.\w+)?\.ts$/, '');
  const rank = (test) =>
    milliseconds.get(test) + (test.startsWith(`test/unit/machines/${name}`) ? 0 : 60_000);
  return { id, path: file, text, files: tests.toSorted((a, b) => rank(a) - rank(b)) };
}

function report({ id }, result) {
  results.set(id, result);
  memory.keep(result);
  const done = results.size;
  if (result.caughtBy === null) console.log(`${done}/${chosen.length} survived: ${id}`);
  else if (done % 50 === 0) console.log(`${done}/${chosen.length}`);
}
