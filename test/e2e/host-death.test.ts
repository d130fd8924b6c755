/** A host that dies without closing its servers leaves no process behind after two seconds. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { StdioServerConfig } from '../../src/index.js';
import { ownMark } from '../../src/transports/stdio/owner-mark.js';
import { useLeakCheck } from '../support/leak-check.js';
import { isLiving, usePlants } from '../support/guarded-processes.js';
import { useHosts, type Action, type HostProcess } from './host-process.js';
import { WAIT_LIMIT_MS } from '../support/time-limit.js';

useLeakCheck();
const startHost = useHosts();
const plant = usePlants();

const TEST_LIMIT_MS = 60_000;
const GONE_WITHIN_MS = 2_000;

const KIT = fileURLToPath(new URL('../../tools/faults/kit/faulty-stdio.mjs', import.meta.url));
const BUILT = new URL('../../dist/src/transports/stdio/', import.meta.url).href;

/** Runs its arguments as `npx` does: the launcher waits for another program that has the same pipes. */
const LAUNCHER = `require('node:child_process').spawn(process.execPath, process.argv.slice(1), { stdio: 'inherit' })
  .on('exit', (code) => process.exit(code ?? 1));`;
/** The same, with a helper in its own session that has no pipe. */
const LAUNCHER_WITH_HELPER = `require('node:child_process')
  .spawn('sleep', ['60'], { stdio: 'ignore', detached: true }).unref(); ${LAUNCHER}`;

const direct = (mode: string): StdioServerConfig => ({
  command: process.execPath,
  args: [KIT, `--mode=${mode}`],
});
const underShell = ({ command, args = [] }: StdioServerConfig): StdioServerConfig => ({
  command: 'sh',
  args: ['-c', '"$0" "$@"; true', command, ...args],
});
const launched = (mode: string, launcher = LAUNCHER): StdioServerConfig =>
  underShell({ command: process.execPath, args: ['-e', launcher, KIT, `--mode=${mode}`] });

const SOME = { deaf: direct('deaf-to-shutdown'), helper: launched('plain', LAUNCHER_WITH_HELPER) };
const PROCESSES_OF_SOME = 1 + 4;

async function expectNothingLeft(host: HostProcess, timeout = GONE_WITHIN_MS): Promise<void> {
  await expect.poll(() => host.belongings(), { timeout, interval: 20 }).toEqual([]);
}

async function kill(pids: readonly number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await expect.poll(() => pids.filter(isLiving)).toEqual([]);
}

describe('a host that is killed', { timeout: TEST_LIMIT_MS }, () => {
  it('leaves no server behind, including ones that ignore signals, and no grandchildren', async () => {
    const host = await startHost({
      direct: direct('plain'),
      shell: underShell(direct('plain')),
      npx: launched('grandchild'),
      deaf: direct('deaf-to-shutdown'),
      deafUnderNpx: launched('deaf-to-shutdown'),
      helper: SOME.helper,
    });
    expect(host.belongings()).toHaveLength(1 + 2 + 4 + 1 + 3 + 4);
    const guards = host.guards();
    expect(guards).toHaveLength(1);

    host.kill('SIGKILL');
    expect(await host.ended()).toEqual([null, 'SIGKILL']);

    await expectNothingLeft(host);
    await expect.poll(() => guards.filter(isLiving), { timeout: 5_000 }).toEqual([]);
  });

  it('leaves nothing behind if its guard was killed and another server has started since', async () => {
    const host = await startHost(SOME);
    const killed = host.guards();
    await kill(killed);
    host.do({ action: 'add', name: 'late', config: direct('deaf-to-shutdown') });
    await host.ready();
    expect(host.belongings()).toHaveLength(PROCESSES_OF_SOME + 1);
    expect(host.guards()).toHaveLength(1);
    expect(host.guards()).not.toEqual(killed);

    host.kill('SIGKILL');
    await host.ended();

    await expectNothingLeft(host);
  });

  it('leaves its servers behind if its guard was killed first, and the next host ends only those', async () => {
    const bystanders = await Promise.all(
      [ownMark()!, 'yes', `${ownMark()!}0`].map((mark) => plant('exec sleep 60', 0, { TROUPE_OWNER: mark })),
    );
    const host = await startHost(SOME);
    await kill(host.guards());
    host.kill('SIGKILL');
    await host.ended();
    expect(host.belongings()).not.toEqual([]);

    const next = await startHost({ plain: direct('plain') });

    await expectNothingLeft(host, 5_000);
    expect(next.belongings()).toHaveLength(1);
    expect(bystanders.map(({ pid }) => isLiving(pid))).toEqual([true, true, true]);
  });
});

