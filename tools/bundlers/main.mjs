/** Builds a host with each bundler and runs it: see `main.mjs --help`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { tarballIn } from '../package/install.mjs';
import { BUNDLERS, CONTAINERS, RUNNERS } from './cases.mjs';
import { tryBundler } from './try-bundler.mjs';
import { tryContainer } from './try-container.mjs';
import { tryRunner } from './try-runner.mjs';

const USAGE = `Usage: node tools/bundlers/main.mjs [options]

Installs the packed package and a bundler into an empty project, builds a host of ten lines, moves the result to a folder
without packages, and runs it: it reads configuration in JSON, TOML and YAML, calls servers over stdio and HTTP, and ends. Then
the same for programs that load the package without a bundle, such as Jest.

  --tarball FILE  the packed package (default: packs one; needs a build)
  --only TEXT     the cases whose name contains it
  --quick         the quick cases, with the bundlers of this project
  --keep          writes tools/bundlers/results.json, which docs/reference/bundlers.md is made of
  --help          print this text

Exit codes: 0 everything works, 1 something does not.
`;
const RESULTS = new URL('results.json', import.meta.url);

const { values } = parseArgs({
  options: {
    tarball: { type: 'string' },
    only: { type: 'string', default: '' },
    quick: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(USAGE);
else process.exitCode = await main(values);

async function main({ tarball, only, quick, keep }) {
  const scratch = mkdtempSync(join(tmpdir(), 'troupe-bundlers-'));
  const isWanted = ({ name, isQuick = false }) => name.includes(only) && (isQuick || !quick);
  try {
    const settings = { tarball: tarballIn(scratch, tarball), quick };
    const results = {
      node: process.versions.node,
      date: new Date().toISOString().slice(0, 10),
      bundlers: await tryAll(BUNDLERS.filter(isWanted), tryBundler, settings),
      runners: await tryAll(RUNNERS.filter(isWanted), tryRunner, settings),
      containers: await tryAll(CONTAINERS.filter(isWanted), tryContainer, settings),
    };
    if (keep) writeFileSync(RESULTS, `${JSON.stringify(merged(results, only), null, 2)}\n`);
    const all = [...results.bundlers, ...results.runners, ...results.containers];
    return all.some(({ problem }) => problem !== undefined) ? 1 : 0;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function tryAll(cases, attempt, settings) {
  const results = [];
  for (const each of cases) {
    const result = await attempt(each, settings).catch((error) => ({
      name: each.name,
      problem: explain(error),
    }));
    console.log(
      result.problem === undefined ? `ok      ${shown(result)}` : `FAILED  ${each.name}\n${result.problem}`,
    );
    results.push(result);
  }
  return results;
}

/** What a failed command printed, for people. */
function explain({ message, stdout = '', stderr = '', signal }) {
  const lines = [message, signal ? `ended by ${signal}: it did not exit by itself` : '', stdout, stderr];
  return lines.filter((text) => text !== '').join('\n');
}

function shown(result) {
  return Object.values(result).join(', ');
}

/** A run of some cases leaves the results of the others. */
function merged(results, only) {
  if (only === '') return results;
  const kept = JSON.parse(readFileSync(RESULTS, 'utf8'));
  const update = (list, newer) => list.map((each) => newer.find(({ name }) => name === each.name) ?? each);
  return {
    ...results,
    bundlers: update(kept.bundlers, results.bundlers),
    runners: update(kept.runners, results.runners),
    containers: update(kept.containers, results.containers),
  };
}
