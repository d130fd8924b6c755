/** The command: parses the options, explores, prints a table. */
import process from 'node:process';
import { parseArgs } from 'node:util';
import type { AnyStateMachine } from 'xstate';
import type { TransportKind } from '../../machines/connection/connection.events.js';
import { withBrokenGuard } from './break-guard.js';
import { explore, type Exploration } from './explore.js';
import { WAYS_IN } from './world.js';

const USAGE = `Usage: node tools/explore/main.mjs [options]

Visits the states of a manager and its connections breadth first, in every order of all events, by the transition
functions of the charts. Checks the invariants in each of them, and whether a fair run leads to a settled state.

  --states N       stop after this number of distinct states (default 1000000)
  --seconds N      stop after this time (default: no limit)
  --fleet KINDS    stdio, http or both, separated by a comma (default stdio,http)
  --break GUARD    negate a guard first; GUARD=true and GUARD=false replace it
  --json           print the figures as JSON on stdout
  --help           print this text

Exit codes: 0 no problem found, 1 a problem found, 2 wrong arguments.
`;

const OPTIONS = {
  states: { type: 'string', default: '1000000' },
  seconds: { type: 'string' },
  fleet: { type: 'string', default: 'stdio,http' },
  break: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const KINDS: readonly string[] = ['stdio', 'http'] satisfies readonly TransportKind[];

export function main(args: readonly string[]): number {
  let settings: ReturnType<typeof read>;
  try {
    settings = read(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return 2;
  }
  if (settings.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { states, seconds, kinds, machines, json } = settings;
  const ways = kinds.join() === 'stdio,http' ? WAYS_IN : [];
  const beganAt = performance.now();
  const progress = (line: string): void => void process.stderr.write(`${line}\n`);
  const found = explore({
    ...machines,
    kinds,
    ways,
    states,
    limitMs: seconds * 1_000,
    now: () => performance.now(),
    progress,
  });
  const took = (performance.now() - beganAt) / 1_000;
  process.stdout.write(json ? `${JSON.stringify({ ...found, seconds: took })}\n` : table(found, took));
  return found.finding === null ? 0 : 1;
}

function read(args: readonly string[]) {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const kinds = values.fleet.split(',');
  if (kinds.length > 2 || kinds.some((kind) => !KINDS.includes(kind))) {
    throw new Error(`--fleet must be one or two of ${KINDS.join(', ')}.`);
  }
  return {
    help: values.help,
    json: values.json,
    states: positive('states', values.states),
    seconds: values.seconds === undefined ? 0 : positive('seconds', values.seconds),
    kinds: kinds as TransportKind[],
    machines: machinesOf(values.break),
  };
}

function machinesOf(broken: string | undefined): { connection?: AnyStateMachine; manager?: AnyStateMachine } {
  return broken === undefined ? {} : withBrokenGuard(broken);
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number above 0.`);
  return value;
}

function table(found: Exploration, seconds: number): string {
  const rows: readonly (readonly [string, string])[] = [
    ['distinct states', count(found.states) + (found.isWhole ? ' (all)' : '')],
    ['expanded states', count(found.expanded)],
    ['settled states', count(found.settled)],
    ['transitions', count(found.transitions)],
    ['depth', count(found.depth)],
    ['states of a connection', count(found.connectionStates)],
    ['states of the manager', count(found.managerStates)],
    ['machine steps', count(found.machineSteps)],
    ['seconds', seconds.toFixed(1)],
  ];
  const lines = rows.map(([name, value]) => `${name.padEnd(24)}${value.padStart(12)}`);
  return `${[...lines, '', ...verdictOf(found)].join('\n')}\n`;
}

function verdictOf({ finding }: Exploration): readonly string[] {
  if (finding === null) return ['No problem found.'];
  const path = finding.path.map((event, index) => `${String(index + 1).padStart(4)}. ${event}`);
  return [`FOUND: ${finding.problem}`, '', ...path, '', finding.state];
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}
