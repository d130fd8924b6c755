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

/** A process that is over: its number, and the time it had started. */
async function deadOne(): Promise<{ pid: number; start: string }> {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  const pid = child.pid!;
  const { start } = statOf(pid)!;
  child.kill('SIGKILL');
  await once(child, 'exit');
  return { pid, start };
}

describe('the mark of a host', () => {
  it('is the same for all its servers, and names the host', () => {
    expect(ownMark()).toBe(ownMark());
    expect(ownMark()).toMatch(new RegExp(`^\\d+-${process.pid}-\\d+-[0-9a-f]{32}$`));
  });

  it('proves nothing against a host that lives', async () => {
    const { pid } = await plant('exec sleep 60');
    expect([ownMark()!, markOf(pid)].map(isOfDeadHost)).toEqual([false, false]);
  });

  it('proves that a host is dead whose number nobody has, or somebody who started at another time', async () => {
    const { pid, start } = await deadOne();
    expect(isOfDeadHost(markOf(pid, start))).toBe(true);
    expect(isOfDeadHost(markOf(process.pid, '1'))).toBe(true);
  });

  it('proves it of a host that has ended and was not collected', async () => {
    const { printed } = await plant(
      'sh -c \'until [ "$(ps -o comm= -p $PPID)" = sleep ]; do sleep 0.02; done\' & echo $!; exec sleep 60',
      1,
    );
    const [pid = 0] = printed;
    await expect.poll(() => statOf(pid)?.isLiving).toBe(false);
    expect(isOfDeadHost(markOf(pid))).toBe(true);
  });

  it('proves nothing about a host whom only the kernel knows, as where /proc hides the processes of others', async () => {
    const { pid, start } = await deadOne();
    vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
    });
    expect(isOfDeadHost(markOf(pid, start))).toBe(false);
  });

  it('proves nothing where the numbers of another namespace are meant, or no host is named', async () => {
    const { pid, start } = await deadOne();
    const mark = markOf(pid, start);
    const others = [`1${mark}`, `${mark}0`, mark.slice(0, -1), '', 'yes', '1-2-3-4', `${NAMESPACE}-0-0-x`];
    expect(others.filter(isOfDeadHost)).toEqual([]);
  });
});
