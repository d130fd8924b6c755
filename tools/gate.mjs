/**
 * The one gate: everything that has to hold before a change lands.
 *
 * After the build the lanes go on beside each other, since the tests wait more than they compute. A failed step does not
 * stop the others, so that one run tells all; a step whose product is needed later takes those that need it down with
 * it. What a step says is printed when it ends; the tests, which last longest, are heard as they go. The last line is
 * the count: tests of vitest plus every other step.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const STEP_LIMIT_MS = 20 * 60_000;
const project = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'troupe-gate-'));
const report = join(scratch, 'vitest.json');
const CHAOS = ['--expose-gc', 'tools/chaos/main.mjs', '--connections', '30', '--minutes', '2'];

/** `makes` names a product; a step that `needs` it is not run, and has failed, where it was not made. */
const build = { name: 'build', makes: 'dist', run: (log) => npm(log, 'run', 'build') };
const lanes = [
  [{ name: 'tests', needs: 'dist', isHeard: true, run: vitest, count: countTests }],
  [
    { name: 'chaos', needs: 'dist', run: (log) => node(log, ...CHAOS) },
    { name: 'docs', needs: 'dist', run: (log) => node(log, 'docs/generate/main.mjs', '--check') },
  ],
  [
    { name: 'types', run: (log) => npm(log, 'run', 'types') },
    { name: 'lint', run: (log) => npm(log, 'run', 'lint') },
    { name: 'format', run: (log) => npm(log, 'run', 'format:check') },
    { name: 'pack', needs: 'dist', makes: 'tarball', run: pack },
    { name: 'publint', needs: 'tarball', run: (log) => bin(log, 'publint', 'run', tarball(), '--strict') },
    { name: 'attw', needs: 'tarball', run: (log) => bin(log, 'attw', tarball(), '--profile', 'esm-only') },
    { name: 'smoke', needs: 'tarball', run: (log) => node(log, 'tools/package/smoke.mjs', tarball()) },
  ],
];

/** Whether it ended well. Where a log is given, what it says goes there. */
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

/** Which tests failed, and the first line of why: the end of an output is what is left of a long one. */
function tellFailedTests() {
  if (!existsSync(report)) return;
  for (const { name: file, message, assertionResults } of JSON.parse(readFileSync(report, 'utf8'))
    .testResults) {
    const failed = assertionResults.filter(({ status }) => status !== 'passed');
    for (const { fullName, failureMessages } of failed) tellFailure(file, fullName, failureMessages?.[0]);
    if (failed.length === 0 && message) tellFailure(file, 'outside of its tests', message);
  }
}

function tellFailure(file, test, message = '') {
  console.log(`FAILED  ${relative(project, file)} > ${test}: ${message.split('\n', 1)[0]}`);
}

/** A skipped test counts as failed: it proves nothing. So does a run without tests, or one that failed outside of them. */
function countTests(hasPassed) {
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(
    readFileSync(report, 'utf8'),
  );
  const failed = numFailedTests + numPendingTests + numTodoTests;
  const isSound = hasPassed && numPassedTests > 0;
  return { passed: numPassedTests, failed: isSound ? failed : Math.max(failed, 1) };
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

async function take({ name, needs, makes, isHeard = false, run, count = countStep }) {
  const startedAt = performance.now();
  const isPossible = needs === undefined || made.has(needs);
  const hasPassed = isPossible && (await (isHeard ? run('inherit') : told(name, run)));
  if (hasPassed && makes !== undefined) made.add(makes);

  const counted = isPossible ? count(hasPassed) : countStep(false);
  total.passed += counted.passed;
  total.failed += counted.failed;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const why = isPossible ? `${seconds} s` : `not run: there is no ${needs}`;
  const result = `${counted.failed === 0 ? 'passed' : 'FAILED'}  ${name} (${why})`;
  results.push(result);
  console.log(`=== ${result}`);
}

/** Printed as one piece once it has ended. */
async function told(name, run) {
  const path = join(scratch, `${name}.log`);
  const log = openSync(path, 'w');
  const hasPassed = await run(log);
  closeSync(log);
  console.log(`\n=== ${name}\n${readFileSync(path, 'utf8')}`);
  return hasPassed;
}

await take(build);
await Promise.all(
  lanes.map(async (lane) => {
    for (const step of lane) await take(step);
  }),
);

console.log(`\n${results.join('\n')}\n`);
tellFailedTests();
rmSync(scratch, { recursive: true, force: true });
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
