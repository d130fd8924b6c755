/**
 * The one gate: everything that has to hold before a change lands, in order.
 *
 * A failed step does not stop the others, so that one run tells all; a step whose product is needed later takes
 * those that need it down with it. The last line is the count: tests of vitest plus every other step.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const STEP_LIMIT_MS = 20 * 60_000;
const project = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'troupe-gate-'));
const report = join(scratch, 'vitest.json');
const chaosLog = join(scratch, 'chaos.log');
let chaos;

/** `makes` names a product; a step that `needs` it is not run, and has failed, where it was not made. */
const steps = [
  { name: 'build', makes: 'dist', run: () => npm('run', 'build') },
  { name: 'chaos (begin)', needs: 'dist', makes: 'chaos', run: beginChaos, count: countNothing },
  { name: 'format', run: () => npm('run', 'format:check') },
  { name: 'lint', run: () => npm('run', 'lint') },
  { name: 'types', run: () => npm('run', 'types') },
  { name: 'docs', needs: 'dist', run: () => node('docs/generate/main.mjs', '--check') },
  { name: 'pack', needs: 'dist', makes: 'tarball', run: pack },
  { name: 'publint', needs: 'tarball', run: () => bin('publint', 'run', tarball(), '--strict') },
  { name: 'attw', needs: 'tarball', run: () => bin('attw', tarball(), '--profile', 'esm-only') },
  { name: 'smoke', needs: 'tarball', run: () => node('test/package/smoke.mjs', tarball()) },
  { name: 'chaos', needs: 'chaos', run: endChaos },
  { name: 'tests', needs: 'dist', run: vitest, count: countTests },
];

function execute(command, args) {
  const { status, signal, error } = spawnSync(command, args, {
    cwd: project,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: STEP_LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  if (error !== undefined) console.error(error.message);
  if (signal !== null) console.error(`ended by ${signal}`);
  return status === 0;
}

function npm(...args) {
  return execute('npm', ['--silent', ...args]);
}

function node(...args) {
  return execute(process.execPath, args);
}

function bin(name, ...args) {
  return execute(join(project, 'node_modules', '.bin', name), args);
}

function vitest() {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  return bin('vitest', 'run', '--config', 'test/vitest.config.ts', ...reporters);
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

/** Two minutes of it, beside the steps that need the processor less. */
function beginChaos() {
  const log = openSync(chaosLog, 'w');
  const args = ['--expose-gc', 'test/chaos/main.mjs', '--connections', '30', '--minutes', '2'];
  const child = spawn(process.execPath, args, { cwd: project, stdio: ['ignore', log, log] });
  closeSync(log);
  chaos = once(child, 'exit', { signal: AbortSignal.timeout(STEP_LIMIT_MS) });
  chaos.catch(() => child.kill('SIGKILL'));
  return child.pid !== undefined;
}

async function endChaos() {
  const [status] = await chaos.catch((error) => [error.message]);
  console.log(readFileSync(chaosLog, 'utf8'));
  return status === 0;
}

/** What only begins proves nothing when it succeeds. */
function countNothing(hasPassed) {
  return { passed: 0, failed: hasPassed ? 0 : 1 };
}

function pack() {
  return npm('pack', '--ignore-scripts', '--pack-destination', scratch);
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

for (const { name, needs, makes, run, count } of steps) {
  console.log(`\n=== ${name} ===`);
  const startedAt = performance.now();
  const isPossible = needs === undefined || made.has(needs);
  if (!isPossible) console.log(`not run: there is no ${needs}`);
  const hasPassed = isPossible && (await run());
  if (hasPassed && makes !== undefined) made.add(makes);

  const counted =
    isPossible && count ? count(hasPassed) : { passed: hasPassed ? 1 : 0, failed: hasPassed ? 0 : 1 };
  total.passed += counted.passed;
  total.failed += counted.failed;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const result = `${counted.failed === 0 ? 'passed' : 'FAILED'}  ${name} (${seconds} s)`;
  results.push(result);
  console.log(result);
}

rmSync(scratch, { recursive: true, force: true });
console.log(`\n${results.join('\n')}\n`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
