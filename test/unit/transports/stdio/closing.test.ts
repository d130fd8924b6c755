import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { livingProcesses } from '../../../../src/transports/stdio/process-table.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { HandClock } from '../../../support/hand-clock.js';
import {
  endSessionsAfterEach,
  faulty,
  reportedPid,
  script,
  started,
  underShell,
  type RecordedSession,
} from '../../../support/recorded-session.js';

useLeakCheck();
endSessionsAfterEach();

const DEAF = `for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => process.stderr.write(name + '\\n'));
  stay(); send({ method: 'up', params: { pid: process.pid } });`;

const PATIENT = { stop: { stdinEndMs: 60_000, termMs: 60_000 } };

async function up(server: RecordedSession): Promise<number> {
  await server.until('the server is up', ({ messages }) => messages.length > 0);
  return reportedPid(server);
}

function running(pid: number): boolean {
  return livingProcesses()?.some((process) => process.pid === pid) ?? false;
}

async function millisecondsOf(work: Promise<void>): Promise<number> {
  const began = performance.now();
  await work;
  return performance.now() - began;
}

describe('closing a stdio session', () => {
  it('waits for a server that ends with its input, and not longer', async () => {
    const server = await started(faulty('plain'), PATIENT);
    await server.ask(1, 'ping');
    expect(await millisecondsOf(server.transport.close())).toBeLessThan(10_000);
    expect(server.closes).toBe(1);
  });

  it('delivers the answer that a server gives after the end of its input', async () => {
    const server = await started(
      script(`process.stdin.resume().on('end', () => { send({ id: 1, result: {} }); })`),
      PATIENT,
    );
    await server.transport.close();
    expect(server.answerTo(1)).toBeDefined();
  });

  it('escalates to SIGKILL for a server that ignores the end of input and SIGTERM', async () => {
    const server = await started(script(DEAF));
    const pid = await up(server);
    expect(await millisecondsOf(server.transport.close())).toBeLessThan(10_000);
    expect(server.stderr).toEqual(['SIGTERM']);
    expect(running(pid)).toBe(false);
  });

  it('ends an unresponsive server under a shell that has ended before it', async () => {
    const server = await started(underShell(DEAF));
    const pid = await up(server);
    expect(pid).not.toBe(server.transport.pid);
    await server.transport.close();
    expect(running(pid)).toBe(false);
  });

  it('ends a helper that keeps the pipes open, and a helper of the helper', async () => {
    const server = await started(
      script(`const deaf = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);';
        const inner = 'require("node:child_process").spawn("sleep", ["60"], { stdio: "inherit" });' + deaf;
        const helper = require('node:child_process').spawn(process.execPath, ['-e', inner], { stdio: 'inherit' });
        helper.unref(); send({ method: 'up', params: { pid: helper.pid } });
        process.stdin.resume().on('end', () => process.exit())`),
    );
    const pid = await up(server);
    await server.transport.close();
    expect(running(pid)).toBe(false);
    expect(livingProcesses()?.filter(({ group }) => group === server.transport.pid)).toEqual([]);
  });

  it.each(['obedient', 'deaf'])(
    'ends a helper that left the group of a server that is %s',
    async (manner) => {
      const server = await started(
        script(`const helper = require('node:child_process').spawn('sleep', ['60'], { stdio: 'ignore', detached: true });
        helper.unref(); send({ method: 'up', params: { pid: helper.pid } });
        ${manner === 'deaf' ? DEAF : 'process.stdin.resume()'}`),
      );
      const pid = await up(server);
      await server.transport.close();
      expect(running(pid)).toBe(false);
    },
  );

  /** Starts a process that leaves the group and loses its parent, and then goes on as the source says. */
  const withDaemon = (source: string, before = '') =>
    script(`${before} const starter = require('node:child_process').spawn('sh', ['-c', 'setsid sleep 60 >/dev/null & echo $!'],
        { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
      starter.stdout.once('data', (pid) => starter.once('close', () => {
        send({ method: 'up', params: { pid: Number(pid) } }); ${source} }))`);

  it.each([
    ['obedient', 'process.stdin.resume()'],
    ['deaf', `process.on('SIGTERM', () => {}); stay()`],
    ['gone by itself', 'process.exit()'],
  ])('ends a daemon of a server that is %s', async (_, source) => {
    const server = await started(withDaemon(source));
    const pid = await up(server);
    if (source === 'process.exit()') await server.untilClosed();
    await server.transport.close();
    expect(running(pid)).toBe(false);
    expect(server.transport.ended?.code).not.toBe('not-released');
  });

  it('ends it with SIGKILL as well, before kill returns', async () => {
    const server = await started(withDaemon('process.stdin.resume()'), PATIENT);
    const pid = await up(server);
    await server.transport.kill();
    expect(running(pid)).toBe(false);
  });

  it('ends no daemon of another server', async () => {
    const [one, other] = await Promise.all([
      started(withDaemon('process.stdin.resume()')),
      started(withDaemon('process.stdin.resume()')),
    ]);
    const [pid, otherPid] = [await up(one), await up(other)];
    await one.transport.close();
    expect([running(pid), running(otherPid)]).toEqual([false, true]);
  });

  it('leaves a daemon that does not carry the mark, or whose entry says so', async () => {
    const source = 'process.stdin.resume()';
    const servers = await Promise.all([
      started(withDaemon(source, 'delete process.env.TROUPE_OWNER;')),
      started(withDaemon(source), { keepDaemons: true }),
    ]);
    for (const server of servers) {
      const pid = await up(server);
      await server.transport.close();
      expect(running(pid)).toBe(true);
      process.kill(pid, 'SIGKILL');
    }
    expect(servers.map(({ closes }) => closes)).toEqual([1, 1]);
  });

  it('returns the same promise if it is called again', async () => {
    const server = await started(faulty('plain'));
    const first = server.transport.close();
    expect(server.transport.close()).toBe(first);
    await first;
    expect(server.transport.close()).toBe(first);
    expect(server.closes).toBe(1);
  });

  it('ends twenty servers in parallel, including unresponsive ones', async () => {
    const servers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        started(index % 5 === 0 ? underShell(DEAF) : script(`process.stdin.resume()`)),
      ),
    );
    await Promise.all(servers.filter((_, index) => index % 5 === 0).map(up));
    expect(
      await millisecondsOf(Promise.all(servers.map(({ transport }) => transport.close())).then(() => {})),
    ).toBeLessThan(15_000);
  });
});

