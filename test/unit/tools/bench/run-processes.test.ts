import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { loadScript } from '../../../support/tools/bench.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

interface Row {
  readonly pid: number;
  readonly parent: number;
  readonly startedAt: number;
  readonly isZombie: boolean;
  readonly ticks: number;
}
interface RunProcesses {
  take(table: readonly Row[]): void;
  readonly ticks: number;
  readonly alive: readonly number[];
}
const { RunProcesses } = await loadScript<{
  RunProcesses: new (root: number, isMarked: (pid: number) => boolean) => RunProcesses;
}>('run-processes.mjs');
const { processTable, rowOf, hasVariable } = await loadScript<{
  processTable(): readonly Row[];
  rowOf(stat: string): Row | undefined;
  hasVariable(pid: number, name: string, value: string): boolean;
}>('process-table.mjs');

const BENCH = 1;
const CLIENT = 10;
const row = (pid: number, parent: number, ticks: number, startedAt = pid): Row => ({
  ...{ pid, parent, startedAt, ticks },
  isZombie: false,
});
/** The rounding error of a process time in ticks. */
const CUT = 1;

/** Only the client has the mark; orphaned processes are adopted by process 99. */
function run(...tables: (readonly Row[])[]): RunProcesses {
  const processes = new RunProcesses(BENCH, (pid) => pid === CLIENT);
  for (const table of tables) processes.take(table);
  return processes;
}

describe('the processes of a run', () => {
  it('are the marked one and all its descendants.', () => {
    const { alive, ticks } = run([
      row(BENCH, 0, 5),
      row(3, BENCH, 100),
      row(99, 0, 100),
      row(CLIENT, BENCH, 10),
      row(12, 11, 4),
      row(11, CLIENT, 20),
    ]);
    expect(alive.toSorted((a, b) => a - b)).toEqual([CLIENT, 11, 12]);
    expect(ticks).toBe(5 + 10 + 20 + 4 + 3 * CUT);
  });

  it('are still counted after their parent has ended and they are adopted.', () => {
    const processes = run(
      [row(BENCH, 0, 5), row(CLIENT, BENCH, 10), row(11, CLIENT, 20)],
      [row(BENCH, 0, 5 + 12), row(11, 99, 23), row(12, 11, 1)],
    );
    expect(processes.alive).toEqual([11, 12]);
    expect(processes.ticks).toBe(17 + 23 + 1 + 2 * CUT);
  });

  it('are distinguished from another process that has reused the id of an ended one.', () => {
    const processes = run(
      [row(BENCH, 0, 0), row(CLIENT, BENCH, 10), row(11, CLIENT, 20)],
      [row(BENCH, 0, 0), row(CLIENT, BENCH, 30), row(11, 99, 500, 4_711)],
    );
    expect(processes.alive).toEqual([CLIENT]);
    expect(processes.ticks).toBe(30 + CUT);
  });

  it('count once if their parent has waited for them.', () => {
    const processes = run(
      [row(BENCH, 0, 5), row(CLIENT, BENCH, 10), row(11, CLIENT, 20), row(12, 11, 30)],
      // The shell, its server and then the client have ended; each was waited for by its parent.
      [row(BENCH, 0, 5 + 10 + 20 + 30 + 3 * CUT)],
    );
    expect(processes.ticks).toBe(65 + 3 * CUT);
    expect(processes.alive).toEqual([]);
  });

  it('count with their last known time if no process of the run has waited for them.', () => {
    const before = [row(BENCH, 0, 5), row(CLIENT, BENCH, 10), row(11, CLIENT, 20), row(12, 11, 30)];
    // Killed together with their parent shell.
    expect(run(before, [row(BENCH, 0, 5), row(CLIENT, BENCH, 10 + 20 + CUT)]).ticks).toBe(
      5 + (30 + CUT) + CUT + (30 + CUT),
    );
    // First orphaned, then ended.
    const left = [row(BENCH, 0, 5 + 11), row(11, 99, 21), row(12, 11, 30)];
    expect(run(before, left, [row(BENCH, 0, 16)]).ticks).toBe(16 + (21 + CUT) + (30 + CUT));
  });

  it('are found in the process table of this machine, whatever their names are.', () => {
    const fields = Array.from({ length: 40 }, (_, index) => 100 + index).join(' ');
    expect(rowOf(`42 (a (b) c) Z 7 ${fields}`)).toEqual({
      ...{ pid: 42, parent: 7, isZombie: true, startedAt: 117 },
      ticks: 109 + 110 + 111 + 112,
    });
    expect(rowOf('')).toBeUndefined();
  });

  it('are a client that has ended, and its server that keeps running in another session.', async () => {
    const server = `
        const end = Date.now() + 300;
        while (Date.now() < end);
        process.stdout.write(String(process.pid));
        setInterval(() => {}, 1_000)`;
    const client = `
        const { spawn } = require('node:child_process');
        const args = ['-e', ${JSON.stringify(server)}];
        spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'inherit', 'ignore'], env: {} });
        setTimeout(() => process.exit(), 1_000)`;
    const mark = '/home-of-one-run';
    const processes = new RunProcesses(process.pid, (pid) => hasVariable(pid, 'HOME', mark));
    processes.take(processTable());
    const begun = processes.ticks;
    const child = spawn(process.execPath, ['-e', client], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { HOME: mark },
    });
    const [output] = (await once(child.stdout, 'data')) as [Buffer];
    const pid = Number(output);
    try {
      processes.take(processTable());
      await once(child, 'exit');
      processes.take(processTable());
      expect(processes.alive).toEqual([pid]);
    } finally {
      process.kill(pid, 'SIGKILL');
    }
    await once(child, 'close');
    while (processes.alive.length > 0) processes.take(processTable());
    // Both have started Node, and one of them was busy until its end as far as the machine allowed.
    expect(processes.ticks - begun).toBeGreaterThan(5);
  }, 20_000);
});
