/** The command that runs the conformance suites against the built package; see `HELP`. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { resolveConfig } from 'prettier';
import { PARTS } from './expected.mjs';
import { startGateway } from './gateway-process.mjs';
import { conformancePage } from './page.mjs';
import { playPart } from './play-part.mjs';
import { openTurnstile } from './turnstile.mjs';

const HELP = `Usage: npm run test:conformance -- [--client | --server] [--only NAME]...

Runs the scenarios of the MCP conformance suites against the built package, offline. A complete run that passes writes
docs/reference/conformance.md.

  --client      only the client scenarios, played by Troupe
  --server      only the server scenarios, through \`troupe serve --bare\`
  --only NAME   only this scenario, in every part that has it; may be given more than once
  --help        this text

Exits with 0 if everything passed, with 1 if something failed, with 2 if there is nothing to run.`;

const LIMIT_MS = 10 * 60_000;
const PAGE = fileURLToPath(new URL('../../docs/reference/conformance.md', import.meta.url));
/** Number of lines that are printed from the end of the output of a client. */
const PRINTED_LINES = 25;

class UsageError extends Error {}

async function main() {
  const options = {
    client: { type: 'boolean', default: false },
    server: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    help: { type: 'boolean', default: false },
  };
  const { values } = parseArgs({ options });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const parts = choose(values);
  const startedAt = performance.now();
  const problems = await playAll(parts, values.only);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  const isComplete = parts.length === PARTS.length && values.only === undefined;
  if (problems.length === 0 && isComplete) await writePage();
  console.log(
    problems.length === 0
      ? `\nEverything passed (${seconds} s).`
      : `\n${problems.length} failed (${seconds} s):`,
  );
  for (const problem of problems) console.log(`  ${problem}`);
  return problems.length === 0 ? 0 : 1;
}

function choose({ client, server, only = [] }) {
  const legs = client === server ? ['client', 'server'] : [client ? 'client' : 'server'];
  const parts = PARTS.filter(({ leg }) => legs.includes(leg));
  const unknown = only.filter((name) => !parts.some(({ scenarios }) => name in scenarios));
  if (unknown.length > 0) throw new UsageError(`Unknown scenario: ${unknown.join(', ')}.`);
  return only.length === 0 ? parts : parts.filter(({ scenarios }) => only.some((name) => name in scenarios));
}

async function playAll(parts, only) {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const turnstile = await openTurnstile();
  const gateways = new Map();
  const problems = [];
  try {
    for (const part of parts) {
      console.log(`\n${part.title} (${part.suite.folder} ${part.suite.version})`);
      const { fixture = 'server.mjs' } = part;
      if (part.leg === 'server' && !gateways.has(fixture)) gateways.set(fixture, await startGateway(fixture));
      const played = await playPart(part, {
        only: only?.filter((name) => name in part.scenarios),
        url: part.leg === 'server' ? gateways.get(fixture).url : undefined,
        env: turnstile.env,
        onScenario: (name) => console.log(`  … ${name}`),
        signal,
      });
      print(part, played);
      problems.push(...played.problems.map((problem) => `${part.id}: ${problem}`));
    }
  } finally {
    turnstile.close();
    for (const gateway of gateways.values()) {
      const code = await gateway.close();
      if (code !== 0) problems.push(`the gateway has ended with ${code}\n${gateway.log()}`);
    }
  }
  return problems;
}

function print(part, { found, problems }) {
  const isBad = ({ name, log }) => log !== '' && problems.some((problem) => problem.startsWith(`${name}: `));
  const checks = found.reduce((sum, { passed }) => sum + passed, 0);
  console.log(`  ${found.length} scenarios, ${checks} checks passed, ${problems.length} problems`);
  for (const problem of problems) console.log(`  ✗ ${problem}`);
  for (const { name, log } of found.filter(isBad)) {
    console.log(`\n  output of the client of ${name}:\n${log.split('\n').slice(-PRINTED_LINES).join('\n')}`);
  }
}

async function writePage() {
  await mkdir(dirname(PAGE), { recursive: true });
  await writeFile(PAGE, await conformancePage(PARTS, await resolveConfig(PAGE)));
}

try {
  process.exitCode = await main();
} catch (error) {
  const isUsage = error instanceof UsageError || String(error.code).startsWith('ERR_PARSE_ARGS');
  console.error(isUsage ? `${error.message}\n\n${HELP}` : error);
  process.exitCode = isUsage ? 2 : 1;
}
