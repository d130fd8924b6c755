/** Whether a server that runs once in the fleet ever runs twice, under faults: see `only-one.mjs --help`. */
import { parseArgs } from 'node:util';
import { FAULTS } from './only-one/faults.mjs';
import { judge } from './only-one/judge.mjs';
import { openScene } from './only-one/scene.mjs';
import { SeededRandom } from './seeded-random.mjs';

const USAGE = `Usage: node tools/chaos/only-one.mjs [options]        (after npm run build)

Two hosts of a fleet, each a process, share one server that may run once. It writes its token and the time into a file every
5 ms. Faults hit the host that has it, the engine, and the network between them. At no time may two servers run, and no token
may be smaller than one before it.

  --engine E     redis (default) or nats: its server must be installed
  --rounds N     rounds of each fault, 1 to 1000 (default 3)
  --lease MS     time to live of the lease, 2000 to 60000 (default 2000)
  --faults LIST  names separated by commas (default: all): ${Object.keys(FAULTS).join(', ')}
  --seed N       seed of the moments of the faults (default: a new one)
  --json         print the figures as JSON
  --help         print this text

Exit codes: 0 passed, 1 failed, 2 wrong arguments.
`;

class UsageError extends Error {}

function whole(name, text, low, high) {
  const value = Number(text);
  if (Number.isInteger(value) && text.trim() !== '' && value >= low && value <= high) return value;
  throw new UsageError(`--${name} must be a whole number from ${low} to ${high}, not '${text}'.`);
}

function read(args) {
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: {
        engine: { type: 'string', default: 'redis' },
        rounds: { type: 'string', default: '3' },
        lease: { type: 'string', default: '2000' },
        faults: { type: 'string', default: Object.keys(FAULTS).join(',') },
        seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }));
  } catch (error) {
    throw new UsageError(error.message);
  }
  const { engine, json, help } = values;
  if (engine !== 'redis' && engine !== 'nats') throw new UsageError("--engine must be 'redis' or 'nats'.");
  const faults = values.faults.split(',');
  const unknown = faults.find((name) => !Object.hasOwn(FAULTS, name));
  if (unknown !== undefined) throw new UsageError(`There is no fault '${unknown}'.`);
  return {
    engine,
    faults,
    json,
    help,
    rounds: whole('rounds', values.rounds, 1, 1_000),
    leaseMs: whole('lease', values.lease, 2_000, 60_000),
    seed: whole('seed', values.seed, 0, 2 ** 32 - 1),
  };
}

function row(figures) {
  const { fault, rounds, overlaps, togetherMs, shrunk, handedOn, gapMedianMs, gapMostMs } = figures;
  const cells = [rounds, overlaps, togetherMs, shrunk, handedOn, gapMedianMs ?? '-', gapMostMs ?? '-'];
  return [fault.padEnd(18), ...cells.map((cell) => String(cell).padStart(11))].join('');
}

const HEAD = [
  'fault'.padEnd(18),
  ...['rounds', 'overlaps', 'together', 'shrunk', 'handed on', 'gap median', 'gap most'].map((title) =>
    title.padStart(11),
  ),
].join('');

async function main() {
  const { help, json, engine, faults, rounds, leaseMs, seed } = read(process.argv.slice(2));
  if (help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const say = (text) => (json ? process.stderr : process.stdout).write(`${text}\n`);
  say(`seed ${seed}: ${engine}, lease ${leaseMs} ms, ${rounds} round(s) of each fault; times in ms`);
  say(HEAD);
  const random = new SeededRandom(seed);
  const scene = await openScene(engine, leaseMs);
  const results = [];
  try {
    for (const fault of faults) {
      const figures = [];
      for (let round = 0; round < rounds; round += 1) {
        await scene.settle(random);
        const since = scene.now();
        await FAULTS[fault](scene);
        await scene.settle(random);
        figures.push(judge(scene.runs(), since));
      }
      const result = { fault, rounds, ...sum(figures) };
      results.push(result);
      say(row(result));
    }
  } finally {
    await scene.close();
  }
  const passed = results.every(({ overlaps, shrunk }) => overlaps === 0 && shrunk === 0);
  if (json) console.log(JSON.stringify({ passed, seed, engine, leaseMs, results }, undefined, 2));
  say(
    passed
      ? 'passed'
      : `failed; again: --engine ${engine} --rounds ${rounds} --lease ${leaseMs} --seed ${seed}`,
  );
  return passed ? 0 : 1;
}

function sum(figures) {
  const gaps = figures.flatMap(({ gapsMs }) => gapsMs).toSorted((a, b) => a - b);
  const total = (name) => figures.reduce((all, each) => all + each[name], 0);
  return {
    overlaps: total('overlaps'),
    togetherMs: Math.max(...figures.map(({ togetherMs }) => togetherMs)),
    shrunk: total('shrunk'),
    handedOn: gaps.length,
    gapMedianMs: gaps[Math.floor(gaps.length / 2)],
    gapMostMs: gaps.at(-1),
  };
}

try {
  process.exitCode = await main();
} catch (error) {
  const isUsage = error instanceof UsageError;
  process.stderr.write(isUsage ? `${error.message}\n\n${USAGE}` : `${error.stack}\n`);
  process.exitCode = isUsage ? 2 : 1;
}