describe('a daemon of a server', { timeout: TEST_LIMIT_MS }, () => {
  /** It has lost its parent before the server speaks. */
  const withDaemon: StdioServerConfig = {
    command: 'sh',
    args: [
      '-c',
      '(setsid sleep 60 >/dev/null 2>&1 </dev/null &); exec "$0" "$@"',
      process.execPath,
      KIT,
      '--mode=plain',
    ],
  };
  const servers = { ends: withDaemon, stays: { ...withDaemon, keepDaemons: true } };

  it.each(['close', 'SIGKILL', 'SIGKILL of host and guard'])(
    'ends after %s unless its entry keeps daemons',
    async (end) => {
      const host = await startHost(servers);
      expect(host.belongings()).toHaveLength(4);
      if (end === 'close') host.do({ action: 'close' });
      if (end === 'SIGKILL of host and guard') await kill(host.guards());
      if (end !== 'close') host.kill('SIGKILL');
      await host.ended();
      if (end === 'SIGKILL of host and guard') await startHost({ plain: direct('plain') });
      await expect.poll(() => host.belongings().length, { timeout: 5_000, interval: 20 }).toBe(1);
    },
  );
});

describe('a host that dies of another cause', { timeout: TEST_LIMIT_MS }, () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'dies of %s as usual, and leaves nothing behind',
    async (signal) => {
      const host = await startHost(SOME);
      expect(host.belongings()).toHaveLength(PROCESSES_OF_SOME);
      host.kill(signal);
      expect(await host.ended()).toEqual([null, signal]);
      expect(host.stderr).toBe('');
      await expectNothingLeft(host);
    },
  );

  it.each([
    ['an uncaught error', { action: 'throw' }, 1, /Error: out of luck\n\s+at /],
    ['an unhandled rejection', { action: 'reject' }, 1, /Error: out of promises\n\s+at /],
    ['its own exit', { action: 'exit' }, 7, /^$/],
  ] satisfies readonly [string, Action, number, RegExp][])(
    'ends by %s as usual, and leaves nothing behind',
    async (_, action, code, stderr) => {
      const host = await startHost(SOME);
      expect(host.belongings()).toHaveLength(PROCESSES_OF_SOME);
      host.do(action);
      expect(await host.ended()).toEqual([code, null]);
      expect(host.stderr).toMatch(stderr);
      await expectNothingLeft(host);
    },
  );
});

describe('the guard of a host', { timeout: TEST_LIMIT_MS }, () => {
  it('ends with the last server, and the host exits by itself', async () => {
    const host = await startHost(SOME);
    const guards = host.guards();
    host.do({ action: 'close' });
    expect(await host.ended()).toEqual([0, null]);
    expect([...guards, ...host.belongings()].filter(isLiving)).toEqual([]);
  });

  it('does not keep a host running', async () => {
    const { stdout } = await run(
      `import { startGuard } from '${BUILT}guard.js'; console.log(startGuard(undefined, console.error).pid)`,
    );
    expect(stdout).toMatch(/^\d+\n$/);
    await expect.poll(() => isLiving(Number(stdout)), { timeout: 5_000 }).toBe(false);
  });
});

describe('a host that has no file descriptor left', () => {
  it('has no guard, gets the reason, and continues', async () => {
    const { stdout } = await run(`
      import { openSync } from 'node:fs';
      import { startGuard } from '${BUILT}guard.js';
      try { for (;;) openSync('/dev/null'); } catch {}
      const guard = startGuard(undefined, ({ code }) => console.log(code, guard));`);
    expect(stdout).toBe('EMFILE undefined\n');
  });
});

describe('a host that was started by a leftover server', () => {
  it('does not end the processes of that owner, because it would end itself', async () => {
    const mark = (name: string): string => `${process.pid}-death-${name}`;
    for (const name of ['owner', 'other']) await plant('exec sleep 60', 0, { TROUPE_OWNER: mark(name) });
    const { stdout } = await run(
      `import { sweep } from '${BUILT}guard.js'; await sweep(() => true, (mark) => console.log(mark))`,
      mark('owner'),
    );
    expect(stdout).toContain(mark('other'));
    expect(stdout).not.toContain(mark('owner'));
  });
});

/** Runs a module with a low descriptor limit. If there is a mark, the shell around it has it, but the module does not. */
function run(source: string, mark = ''): Promise<{ stdout: string }> {
  const script = 'ulimit -n 64; env -u TROUPE_OWNER "$0" --input-type=module -e "$1"; exit $?';
  return promisify(execFile)('sh', ['-c', script, process.execPath, source], {
    env: { ...process.env, ...(mark === '' ? {} : { TROUPE_OWNER: mark }) },
    timeout: WAIT_LIMIT_MS,
    killSignal: 'SIGKILL',
  });
}
