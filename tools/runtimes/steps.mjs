/** The steps of a run in one runtime: each is a command, and says how many of its checks passed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readTestReport } from '../test-report.mjs';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const LIMIT_MS = 60 * 60_000;
/** Cases for what differs between runtimes: pipes, signals, exits, HTTP streams, files that change. */
const GATE_CASES = [
  'stdio-plain',
  'http-plain',
  'stdout-split-utf8',
  'stderr-flood',
  'unknown-command',
  'grandchild',
  'host-dies',
  'dies-in-a-call',
  'result-after-drop',
  'old-sse',
  'config-reload',
].join(',');

/** A kind of step: the arguments of the runtime, and what its output says. `scratch` is a folder for a report. */
const SMOKE = {
  kind: 'smoke',
  name: 'smoke suite',
  args: () => ['tools/runtimes/smoke.mjs'],
  count: countSmoke,
};

const faults = (jobs, ...only) => ({
  kind: 'faults',
  name: 'fault kit',
  args: () => ['tools/faults/main.mjs', '--json', '--jobs', jobs, ...only],
  count: countFaults,
});

const tests = (...paths) => ({
  kind: 'tests',
  name: paths.join(' '),
  args: (scratch) => [
    ...['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'],
    ...['--reporter=json', `--outputFile.json=${reportIn(scratch)}`, ...paths],
  ],
  count: (_, hasPassed, scratch) => readTestReport(reportIn(scratch), hasPassed, PROJECT),
});

/** Only Node runs the tests: the other runtimes have no vitest. */
export function stepsOf({ name }, { isGate, paths }) {
  if (isGate) return [SMOKE, faults('6', '--only', GATE_CASES)];
  if (!isNode(name)) return paths.length > 0 ? [SMOKE] : [SMOKE, faults('2')];
  if (paths.length > 0) return [tests(...paths)];
  return [SMOKE, ...testFolders().map((folder) => tests(folder)), faults('2')];
}

/** The counts, and a line for each failure. */
export async function take({ args, count }, { name }, [binary, ...flags], scratch) {
  const { output, hasPassed } = await execute(binary, [...flags, ...args(scratch)], isNode(name));
  return count(output, hasPassed, scratch);
}

function testFolders() {
  const folders = readdirSync(join(PROJECT, 'test'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const hasTests = (folder) =>
    readdirSync(join(PROJECT, folder), { recursive: true }).some((file) => file.endsWith('.test.ts'));
  return folders.map((entry) => `test/${entry.name}`).filter(hasTests);
}

function countSmoke(output, hasPassed) {
  const passed = output.match(/^ok /gm)?.length ?? 0;
  return counted(passed, output.match(/^FAILED .*/gm) ?? [], hasPassed, output);
}

function countFaults(output, hasPassed) {
  const { verdicts } = hasPassed || output.startsWith('{') ? JSON.parse(output) : { verdicts: [] };
  const failed = verdicts.filter((verdict) => !verdict.passed);
  const failures = failed.map(({ id, differences }) => `FAILED  ${id}: ${differences.join('; ')}`);
  return counted(verdicts.length - failed.length, failures, hasPassed, output);
}

/** A program that fails without a failed check is a failure, too. */
function counted(passed, failures, hasPassed, output) {
  const isSound = hasPassed ? passed > 0 : failures.length > 0;
  const all = isSound ? failures : [...failures, `FAILED  the program\n${output}`];
  return { passed, failed: all.length, failures: all };
}

/** Programs that a test starts by the name `node` are the same runtime. */
async function execute(binary, args, isNode) {
  const path = isNode ? [dirname(binary), process.env.PATH].join(delimiter) : process.env.PATH;
  const env = { ...process.env, PATH: path };
  const child = spawn(binary, args, { cwd: PROJECT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = text(child.stdout);
  const complaints = text(child.stderr);
  try {
    const [status] = await once(child, 'close', { signal: AbortSignal.timeout(LIMIT_MS) });
    return {
      output: status === 0 ? await output : (await output) + (await complaints),
      hasPassed: status === 0,
    };
  } catch (error) {
    child.kill('SIGKILL');
    return { output: error.message, hasPassed: false };
  }
}

function reportIn(scratch) {
  return join(scratch, 'tests.json');
}

function isNode(name) {
  return name.startsWith('node');
}
