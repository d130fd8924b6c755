/** `troupe up --background`, and the commands that run in its process. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { MISSING, useTeam } from '../../support/team.js';
import { runTroupe, TroupeProcess, type StartOptions } from '../../support/troupe-process.js';
import { isolatedUser } from '../../support/user-variables.js';

useLeakCheck();
const team = useTeam();

const TELLING = fileURLToPath(new URL('telling-server.mjs', import.meta.url));

let env: Readonly<Record<string, string>> = {};
let folder = '';
let cases = 0;

beforeEach(() => {
  folder = join(team().folder, `${(cases += 1)}`);
  mkdirSync(join(folder, 'run'), { recursive: true, mode: 0o700 });
  env = { ...isolatedUser(folder), XDG_RUNTIME_DIR: join(folder, 'run'), TOLD: 'first' };
  configure();
});
afterEach(async () => {
  rmSync(join(folder, 'wrong'), { force: true, recursive: true });
  // Also if a test failed before it knew the process.
  await troupe('down');
  await expect.poll(() => running()).toEqual([]);
});

function configure(...more: readonly string[]): void {
  const telling = {
    command: process.execPath,
    args: [TELLING, join(folder, 'journal'), ...more],
    env: { TOLD: '${TOLD}' },
  };
  writeFileSync(join(folder, 'servers.json'), JSON.stringify({ mcpServers: { telling } }));
}

function start(...args: readonly string[]): TroupeProcess {
  return TroupeProcess.start([...args, '--config', 'servers.json'], { cwd: folder, env });
}

function troupe(...args: readonly string[]) {
  return start(...args).finished();
}

function troupeWith(options: StartOptions, ...args: readonly string[]) {
  return runTroupe([...args, '--config', 'servers.json'], { cwd: folder, env, ...options });
}

const journal = (): string => {
  const path = join(folder, 'journal');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};
const pidsOf = (what: string): readonly number[] =>
  [...journal().matchAll(new RegExp(`^${what} (\\d+)$`, 'gm'))].map(([, pid]) => Number(pid));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Servers of this test that run. */
const running = (): readonly number[] => pidsOf('started').filter(isAlive);

async function up(...args: readonly string[]): Promise<number> {
  const { code, stdout, stderr } = await troupe('up', '--background', ...args);
  expect([code, stderr]).toEqual([0, '']);
  const pid = Number(/ \(pid (\d+)\)/.exec(stdout)?.[1]);
  writeFileSync(join(folder, 'pid'), String(pid));
  return pid;
}

function pidOfBackground(): number | undefined {
  const path = join(folder, 'pid');
  const pid = existsSync(path) ? Number(readFileSync(path, 'utf8')) : undefined;
  return pid !== undefined && isAlive(pid) ? pid : undefined;
}

const socketFolder = (): string => join(folder, 'run', 'troupe');
const sockets = (): readonly string[] =>
  existsSync(socketFolder()) ? readdirSync(socketFolder()).filter((name) => name.endsWith('.sock')) : [];

async function pidOfServer(...args: readonly string[]): Promise<{ pid: number; stderr: string }> {
  const { code, stdout, stderr } = await troupe('call', 'telling/pid', ...args);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\n$/)]);
  return { pid: Number(stdout), stderr };
}

