import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isOfDeadHost, ownMark } from '../../../../src/transports/stdio/owner-mark.js';
import { statOf } from '../../../../src/transports/stdio/process-table.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { usePlants } from '../../../support/guarded-processes.js';

useLeakCheck();
const plant = usePlants();
afterEach(() => vi.restoreAllMocks());

const [NAMESPACE, , , TOKEN] = ownMark()!.split('-');
const markOf = (pid: number, start = statOf(pid)!.start): string => `${NAMESPACE}-${pid}-${start}-${TOKEN}`;

/** A process that has ended: its id and its start time. */
async function deadProcess(): Promise<{ pid: number; start: string }> {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  const pid = child.pid!;
  const { start } = statOf(pid)!;
  child.kill('SIGKILL');
  await once(child, 'exit');
  return { pid, start };
}

describe('the owner mark of a host', () => {
  it('is the same for all its servers, and identifies the host', () => {
    expect(ownMark()).toBe(ownMark());
    expect(ownMark()).toMatch(new RegExp(`^\\d+-${process.pid}-\\d+-[0-9a-f]{32}$`));
  });

  it('never says that a live host is dead', async () => {
    const { pid } = await plant('exec sleep 60');
    expect([ownMark()!, markOf(pid)].map(isOfDeadHost)).toEqual([false, false]);
  });

  it('says that a host is dead if its id is unused, or is used by a process with another start time', async () => {
    const { pid, start } = await deadProcess();
    expect(isOfDeadHost(markOf(pid, start))).toBe(true);
    expect(isOfDeadHost(markOf(process.pid, '1'))).toBe(true);
  });

  it('says that a host is dead if it has ended but was not reaped', async () => {
    const { printed } = await plant(
      'sh -c \'until [ "$(ps -o comm= -p $PPID)" = sleep ]; do sleep 0.02; done\' & echo $!; exec sleep 60',
      1,
    );
    const [pid = 0] = printed;
    await expect.poll(() => statOf(pid)?.isLiving).toBe(false);
    expect(isOfDeadHost(markOf(pid))).toBe(true);
  });

  it('says nothing about a host that only the kernel knows, for example if /proc hides processes of other users', async () => {
    const { pid, start } = await deadProcess();
    vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
    });
    expect(isOfDeadHost(markOf(pid, start))).toBe(false);
  });

  it('says nothing about ids of another namespace, or if it is invalid', async () => {
    const { pid, start } = await deadProcess();
    const mark = markOf(pid, start);
    const others = [`1${mark}`, `${mark}0`, mark.slice(0, -1), '', 'yes', '1-2-3-4', `${NAMESPACE}-0-0-x`];
    expect(others.filter(isOfDeadHost)).toEqual([]);
  });
});
