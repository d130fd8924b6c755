/** The fuzz run over the sources: see `main.mjs --help`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { loadSources } from '../load-sources.mjs';
import { bytesOf, parsersFrom } from './cases.mjs';

const USAGE = `Usage: node tools/fuzz/main.mjs [options]

Gives random bytes of every depth, size and shape to every parser of foreign bytes. A parser must neither throw nor take long.
The seeds of failures are kept in tools/fuzz/seeds.json, which the property tests repeat.

  --cases N    number of cases (default 1000000)
  --seed N     first seed (default: the time)
  --only NAME  one parser
  --help       print this text

Exit codes: 0 no problem found, 1 a problem found.
`;

/** A case that takes more processor time twice in a row is a problem, milliseconds. Other programs do not count. */
const MOST_MS = 500;
const KEPT = new URL('seeds.json', import.meta.url);

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(USAGE);
else process.exitCode = await main(Number(values.cases), Number(values.seed));

async function main(cases, first) {
  const sources = await loadSources();
  const parsers = Object.entries(await parsersFrom(sources.load)).filter(
    ([name]) => values.only === undefined || name === values.only,
  );
  const failures = [];
  const slowest = new Map();
  for (let index = 0; index < cases && failures.length < 20; index += 1) {
    const seed = (first + index) % 2 ** 32;
    const [name, parse] = parsers[index % parsers.length];
    const failure = await failureOf(parse, bytesOf(seed), (ms) => {
      if (ms > (slowest.get(name)?.ms ?? 0)) slowest.set(name, { ms: Math.round(ms), seed });
    });
    if (failure === undefined) continue;
    failures.push({ parser: name, seed });
    console.log(`${name}, seed ${seed}: ${failure}`);
  }
  await sources.close();
  if (failures.length > 0) {
    const kept = JSON.parse(readFileSync(KEPT, 'utf8'));
    writeFileSync(KEPT, `${JSON.stringify([...kept, ...failures], undefined, 2)}\n`);
  }
  for (const [name, { ms, seed }] of slowest)
    console.log(`${name.padEnd(20)} slowest ${ms} ms, seed ${seed}`);
  console.log(`${cases} cases from seed ${first}: ${failures.length} problems`);
  return failures.length > 0 ? 1 : 0;
}

async function failureOf(parse, bytes, time) {
  let fastest = Infinity;
  for (let run = 0; run < 2; run += 1) {
    const begun = process.cpuUsage();
    try {
      await parse(bytes);
    } catch (error) {
      return String(error?.stack ?? error)
        .split('\n')
        .slice(0, 3)
        .join(' ');
    }
    const { user, system } = process.cpuUsage(begun);
    fastest = Math.min(fastest, (user + system) / 1_000);
    if (fastest <= MOST_MS) break;
  }
  time(fastest);
  return fastest > MOST_MS ? `took ${Math.round(fastest)} ms` : undefined;
}