describe('a process that survives SIGKILL', () => {
  afterEach(() => vi.restoreAllMocks());

  it('is reported by `ended`, and close resolves anyway', async () => {
    const clock = new HandClock();
    const server = await started(script(DEAF), { clock });
    await up(server);
    vi.spyOn(process, 'kill').mockReturnValue(true);
    const closing = server.transport.close();
    await clock.advance(5_000);
    await closing;
    expect(server.closes).toBe(1);
    expect(server.transport.ended).toEqual({
      code: 'not-released',
      message: expect.stringContaining('SIGKILL'),
    });
    expect(clock.pending).toBe(0);
    vi.restoreAllMocks();
    process.kill(server.transport.pid!, 'SIGKILL');
  });
});

describe('killing a stdio session', () => {
  it('does not wait for the time limits of the stop', async () => {
    const server = await started(underShell(DEAF), PATIENT);
    const pid = await up(server);
    expect(await millisecondsOf(server.transport.kill())).toBeLessThan(10_000);
    expect(running(pid)).toBe(false);
    expect(server.closes).toBe(1);
    expect(server.transport.ended).toBeUndefined();
  });

  it('speeds up a close that is in progress, and both resolve', async () => {
    const server = await started(script(DEAF), PATIENT);
    await up(server);
    const closing = server.transport.close();
    expect(await millisecondsOf(server.transport.kill())).toBeLessThan(10_000);
    await closing;
    expect(server.closes).toBe(1);
    await server.transport.kill();
  });

  it('has sent the signal before it returns, so that it works in an exit handler of the host', async () => {
    const server = await started(underShell(DEAF), PATIENT);
    const pid = await up(server);
    const killing = server.transport.kill();
    expect(diesWithoutEventLoop(pid)).toBe(true);
    await killing;
  });
});

/** Polls for up to two seconds without yielding to the event loop. */
function diesWithoutEventLoop(pid: number): boolean {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (let attempts = 0; attempts < 400; attempts += 1) {
    if (/\) [ZX] /.test(statOf(pid))) return true;
    Atomics.wait(cell, 0, 0, 5);
  }
  return false;
}

/** The stat of a process, or that of a dead one if the process is unknown. */
function statOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return `${pid} () X `;
  }
}
