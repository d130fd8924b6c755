/**
 * The gate: all checks that must pass before a change is merged.
 *
 * After the build, the tests run beside the other steps, because they wait more than they compute. A failed step does not stop
 * the others, so that one run reports everything; but steps that need its product fail, too. The output of a step is
 * printed when it ends; that of the tests, which take longest, is printed immediately. The last line is the count: the
 * tests of vitest plus every other step.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { adviceFor, installMissing } from './optional-programs.mjs';
import { readTestReport } from './test-report.mjs';

const STEP_LIMIT_MS = 40 * 60_000;
const project = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'troupe-gate-'));
const report = join(scratch, 'vitest.json');
const CHAOS = ['--expose-gc', 'tools/chaos/main.mjs', '--connections', '30', '--minutes', '0.5'];

/** `makes` names a product. A step that `needs` a missing product does not run and counts as failed. */
const build = { name: 'build', makes: 'dist', run: (log) => npm(log, 'run', 'build') };
const lanes = [
  [{ name: 'tests', needs: 'dist', isLive: true, run: vitest, count: countTests }],
  [
    { name: 'chaos', needs: 'dist', run: (log) => node(log, ...CHAOS) },
    { name: 'docs', needs: 'dist', run: (log) => node(log, 'docs/generate/main.mjs', '--check') },
    { name: 'types', run: (log) => npm(log, 'run', 'types') },
    { name: 'lint', run: (log) => npm(log, 'run', 'lint') },
    { name: 'format', run: (log) => npm(log, 'run', 'format:check') },
    { name: 'pack', needs: 'dist', makes: 'tarball', run: pack },
    { name: 'publint', needs: 'tarball', run: (log) => bin(log, 'publint', 'run', tarball(), '--strict') },
    { name: 'attw', needs: 'tarball', run: attw },
    { name: 'runtimes', needs: 'dist', run: (log) => node(log, 'tools/runtimes/main.mjs', '--gate') },
    {
      name: 'bundlers',
      needs: 'tarball',
      run: (log) => node(log, 'tools/bundlers/main.mjs', '--quick', '--tarball', tarball()),
    },
    { name: 'smoke', needs: 'tarball', run: (log) => node(log, 'tools/package/smoke.mjs', tarball()) },
  ],
];

/** Resolves with whether the command succeeded. Its output goes to the log. */
async function execute(log, command, args) {
  const child = spawn(command, args, { cwd: project, stdio: ['ignore', log, log] });
  try {
    const [status] = await once(child, 'exit', { signal: AbortSignal.timeout(STEP_LIMIT_MS) });
    return status === 0;
  } catch (error) {
    child.kill('SIGKILL');
    console.error(`${command}: ${error.message}`);
    return false;
  }
}

function npm(log, ...args) {
  return execute(log, 'npm', ['--silent', ...args]);
}

function node(log, ...args) {
  return execute(log, process.execPath, args);
}

function bin(log, name, ...args) {
  return execute(log, join(project, 'node_modules', '.bin', name), args);
}

function vitest(log) {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  return bin(log, 'vitest', 'run', '--config', 'test/vitest.config.ts', ...reporters);
}

/** What is published once, as modules, is for a `require` of Node, which loads modules. */
function attw(log) {
  return bin(log, 'attw', tarball(), '--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm');
}

function countTests(hasPassed) {
  const { failures, leftOut, ...counts } = readTestReport(report, hasPassed, project);
  failedTests.push(...failures);
  leftOutTests.push(...leftOut);
  return counts;
}

function countStep(hasPassed) {
  return { passed: hasPassed ? 1 : 0, failed: hasPassed ? 0 : 1 };
}

function pack(log) {
  return npm(log, 'pack', '--ignore-scripts', '--pack-destination', scratch);
}

function tarball() {
  return join(
    scratch,
    readdirSync(scratch).find((name) => name.endsWith('.tgz')),
  );
}

const total = { passed: 0, failed: 0 };
const made = new Set();
const results = [];
/** Printed at the end again, because long output may be truncated. */
const failedTests = [];
/** They need something that this machine lacks. */
const leftOutTests = [];

async function take({ name, needs, makes, isLive = false, run, count = countStep }) {
  const startedAt = performance.now();
  const isPossible = needs === undefined || made.has(needs);
  const hasPassed = isPossible && (await (isLive ? run('inherit') : withLog(name, run)));
  if (hasPassed && makes !== undefined) made.add(makes);

  const counted = isPossible ? count(hasPassed) : countStep(false);
  total.passed += counted.passed;
  total.failed += counted.failed;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const why = isPossible ? `${seconds} s` : `not run: ${needs} is missing`;
  const result = `${counted.failed === 0 ? 'passed' : 'FAILED'}  ${name} (${why})`;
  results.push(result);
  console.log(`=== ${result}`);
}

/** Runs a step and prints its output when it has ended. */
async function withLog(name, run) {
  const path = join(scratch, `${name}.log`);
  const log = openSync(path, 'w');
  const hasPassed = await run(log);
  closeSync(log);
  console.log(`\n=== ${name}\n${readFileSync(path, 'utf8')}`);
  return hasPassed;
}

installMissing();
await take(build);
await Promise.all(
  lanes.map(async (lane) => {
    for (const step of lane) await take(step);
  }),
);

console.log(`\n${results.join('\n')}\n`);
for (const line of [...leftOutTests, ...failedTests, ...adviceFor(leftOutTests)]) console.log(line);
rmSync(scratch, { recursive: true, force: true });
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
