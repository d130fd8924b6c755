/** What the commands share that hit hosts of a fleet with faults: their arguments, their tables and their exit codes. */
import { parseArgs } from 'node:util';

/** The options of every such command, as its usage shows them. */
export const usageOfOptions = (
  faults,
) => `  --engine E     redis (default) or nats: its server must be installed
  --rounds N     rounds of each fault, 1 to 1000 (default 3)
  --faults LIST  names separated by commas (default: all): ${Object.keys(faults).join(', ')}
  --seed N       seed of the moments of the faults (default: a new one)
  --json         print the figures as JSON
  --help         print this text

Exit codes: 0 passed, 1 failed, 2 wrong arguments, 130 interrupted.
`;

const INTERRUPTED = 130;

class UsageError extends Error {}

function whole(name, text, low, high) {
  const value = Number(text);
  if (Number.isInteger(value) && text.trim() !== '' && value >= low && value <= high) return value;
  throw new UsageError(`--${name} must be a whole number from ${low} to ${high}, not '${text}'.`);
}

function read(args, known, numbers) {
  const all = {
    rounds: { low: 1, high: 1_000, standard: 3 },
    seed: { low: 0, high: 2 ** 32 - 1, standard: Date.now() % 2 ** 32 },
    ...numbers,
  };
  const texts = Object.entries(all).map(([name, { standard }]) => [
    name,
    { type: 'string', default: String(standard) },
  ]);
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: {
        engine: { type: 'string', default: 'redis' },
        faults: { type: 'string', default: Object.keys(known).join(',') },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        ...Object.fromEntries(texts),
      },
    }));
  } catch (error) {
    throw new UsageError(error.message);
  }
  const { engine } = values;
  if (engine !== 'redis' && engine !== 'nats') throw new UsageError("--engine must be 'redis' or 'nats'.");
  const faults = values.faults.split(',');
  const unknown = faults.find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) throw new UsageError(`There is no fault '${unknown}'.`);
  const read = Object.entries(all).map(([name, { low, high }]) => [
    name,
    whole(name, values[name], low, high),
  ]);
  return { ...values, faults, ...Object.fromEntries(read) };
}

/** One line of a table. */
export const row = (name, cells) =>
  [name.padEnd(20), ...cells.map((cell) => String(cell ?? '-').padStart(12))].join('');

/** The middle and the largest of some numbers; undefined without any. */
export function middleAndMost(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
}

/**
 * Runs the command. `run` gets the arguments, a function that prints a line, and one that reports what is wrong; it resolves with the
 * figures for `--json`. `numbers` are further options: name → `{ low, high, standard }`.
 */
export async function command({ usage, faults, numbers = {}, run }) {
  try {
    const given = read(process.argv.slice(2), faults, numbers);
    if (given.help) {
      process.stdout.write(usage);
      return;
    }
    const { json, engine, rounds, seed } = given;
    const say = (text) => (json ? process.stderr : process.stdout).write(`${text}\n`);
    say(`seed ${seed}: ${engine}, ${rounds} round(s) of each fault; times in ms`);
    // Hosts end with their parent, and the engine by its `exit`.
    process.once('SIGINT', () => process.exit(INTERRUPTED));
    const problems = [];
    const figures = await run(given, say, (problem) => {
      problems.push(problem);
      say(`  ${problem}`);
    });
    const passed = problems.length === 0;
    if (json)
      console.log(JSON.stringify({ passed, problems, seed, engine, rounds, ...figures }, undefined, 2));
    const again = ['engine', 'faults', 'rounds', 'seed', ...Object.keys(numbers)];
    const options = again.map((name) => `--${name} '${given[name]}'`).join(' ');
    say(passed ? 'passed' : `failed; again: ${options}`);
    process.exitCode = passed ? 0 : 1;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    process.stderr.write(isUsage ? `${error.message}\n\n${usage}` : `${error.stack}\n`);
    process.exitCode = isUsage ? 2 : 1;
  }
}
