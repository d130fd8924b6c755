/** The command that tests Troupe in every runtime that it supports; see `HELP`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { install } from './install.mjs';

const HELP = `Usage: npm run runtimes -- [--only NAME]... [--gate] [--folder DIR] [TEST]...

Runs the tests in other runtimes than this one: the whole suite in each version of Node, the smoke suite and the fault kit
in Bun and Deno. Needs a built package. The binaries are npm packages in exact versions (tools/runtimes/runtimes.json),
which are fetched once.

  TEST          only these files or folders of tests, and no fault kit
  --only NAME   only this runtime; may be given more than once
  --gate        what the gate runs: the smoke suite and some cases of the fault kit, in the runtimes that are marked
  --folder DIR  where the binaries are kept; default: node_modules/.cache/troupe-runtimes
  --help        print this

Exits with 0 if everything passed, with 1 if something failed, with 2 for a wrong command line.`;

const project = fileURLToPath(new URL('../..', import.meta.url));
const LIMIT_MS = 90 * 60_000;
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

class UsageError extends Error {}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: 'string', multiple: true },
      gate: { type: 'boolean', default: false },
      folder: { type: 'string', default: join(project, 'node_modules', '.cache', 'troupe-runtimes') },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(HELP);
  const all = JSON.parse(readFileSync(new URL('runtimes.json', import.meta.url), 'utf8'));
  const unknown = values.only?.find((name) => all.every((runtime) => runtime.name !== name));
  if (unknown !== undefined) throw new UsageError(`there is no runtime '${unknown}' in runtimes.json`);
  const chosen = all.filter(
    ({ name, inGate = false }) => values.only?.includes(name) ?? (!values.gate || inGate),
  );
  const results = [];
  for (const runtime of chosen) {
    const start = [install(runtime, values.folder), ...(runtime.run ?? [])];
    for (const [what, args] of stepsOf(runtime, values.gate, positionals)) {
      const startedAt = performance.now();
      const hasPassed = await execute([...start, ...args]);
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
      results.push(
        `${hasPassed ? 'passed' : 'FAILED'}  ${runtime.name} ${runtime.version}: ${what} (${seconds} s)`,
      );
      console.log(results.at(-1));
      if (!hasPassed) process.exitCode = 1;
    }
  }
  console.log(`\n${results.join('\n')}`);
}

/** The parts of a run, each with the arguments of the runtime. */
function stepsOf({ name }, isGate, tests) {
  const smoke = ['the smoke suite', ['tools/runtimes/smoke.mjs']];
  const faults = ['tools/faults/main.mjs', '--jobs'];
  if (isGate) return [smoke, ['the fault kit', [...faults, '6', '--only', GATE_CASES]]];
  const isNode = name.startsWith('node');
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
  if (tests.length > 0) return isNode ? [['the tests', [...vitest, ...tests]]] : [smoke];
  const kit = ['the fault kit', [...faults, '2']];
  return isNode ? [smoke, ['the tests', vitest], kit] : [smoke, kit];
}

async function execute([command, ...args]) {
  const child = spawn(command, args, { cwd: project, stdio: ['ignore', 'inherit', 'inherit'] });
  try {
    const [status] = await once(child, 'exit', { signal: AbortSignal.timeout(LIMIT_MS) });
    return status === 0;
  } catch (error) {
    child.kill('SIGKILL');
    console.error(`${command}: ${error.message}`);
    return false;
  }
}

try {
  await main();
} catch (error) {
  const isUsage = error instanceof UsageError || error.code?.startsWith('ERR_PARSE_ARGS');
  console.error(isUsage ? `${error.message}\n\n${HELP}` : error);
  process.exitCode = isUsage ? 2 : 1;
}
