import { once } from 'node:events';
import { expect, it } from 'vitest';
import { endMarked, sweep } from '../../../../src/transports/stdio/guard.js';
import { ownMark } from '../../../../src/transports/stdio/owner-mark.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { DEAF_PAIR, expectGone, isLiving, usePlants } from '../../../support/guarded-processes.js';

useLeakCheck();
const plant = usePlants();

/** Marks that identify no host, so that the sweeps of other runs ignore them. */
const marked = (name: string): Record<string, string> => ({ TROUPE_OWNER: `${process.pid}-${name}` });
const isOurs = (mark: string): boolean => mark.startsWith(`${process.pid}-`);

it('finds each mark once, on leaders and on members of a group without a leader.', async () => {
  await plant('exec sleep 60', 0, marked('twice'));
  await plant('exec sleep 60', 0, marked('twice'));
  const { child, printed } = await plant('sleep 60 & echo $!', 1, marked('leaderless'));
  if (child.exitCode === null) await once(child, 'exit');
  await plant('exec sleep 60', 0, marked('spared'));
  const found: string[] = [];
  await sweep(
    (mark) => isOurs(mark) && !mark.endsWith('spared'),
    (mark) => found.push(mark),
  );
  expect(found.toSorted()).toEqual([`${process.pid}-leaderless`, `${process.pid}-twice`]);
  expect(printed.map(isLiving)).toEqual([true]);
});

it('skips its own marker.', async () => {
  await plant('exec sleep 60', 0, { TROUPE_OWNER: ownMark()! });
  await plant('exec sleep 60', 0, marked('other'));
  const asked: string[] = [];
  await sweep(
    (mark) => {
      asked.push(mark);
      return false;
    },
    () => expect.unreachable('nothing is orphaned'),
  );
  expect(asked).toContain(`${process.pid}-other`);
  expect(asked).not.toContain(ownMark());
});

it('continues if a process cannot be ended.', async () => {
  await plant('exec sleep 60', 0, marked('stays'));
  let tries = 0;
  await sweep(isOurs, () => {
    tries += 1;
    throw new Error('no shell');
  });
  expect(tries).toBe(1);
});

it('ends all processes with the mark, and no others.', async () => {
  const { pid, printed } = await plant(DEAF_PAIR, 1, marked('end'));
  const other = await plant('exec sleep 60', 0, marked('other'));
  endMarked(`${process.pid}-end`);
  await expectGone([pid, ...printed], 5_000);
  expect(isLiving(other.pid)).toBe(true);
});
