import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { Socket } from 'node:net';
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

/** A guard whose processes the test can kill, or close the pipe of, like a host that dies. */
function seenGuard(): { guard: Guard; processes: GuardProcess[] } {
  const processes: GuardProcess[] = [];
  const guard = new Guard((onFailure) => {
    const child = startGuard(undefined, onFailure);
    processes.push(child!);
    return child;
  });
  return { guard, processes };
}

const onMissingGuard = (): void => expect.unreachable('there is a guard');

/** Whether the script already ignores SIGTERM. */
function isDeafToSigterm(pid: number): boolean {
  const [, ignored = '0'] = /^SigIgn:\s*(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (BigInt(`0x${ignored}`) & SIGTERM_BIT) !== 0n;
}

describe('the guard of a host', () => {
  it('is one process for all servers, and ends when the last of them has been closed', async () => {
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

  it('ends when the last server has ended by itself', async () => {
    const server = await started(script('process.exit(3)'));
    await server.untilClosed();
    await expect.poll(ownGuards).toEqual([]);
  });

  it('does not stay for a server that could not be started', async () => {
    const { transport } = session({ command: 'lantern-that-does-not-exist' });
    await expect(transport.start()).rejects.toMatchObject({ failure: { code: 'command-not-found' } });
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

  it('runs although its pipe has no `unref`, as in Bun', async () => {
    const { unref } = Socket.prototype;
    Reflect.deleteProperty(Socket.prototype, 'unref');
    const child = startGuard(undefined, onMissingGuard)!;
    Socket.prototype.unref = unref;
    expect(isLiving(child.pid!)).toBe(true);
    child.stdin.destroy();
    await expectGone([child.pid!]);
  });

  it('leads a separate session and gets no variable of the host except PATH', async () => {
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

  it('finds its servers by a mark that every server gets, whatever its environment contains', async () => {
    const answerMark = `each(({ id }) => send({ id, result: { mark: process.env.TROUPE_OWNER } }))`;
    for (const env of [{}, { TROUPE_OWNER: 'another owner' }]) {
      const server = await started(script(answerMark), { env });
      expect(await server.ask(1)).toMatchObject({ result: { mark: ownMark() } });
    }
  });

  it('finds no daemon of a server that keeps its daemons, also below another host', async () => {
    const answerMarks = `each(({ id }) => send({ id, result: { names: Object.keys(process.env).filter((name) => name.startsWith('TROUPE_')) } }))`;
    const env = { TROUPE_OWNER: 'another owner', TROUPE_SESSION: '1' };
    const server = await started(script(answerMarks), { env, keepDaemons: true });
    expect(await server.ask(1)).toMatchObject({ result: { names: [] } });
  });

  it('has a pipe that no server inherits', async () => {
    const before = openFilesOf(process.pid);
    const servers = [await started(faulty('plain')), await started(faulty('plain'))];
    const ours = openFilesOf(process.pid).filter((file) => !before.includes(file));
    expect(ours).toHaveLength(1 + 2 * 3);
    for (const { transport } of servers) {
      expect(openFilesOf(transport.pid!).filter((file) => ours.includes(file))).toEqual([]);
    }
  });
});

/** Pipes and sockets, by their inode numbers. */
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

describe('when its host is gone, a guard', () => {
  it('ends every group that it covers, even if it was sent a signal before', async () => {
    const { guard, processes } = seenGuard();
    const place = guard.enter(onMissingGuard);
    const deaf = await plant(DEAF_PAIR, 1);
    place.cover(deaf.pid);
    const { pid, stdin } = processes[0]!;
    await expect.poll(() => isDeafToSigterm(pid!)).toBe(true);
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const) process.kill(pid!, signal);
    stdin.end();
    await expectGone([deaf.pid, ...deaf.printed, pid!], 5_000);
    await place.leave();
  });

  it('ends the groups that were covered by a guard which was killed', async () => {
    const { guard, processes } = seenGuard();
    const early = await plant('exec sleep 60');
    const late = await plant('exec sleep 60');
    const over = await plant('exec sleep 60');
    const places = [early, over].map(({ pid }) => {
      const place = guard.enter(onMissingGuard);
      place.cover(pid);
      return place;
    });
    const killed = processes[0]!.pid!;
    process.kill(killed, 'SIGKILL');
    await expect.poll(() => processes[0]!.signalCode).toBe('SIGKILL');
    await places[1]!.leave();
    const last = guard.enter(onMissingGuard);
    last.cover(late.pid);
    processes[1]!.stdin.end();
    await expectGone([early.pid, late.pid], 5_000);
    expect(isLiving(over.pid)).toBe(true);
    expect(processes).toHaveLength(2);
    await Promise.all([...places, last].map((place) => place.leave()));
  });

  it('does not end a group that has left', async () => {
    const { guard, processes } = seenGuard();
    const [left, other] = [await plant('exec sleep 60'), await plant('exec sleep 60')];
    const places = [guard.enter(onMissingGuard), guard.enter(onMissingGuard)];
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

  it('runs its servers anyway, and gets one notice that they have no guard', async () => {
    process.env['PATH'] = '/nowhere';
    const first = await started(faulty('plain'));
    await first.until('the missing guard is reported', ({ notices }) => notices.length > 0);
    const second = await started(faulty('plain'));
    expect(await second.ask(1, 'ping')).toMatchObject({ id: 1 });
    await first.transport.close();
    await second.transport.close();
    expect([...first.notices, ...second.notices]).toEqual([
      {
        kind: 'no-guard',
        message: expect.stringContaining('(ENOENT)'),
      },
    ]);
  });

  it('gets one notice even if the start fails at once, and the guard can still be used', async () => {
    const notices: unknown[] = [];
    const guard = new Guard((onFailure) => {
      onFailure(Object.assign(new Error('no memory'), { code: 'ENOMEM' }));
      return undefined;
    });
    const places = [
      guard.enter((notice) => notices.push(notice)),
      guard.enter((notice) => notices.push(notice)),
    ];
    for (const place of places) {
      place.cover(2 ** 22 + 1);
      await place.leave();
    }
    expect(notices).toMatchObject([{ kind: 'no-guard', message: expect.stringContaining('(ENOMEM)') }]);
  });
});
