/** The chaos run against the built package: see `main.mjs --help`. */
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArguments, USAGE, UsageError } from './arguments.mjs';
import { table, verdict } from './report.mjs';
import { run } from './run.mjs';

const INTERRUPTED = 130;

/** The first signal ends the run in an orderly way, the second immediately. */
function untilInterrupted() {
  const controller = new AbortController();
  const interrupt = () => {
    if (controller.signal.aborted) process.exit(INTERRUPTED);
    process.stderr.write('interrupted: closing everything; interrupt again to exit immediately\n');
    controller.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  return controller.signal;
}

async function main() {
  const { help, json, log, ...settings } = parseArguments(process.argv.slice(2), Date.now() % 2 ** 32);
  if (help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { connections, durationMs, seed } = settings;
  const logFile = log ?? join(tmpdir(), `troupe-chaos-${seed}-${process.pid}.jsonl`);
  const report = (text) => process.stderr.write(`${text}\n`);
  const outcome = await run({ ...settings, logFile, report, signal: untilInterrupted() });
  const { passed, interrupted, figures, faults } = outcome;
  if (log === undefined && (passed || interrupted)) rmSync(logFile, { force: true });
  const minutes = durationMs / 60_000;
  const again = `npm run chaos -- --connections ${connections} --minutes ${minutes} --seed ${seed}`;
  if (json) {
    const result = { passed, interrupted, seed, connections, minutes, figures, faults };
    console.log(JSON.stringify(passed ? result : { ...result, log: logFile }, undefined, 2));
  } else {
    console.log(`${table({ run: { seed, connections, minutes }, ...figures })}\n`);
  }
  const text = verdict(outcome, { again, logFile });
  if (json) report(text);
  else console.log(text);
  if (interrupted) return INTERRUPTED;
  return passed ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  const isUsage = error instanceof UsageError;
  process.stderr.write(isUsage ? `${error.message}\n\n${USAGE}` : `${error.stack}\n`);
  process.exitCode = isUsage ? 2 : 1;
}
