import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ProcessGroup } from '../../../../src/transports/stdio/process-tree.js';
import { platformOf } from '../../../../src/platform/platform.js';
import {
  descendantsOf,
  livingProcesses,
  readProcesses,
  statOf,
} from '../../../../src/transports/stdio/process-table.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const children: ChildProcess[] = [];

/** A shell that leads its own group, and the number it prints first. */
async function shell(source: string): Promise<{ child: ChildProcess; printed: number }> {
  const child = spawn('sh', ['-c', source], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  // A table that was read before the shell started may be cached until now.
  await turn();
  return { child, printed: Number(String(line)) };
}

afterEach(async () => {
  vi.restoreAllMocks();
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    child.stdout?.destroy();
  }
});

/** Its child ends only once the shell has become a program that never reaps children. */
const ZOMBIE_MAKER =
  'sh -c \'until [ "$(ps -o comm= -p $PPID)" = sleep ]; do sleep 0.02; done\' & echo $!; exec sleep 60';

const lists = (pid: number): boolean | undefined => livingProcesses()?.some((process) => process.pid === pid);

describe('the table of living processes', () => {
  it('contains parent and group, and is read again in every turn', async () => {
    const before = livingProcesses();
    expect(livingProcesses()).toBe(before);
    const { child, printed } = await shell('sleep 60 & echo $!; wait');
    const helper = livingProcesses()?.find(({ pid }) => pid === printed);
    const { start } = statOf(printed)!;
    expect(helper).toEqual({ pid: printed, parent: child.pid, group: child.pid, start: Number(start) });
    process.kill(printed, 'SIGKILL');
    await once(child, 'exit');
    await turn();
    expect(lists(printed)).toBe(false);
  });

  it('does not contain a zombie, although the kernel still knows its id', async () => {
    const { printed } = await shell(ZOMBIE_MAKER);
    await expect.poll(() => lists(printed)).toBe(false);
    expect(process.kill(printed, 0)).toBe(true);
  });

  it('is the same if it is read from ps', async () => {
    const { child, printed } = await shell(ZOMBIE_MAKER);
    await expect.poll(() => lists(printed)).toBe(false);
    const fromProc = livingProcesses()?.find(({ pid }) => pid === child.pid);
    await turn();
    const fromPs = readProcesses(platformOf('darwin'));
    const { start: _, ...known } = fromProc!;
    expect(fromPs?.find(({ pid }) => pid === child.pid)).toEqual(known);
    expect(fromPs?.some(({ pid }) => pid === printed)).toBe(false);
  });

  it('is asked of ps with an option for each column, since BSD takes the rest of one as its heading', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ps-'));
    try {
      const only = `#!/bin/sh\n[ "$*" = "-A -o pid= -o ppid= -o pgid= -o stat=" ] && echo ' 7 1 7 Ss'\n`;
      writeFileSync(join(folder, 'ps'), only, { mode: 0o755 });
      vi.stubEnv('PATH', folder);
      expect(readProcesses(platformOf('freebsd'))).toEqual([{ pid: 7, parent: 1, group: 7 }]);
    } finally {
      vi.unstubAllEnvs();
      rmSync(folder, { recursive: true });
    }
  });

  it('is unknown on Windows', () => {
    expect(readProcesses(platformOf('win32'))).toBeUndefined();
  });

  it('gives descendants of any depth, in any order of the table', () => {
    const table = [
      { pid: 4, parent: 3, group: 3 },
      { pid: 3, parent: 2, group: 3 },
      { pid: 2, parent: 1, group: 1 },
      { pid: 9, parent: 8, group: 8 },
    ];
    expect(new Set(descendantsOf([1], table).map(({ pid }) => pid))).toEqual(new Set([2, 3, 4]));
  });
});

describe('the process group of a server', () => {
  it('is gone if its leader is and only zombies are left', async () => {
    const { child } = await shell('echo 0; exec sleep 60');
    const group = new ProcessGroup(child, child.pid!);
    expect(group.isAlive()).toBe(true);
    group.signal('SIGKILL');
    await once(child, 'exit');
    await turn();
    expect(group.isAlive()).toBe(false);
  });

  it('outlives its leader while a member is alive', async () => {
    const { child, printed } = await shell('sleep 60 & echo $!');
    const group = new ProcessGroup(child, child.pid!);
    if (child.exitCode === null) await once(child, 'exit');
    expect([group.leaderAlive, group.isAlive()]).toEqual([false, true]);
    group.signal('SIGKILL');
    await expect.poll(() => group.isAlive()).toBe(false);
    expect(lists(printed)).toBe(false);
  });

  it('sends no signal once it was found empty', async () => {
    const { child } = await shell('echo 0');
    if (child.exitCode === null) await once(child, 'exit');
    const group = new ProcessGroup(child, child.pid!);
    expect(group.isAlive()).toBe(false);
    const kill = vi.spyOn(process, 'kill');
    group.signal('SIGKILL');
    expect(kill).not.toHaveBeenCalled();
  });
});
