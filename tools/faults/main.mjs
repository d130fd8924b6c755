/** The command that runs the cases of a fault kit against the built package; see `HELP`. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CaseFileError, readCaseFile } from './case-file.mjs';
import { summary, table } from './report.mjs';
import { runAll } from './run-all.mjs';

const HELP = `Usage: npm run test:faults -- [--cases FILE] [--only ID]... [--jobs N] [--json]

Runs the cases of a fault kit against the built package and prints a table of the differences.

  --cases FILE  a file of cases, or a folder with a cases.json (default: the project's own kit)
  --only ID     only this case; repeatable, or several ids separated by commas
  --jobs N      number of cases that run at the same time (default 4)
  --json        print the verdicts as JSON instead of the table
  --help        print this text

Exits with 0 if every case passed, with 1 if one failed, with 2 if there is nothing to run.`;

const OWN_KIT = fileURLToPath(new URL('kit/cases.json', import.meta.url));
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** The arguments are invalid. */
class UsageError extends Error {}

async function main(signal) {
  const { values } = parseArgs({
    options: {
      cases: { type: 'string', default: OWN_KIT },
      only: { type: 'string', multiple: true, default: [] },
      jobs: { type: 'string', default: '4' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const jobs = Number(values.jobs);
  if (!Number.isInteger(jobs) || jobs < 1) throw new UsageError(`--jobs should be 1 or more: ${values.jobs}`);
  const { cases, folder } = readCaseFile(resolvePath(values.cases));
  const chosen = choose(cases, values);
  const startedAt = Date.now();
  const verdicts = await runAll(chosen, folder, { jobs, signal });
  const ms = Date.now() - startedAt;
  console.log(
    values.json
      ? JSON.stringify({ ms, verdicts }, null, 2)
      : `${table(verdicts)}\n\n${summary(verdicts, ms)}`,
  );
  return verdicts.every(({ passed }) => passed) ? 0 : 1;
}

/** npm runs a script in the folder of the package, whatever the working folder is. */
function resolvePath(path) {
  const called = resolve(process.env.INIT_CWD ?? '.', path);
  return existsSync(path) || !existsSync(called) ? path : called;
}

function choose(cases, { only, cases: file }) {
  const wanted = only.flatMap((ids) => (cases.some(({ id }) => id === ids) ? [ids] : ids.split(',')));
  const unknown = wanted.filter((id) => !cases.some((kase) => kase.id === id));
  if (unknown.length > 0) throw new UsageError(`${file}: has no case ${unknown.join(', ')}`);
  if (cases.length === 0) throw new UsageError(`${file}: has no cases`);
  return cases.filter(({ id }) => wanted.length === 0 || wanted.includes(id));
}

const ending = new AbortController();
for (const [name, code] of Object.entries(EXIT_CODES)) {
  process.once(name, () => {
    ending.abort();
    console.error(`${name}: ending the running cases`);
    process.exitCode = code;
  });
}

try {
  const code = await main(ending.signal);
  process.exitCode ??= code;
} catch (error) {
  const isUsage =
    error instanceof CaseFileError || error instanceof UsageError || error.code?.startsWith('ERR_PARSE_ARGS');
  console.error(isUsage ? `${error.message}\n\n${HELP}` : error);
  process.exitCode ??= 2;
}