describe('troupe up --background', () => {
  it('keeps the servers for later commands, until troupe down.', async () => {
    const background = await up();
    const first = await pidOfServer();
    expect(await pidOfServer()).toEqual(first);
    expect(first).toEqual({ pid: pidsOf('started')[0], stderr: '' });
    const listed = await troupe('tools', 'telling', '--json');
    expect(JSON.parse(listed.stdout)).toHaveLength(5);
    const { findings } = JSON.parse((await troupe('doctor', '--json')).stdout) as { findings: object[] };
    const about = { about: 'machine', name: 'background', level: 'ok' };
    expect(findings).toContainEqual(
      expect.objectContaining({ ...about, message: expect.stringContaining(`pid ${background}`) as string }),
    );
    expect(await troupe('down')).toEqual({
      code: 0,
      signal: null,
      stdout: `The background process (pid ${background}) has ended.\n`,
      stderr: '',
    });
    expect([isAlive(background), running(), sockets()]).toEqual([false, [], []]);
    expect(pidsOf('started')).toHaveLength(2);
    expect(pidsOf('ended')).toHaveLength(2);
    expect(await troupe('down', '--json')).toMatchObject({ code: 0, stdout: '{\n  "ended": null\n}\n' });
    expect((await pidOfServer()).pid).not.toBe(first.pid);
  });

  it('answers as a command with servers of its own: output, errors, stdin, long results.', async () => {
    await up();
    for (const args of [['call', 'telling/long', '-'], ['call', 'telling/nothing'], ['prompts']]) {
      const warm = await troupeWith({ stdin: '{"words": "x"}' }, ...args);
      const cold = await troupeWith({ stdin: '{"words": "x"}' }, ...args, '--no-warm');
      expect(warm).toEqual(cold);
    }
    expect(pidsOf('started').length).toBeGreaterThan(1);
  });

  it('reports failed servers, and keeps the others.', async () => {
    const config = JSON.parse(readFileSync(join(folder, 'servers.json'), 'utf8')) as { mcpServers: object };
    const mcpServers = { ...config.mcpServers, missing: MISSING };
    writeFileSync(join(folder, 'servers.json'), JSON.stringify({ mcpServers }));
    const { code, stdout } = await troupe('up', '--background', '--json');
    const { pid, log, servers } = JSON.parse(stdout) as { pid: number; log: string; servers: object[] };
    writeFileSync(join(folder, 'pid'), String(pid));
    expect(code).toBe(1);
    expect(servers).toMatchObject([
      { server: 'telling', state: 'ready' },
      { server: 'missing', state: 'failed' },
    ]);
    expect(existsSync(log)).toBe(true);
    expect((await pidOfServer()).pid).toBe(pidsOf('started')[0]);
    expect(await troupe('call', 'missing/x')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('command-not-found') as string,
    });
  });

  it('runs once, also if it is started twice at the same instant.', async () => {
    const both = await Promise.all([troupe('up', '--background'), troupe('up', '--background')]);
    const pids = new Set(both.map(({ stdout }) => / \(pid (\d+)\)/.exec(stdout)?.[1]));
    expect([both.map(({ code }) => code), pids.size]).toEqual([[0, 0], 1]);
    writeFileSync(join(folder, 'pid'), [...pids][0] ?? '');
    expect(running()).toHaveLength(1);
    expect(await troupe('up', '--background')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('runs already') as string,
    });
  });

  it('leaves nothing if it is killed: the next command runs by itself, and a new one can start.', async () => {
    const killed = await up();
    const [server] = running();
    process.kill(killed, 'SIGKILL');
    await expect.poll(() => running()).toEqual([]);
    expect(sockets()).toHaveLength(1);
    const { pid, stderr } = await pidOfServer();
    expect([pid === server, stderr, sockets()]).toEqual([false, '', []]);
    await up();
    process.kill(pidOfBackground() ?? 0, 'SIGKILL');
    await expect.poll(() => running()).toEqual([]);
    const second = await up();
    expect(second).not.toBe(killed);
    expect((await pidOfServer()).pid).toBe(running()[0]);
  });

  it('cancels the call of a caller that presses Ctrl-C or is killed, and nothing else.', async () => {
    await up();
    for (const signal of ['SIGINT', 'SIGKILL'] as const) {
      const before = pidsOf('waiting').length;
      const call = start('call', 'telling/wait');
      await expect.poll(() => pidsOf('waiting').length).toBe(before + 1);
      call.signal(signal);
      await expect.poll(() => pidsOf('cancelled').length).toBe(before + 1);
      const finished = await call.finished();
      if (signal === 'SIGINT') expect(finished).toMatchObject({ code: 1, stderr: 'troupe: interrupted\n' });
    }
    expect((await pidOfServer()).pid).toBe(running()[0]);
    expect(pidsOf('started')).toHaveLength(1);
  });

  it('says that the outcome is unknown if the process dies during a call, and does not call again.', async () => {
    const background = await up();
    const call = start('call', 'telling/wait');
    await expect.poll(() => pidsOf('waiting').length).toBe(1);
    process.kill(background, 'SIGKILL');
    expect(await call.finished()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('what the command did is not known') as string,
    });
    expect(pidsOf('waiting')).toHaveLength(1);
  });

  it('follows a changed configuration before the next command.', async () => {
    await up();
    configure('added');
    expect(await troupe('call', 'telling/added')).toMatchObject({ code: 0, stdout: 'done\n', stderr: '' });
    const other = start('call', 'telling/pid');
    expect(Number((await other.finished()).stdout)).toBe(running()[0]);
  });

  it('is not used with another value of a variable that the configuration reads, and says so.', async () => {
    await up();
    const second = await troupeWith({ env: { ...env, TOLD: 'second' } }, 'call', 'telling/variable');
    expect([second.code, second.stdout]).toEqual([0, 'second\n']);
    expect(second.stderr).toContain('the variable TOLD has changed');
    const other = { ...env, OTHER: 'x', TERM: 'dumb' };
    expect(await troupeWith({ env: other }, 'call', 'telling/variable')).toMatchObject({
      stdout: 'first\n',
      stderr: '',
    });
    const off = await troupeWith({ env: { ...env, TROUPE_WARM: 'off' } }, 'call', 'telling/pid');
    expect(Number(off.stdout)).not.toBe(running()[0]);
  });

  it('ends by itself when it is idle.', async () => {
    const background = await up('--idle', '200ms');
    await expect.poll(() => isAlive(background)).toBe(false);
    expect([running(), sockets()]).toEqual([[], []]);
  });
});

