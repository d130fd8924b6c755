import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { startGuard, type GuardProcess, Guard } from '../../../../src/transports/stdio/guard.js';
import { ownMark } from '../../../../src/transports/stdio/owner-mark.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { DEAF_PAIR, expectGone, isLiving, ownGuards, usePlants } from '../../../support/guarded-processes.js';
import { endSessionsAfterEach, faulty, script, session, started } from '../../../support/recorded-session.js';

useLeakCheck();
endSessionsAfterEach();
const plant = usePlants();

const SIGTERM_BIT = 1n << 14n;

/** A guard whose processes are seen, so that one can be killed, or let go of as by a host that dies. */
function seenGuard(): { guard: Guard; processes: GuardProcess[] } {
  const processes: GuardProcess[] = [];
  const guard = new Guard((onFailure) => {
    const child = startGuard(undefined, onFailure);
    processes.push(child!);
    return child;
  });
  return { guard, processes };
}

const untold = (): void => expect.unreachable('there is a guard');

/** Whether the script has come to the line where it shuts its ears. */
function isDeafToSigterm(pid: number): boolean {
  const [, ignored = '0'] = /^SigIgn:\s*(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (BigInt(`0x${ignored}`) & SIGTERM_BIT) !== 0n;
}

describe('the guard of a host', () => {
  it('is one process for all servers, and gone when the last of them has been closed', async () => {
    const first = await started(faulty('plain'));
    const guards = ownGuards();
    expect(guards).toHaveLength(1);
    const second = await started(faulty('plain'));
    expect(ownGuards()).toEqual(guards);
    await first.transport.close();
    expect(ownGuards()).toEqual(guards);
    await second.transport.close();
    expect(ownGuards()).toEqual([]);
  });

  it('is gone when the last server has ended by itself', async () => {
    const server = await started(script('process.exit(3)'));
    await server.untilClosed();
    await expect.poll(ownGuards).toEqual([]);
  });

  it('does not stay for a server that could not be started', async () => {
    const { transport } = session({ command: 'lantern-that-does-not-exist' });
    await expect(transport.start()).rejects.toThrow('was not found');
    expect(ownGuards()).toEqual([]);
  });

  it('is started again for the next server after it was killed', async () => {
    await started(faulty('plain'));
    const [killed] = ownGuards();
    process.kill(killed!, 'SIGKILL');
    await expect.poll(ownGuards).toEqual([]);
    await started(faulty('plain'));
    await expect.poll(ownGuards).toEqual([expect.not.toBeOneOf([killed])]);
  });

  it('leads a session of its own and knows no variable of the host but PATH', async () => {
    process.env['API_KEY_OF_THE_HOST'] = 'secret';
    try {
      await started(faulty('plain'));
      const [pid] = ownGuards();
      const [, , , , session] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) | /);
      expect(Number(session)).toBe(pid);
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').toSorted()).toEqual([
        '',
        'LC_ALL=C',
        `PATH=${process.env['PATH']}`,
      ]);
      expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/');
    } finally {
      delete process.env['API_KEY_OF_THE_HOST'];
    }
  });

  it('finds its servers by a mark that every server gets, whatever else its environment holds', async () => {
    const tell = `each(({ id }) => send({ id, result: { mark: process.env.TROUPE_OWNER } }))`;
    for (const env of [{}, { TROUPE_OWNER: 'of somebody else' }]) {
      const server = await started(script(tell), { env });
      expect(await server.ask(1)).toMatchObject({ result: { mark: ownMark() } });
    }
  });

  it('holds a pipe that no server inherits', async () => {
    const before = openFilesOf(process.pid);
    const servers = [await started(faulty('plain')), await started(faulty('plain'))];
    const ours = openFilesOf(process.pid).filter((file) => !before.includes(file));
    expect(ours).toHaveLength(1 + 2 * 3);
    for (const { transport } of servers) {
      expect(openFilesOf(transport.pid!).filter((file) => ours.includes(file))).toEqual([]);
    }
  });
});

/** Pipes and sockets, by their number in the kernel. */
function openFilesOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
      return /^(?:socket|pipe):/.test(target) ? [target] : [];
    } catch {
      return [];
    }
  });
}

describe('what a guard does when its host is gone', () => {
  it('is to end every group that it covers, although a signal was sent to it before', async () => {
    const { guard, processes } = seenGuard();
    const place = guard.enter(untold);
    const deaf = await plant(DEAF_PAIR, 1);
    place.cover(deaf.pid);
    const { pid, stdin } = processes[0]!;
    await expect.poll(() => isDeafToSigterm(pid!)).toBe(true);
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const) process.kill(pid!, signal);
    stdin.end();
    await expectGone([deaf.pid, ...deaf.printed, pid!], 5_000);
    await place.leave();
  });

  it('is to end the groups too that were covered by a guard which was killed', async () => {
    const { guard, processes } = seenGuard();
    const early = await plant('exec sleep 60');
    const late = await plant('exec sleep 60');
    const over = await plant('exec sleep 60');
    const places = [early, over].map(({ pid }) => {
      const place = guard.enter(untold);
      place.cover(pid);
      return place;
    });
    const killed = processes[0]!.pid!;
    process.kill(killed, 'SIGKILL');
    await expect.poll(() => processes[0]!.signalCode).toBe('SIGKILL');
    await places[1]!.leave();
    const last = guard.enter(untold);
    last.cover(late.pid);
    processes[1]!.stdin.end();
    await expectGone([early.pid, late.pid], 5_000);
    expect(isLiving(over.pid)).toBe(true);
    expect(processes).toHaveLength(2);
    await Promise.all([...places, last].map((place) => place.leave()));
  });

  it('is nothing to a group that has left', async () => {
    const { guard, processes } = seenGuard();
    const [left, other] = [await plant('exec sleep 60'), await plant('exec sleep 60')];
    const places = [guard.enter(untold), guard.enter(untold)];
    places[0]!.cover(left.pid);
    places[1]!.cover(other.pid);
    await places[0]!.leave();
    processes[0]!.stdin.end();
    await expectGone([other.pid], 5_000);
    expect(isLiving(left.pid)).toBe(true);
    await places[1]!.leave();
  });
});

describe('a host without a shell', () => {
  const path = process.env['PATH'];
  afterEach(() => {
    process.env['PATH'] = path;
  });

  it('runs its servers all the same, and hears once that they have no guard', async () => {
    process.env['PATH'] = '/nowhere';
    const first = await started(faulty('plain'));
    await first.until('the missing guard is told', ({ notices }) => notices.length > 0);
    const second = await started(faulty('plain'));
    expect(await second.ask(1, 'ping')).toMatchObject({ id: 1 });
    await first.transport.close();
    await second.transport.close();
    expect([...first.notices, ...second.notices]).toEqual([
      {
        kind: 'no-guard',
        message:
          'Servers may outlive a host that is killed: their guard, a shell script, could not be started (ENOENT).',
      },
    ]);
  });

  it('hears it once too where the start fails at once, and whatever asks for a guard is answered', async () => {
    const told: unknown[] = [];
    const guard = new Guard((onFailure) => {
      onFailure(Object.assign(new Error('no memory'), { code: 'ENOMEM' }));
      return undefined;
    });
    const places = [guard.enter((notice) => told.push(notice)), guard.enter((notice) => told.push(notice))];
    for (const place of places) {
      place.cover(2 ** 22 + 1);
      await place.leave();
    }
    expect(told).toMatchObject([{ kind: 'no-guard', message: expect.stringContaining('(ENOMEM)') }]);
  });
});
