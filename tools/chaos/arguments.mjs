/** The arguments of the command. */
import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm run chaos -- [options]

Kills, blocks, slows, disconnects and restarts servers of every kind at random while callers call tools and the
configuration reloads. Afterwards, every connection must be ready or have a reason, every call must have settled
exactly once, no side effect may have been executed twice, and nothing may be left behind.

  --connections N   number of servers, 3 to 1000 (default 30)
  --minutes M       duration of the chaos, more than 0, at most 1440 (default 2)
  --seed N          seed of the random plan, a whole number from 0 to 4294967295 (default: a new one for each run)
  --log FILE        write the event log to this file and keep it; by default, it is kept only after a failure
  --json            print the figures as JSON on stdout
  --help            print this text

Exit codes: 0 passed, 1 failed, 2 wrong arguments, 130 interrupted.
`;

export class UsageError extends Error {}

const OPTIONS = {
  connections: { type: 'string', default: '30' },
  minutes: { type: 'string', default: '2' },
  seed: { type: 'string' },
  log: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
};

/** Throws a `UsageError` for invalid arguments. `freshSeed` is used if no seed is given. */
export function parseArguments(args, freshSeed) {
  const { help, json, log, ...numbers } = parse(args);
  const minutes = number('minutes', numbers.minutes);
  if (!(minutes > 0 && minutes <= 1440))
    throw new UsageError('--minutes must be more than 0 and at most 1440.');
  return {
    help,
    json,
    log,
    durationMs: minutes * 60_000,
    connections: wholeNumber('connections', numbers.connections, 3, 1_000),
    seed: numbers.seed === undefined ? freshSeed : wholeNumber('seed', numbers.seed, 0, 2 ** 32 - 1),
  };
}

function parse(args) {
  try {
    return parseArgs({ args, options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError(error.message);
  }
}

function number(name, text) {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) {
    throw new UsageError(`--${name} must be a number, not '${text}'.`);
  }
  return value;
}

function wholeNumber(name, text, low, high) {
  const value = number(name, text);
  if (!Number.isInteger(value) || value < low || value > high) {
    throw new UsageError(`--${name} must be a whole number from ${low} to ${high}, not '${text}'.`);
  }
  return value;
}