describe('a socket that cannot be trusted', () => {
  const used = async (): Promise<number> => {
    await up();
    const [name = ''] = sockets();
    expect(name).not.toBe('');
    return pidsOf('started').length;
  };

  it.each([
    [
      'a folder that others can use',
      () => chmodSync(socketFolder(), 0o755),
      () => chmodSync(socketFolder(), 0o700),
    ],
    [
      'a folder of another user',
      () => chownSync(socketFolder(), 4_321, 4_321),
      () => chownSync(socketFolder(), 0, 0),
    ],
  ])('is not used: %s.', async (_, spoil, mend) => {
    if (process.getuid?.() !== 0) return;
    const before = await used();
    spoil();
    const { pid, stderr } = await pidOfServer();
    expect([pid === pidsOf('started')[0], pidsOf('started').length]).toEqual([false, before + 1]);
    expect(stderr).toMatch(/^troupe: not run in the background process: .*run\/troupe/);
    expect(await troupe('up', '--background')).toMatchObject({ code: 1, stdout: '' });
    mend();
    expect((await pidOfServer()).pid).toBe(pidsOf('started')[0]);
  });

  it('is not used if it is a link.', async () => {
    await used();
    const [name = ''] = sockets();
    await troupe('down');
    const path = join(socketFolder(), name);
    const heard: string[] = [];
    const strange = createServer((socket) => {
      heard.push('connected');
      socket.destroy();
    });
    mkdirSync(join(folder, 'wrong'));
    await new Promise<void>((resolve) => strange.listen(join(folder, 'wrong', 's'), resolve));
    symlinkSync(join(folder, 'wrong', 's'), path);
    const { stderr } = await pidOfServer();
    expect(stderr).toContain('is not a socket of this user');
    expect(heard).toEqual([]);
    rmSync(path);
    await new Promise((resolve) => strange.close(resolve));
  });

  it('is not used if the process is of another version.', async () => {
    await used();
    const [name = ''] = sockets();
    await troupe('down');
    const old = createServer((socket) => {
      socket.on('error', () => {});
      socket.write('{"version":"0.0.1","pid":1}\n');
    });
    await new Promise<void>((resolve) => old.listen(join(socketFolder(), name), resolve));
    const { stderr } = await pidOfServer();
    expect(stderr).toContain(
      "it is of version 0.0.1; 'troupe down' and 'troupe up --background' start it anew",
    );
    await new Promise((resolve) => old.close(resolve));
  });
});

describe('troupe logs', () => {
  it('shows what servers wrote, of one server, the last lines, as JSON, and after the end of the process.', async () => {
    expect(await troupe('logs')).toMatchObject({ code: 1, stdout: '' });
    await up();
    for (const words of ['one', 'two']) await troupe('call', 'telling/log', `words=${words}`);
    const all = await troupe('logs');
    expect(all.stdout.replaceAll(/^\S+ /gm, '')).toBe(
      'telling stderr: one\ntelling warning: said one\ntelling stderr: two\ntelling warning: said two\n',
    );
    expect((await troupe('logs', 'telling', '--lines', '1')).stdout).toMatch(/said two\n$/);
    const [json] = (await troupe('logs', '--json', '--lines', '1')).stdout.trimEnd().split('\n');
    expect(JSON.parse(json ?? '')).toMatchObject({
      server: 'telling',
      level: 'warning',
      message: 'said two',
    });
    expect(await troupe('logs', 'nobody')).toMatchObject({ code: 2 });
    await troupe('down');
    const later = await troupe('logs', '--lines', '2');
    expect(later.stdout).toMatch(/^\S+ telling stderr: two\n\S+ telling warning: said two\n$/);
    expect(later.stderr).toContain('the log of the last one');
    expect(await troupe('logs', '-f')).toMatchObject({ code: 2 });
  });

  it('follows with -f until Ctrl-C, and misses nothing.', async () => {
    await up();
    await troupe('call', 'telling/log', 'words=before');
    const following = start('logs', '-f');
    await following.saw(/ said before\n/);
    await troupe('call', 'telling/log', 'words=after');
    await following.saw(/ said after\n/);
    following.signal('SIGINT');
    const { code, stdout } = await following.finished();
    expect(code).toBe(0);
    expect(stdout.replaceAll(/^\S+ /gm, '').split('\n')).toEqual([
      'telling stderr: before',
      'telling warning: said before',
      'telling stderr: after',
      'telling warning: said after',
      '',
    ]);
    const other = start('logs', '-f');
    await other.saw(/ said after\n/);
    await troupe('down');
    expect(await other.finished()).toMatchObject({ code: 0 });
  });
});
