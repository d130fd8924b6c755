/**
 * Runs the cases of a fault kit against the built package, prints a table, and exits with 1 where one failed, with 2
 * where there is nothing to run. `main.mjs [--cases FILE] [--only ID]... [--jobs N]`
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CaseFileError, readCaseFile } from './case-file.mjs';
import { summary, table } from './report.mjs';
import { runAll } from './run-all.mjs';

const OWN_KIT = fileURLToPath(new URL('kit/cases.json', import.meta.url));

async function main() {
  const { values } = parseArgs({
    options: {
      cases: { type: 'string', default: OWN_KIT },
      only: { type: 'string', multiple: true, default: [] },
      jobs: { type: 'string', default: '4' },
    },
  });
  const { cases, folder } = readCaseFile(values.cases);
  const unknown = values.only.filter((id) => !cases.some((kase) => kase.id === id));
  if (unknown.length > 0) throw new CaseFileError(`${values.cases}: has no case ${unknown.join(', ')}`);
  const chosen = cases.filter(({ id }) => values.only.length === 0 || values.only.includes(id));
  const verdicts = await runAll(chosen, folder, Number(values.jobs));
  console.log(`${table(verdicts)}\n\n${summary(verdicts)}`);
  return verdicts.every(({ passed }) => passed) ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  const isUsage = error instanceof CaseFileError || error.code?.startsWith('ERR_PARSE_ARGS');
  console.error(isUsage ? error.message : error);
  process.exitCode = 2;
}
