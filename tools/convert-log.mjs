/** See `--help`. Runs the conversion from its sources. */
import { parseArgs } from 'node:util';

const HELP = `Usage: node tools/convert-log.mjs OLD NEW

Converts an event log of version 1 to version 2. NEW must not exist yet; OLD stays as it is.
The parts of a long recording are converted one by one.

Exit codes: 0 converted, 1 cannot be converted, 2 wrong arguments
`;

function argumentsOf(args) {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    if (values.help || positionals.length === 2) return { help: values.help, files: positionals };
    return { problem: `Give two files, not ${positionals.length}.` };
  } catch (error) {
    return { problem: error.message };
  }
}

async function convert([from, to]) {
  const { loadSources } = await import('./load-sources.mjs');
  const { load, close } = await loadSources();
  try {
    const { convertLog } = await load('/tools/log-conversion.ts');
    const { entries, kept } = await convertLog(from, to);
    console.log(`${to}: ${entries} entries`);
    if (kept > 0)
      console.log(
        `${kept} checks did not hold, since other charts wrote them or the log was altered; they are kept.`,
      );
    return 0;
  } catch (error) {
    console.error(`${from}: ${error.message}`);
    return 1;
  } finally {
    await close();
  }
}

const { help, files, problem } = argumentsOf(process.argv.slice(2));
if (problem !== undefined) {
  console.error(`${problem}\n\n${HELP}`);
  process.exitCode = 2;
} else if (help) process.stdout.write(HELP);
else process.exitCode = await convert(files);
