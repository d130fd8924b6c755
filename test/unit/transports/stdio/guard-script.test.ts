import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { GUARD_SCRIPT } from '../../../../src/transports/stdio/guard-script.js';
import { statOf } from '../../../../src/transports/stdio/process-table.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { DEAF_PAIR, expectGone, isLiving, usePlants } from '../../../support/guarded-processes.js';

useLeakCheck();
const plant = usePlants();

const folder = mkdtempSync(join(tmpdir(), 'guard-script-'));
afterAll(() => rmSync(folder, { recursive: true }));

const MARK = '1-2-3-0123456789abcdef0123456789abcdef';
const SHELLS = [
  ['sh'],
  ...[['/bin/bash'], ['/bin/dash'], ['/bin/busybox', 'ash']].filter(([path]) => existsSync(path!)),
];

interface Setting {
  readonly mark?: string;
  readonly proc?: string;
  readonly shell?: readonly string[];
  readonly path?: string | undefined;
}

/** A guard, the pipe that a host would hold, and the end of the guard. */
function startScript({ mark = '', proc = '/proc', shell = ['sh'], path = process.env['PATH'] }: Setting): {
  stdin: Writable;
  pid: number;
  ended: Promise<unknown[]>;
} {
  const [command = '', ...args] = shell;
  const child = spawn(command, [...args, '-c', GUARD_SCRIPT, 'troupe-guard', mark, proc], {
    env: { PATH: path },
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  return { stdin: child.stdin, pid: child.pid!, ended: once(child, 'exit') };
}

/** All descendants of a process. */
function childrenOf(pid: number): readonly number[] {
  const children = readdirSync('/proc')
    .map(Number)
    .filter((each) => each > 0 && statOf(each)?.parent === pid && statOf(each)?.isLiving === true);
  return children.flatMap((child) => [child, ...childrenOf(child)]);
}

/** Sends text to a guard and closes its pipe, like a host that dies. */
async function guarded(input: string, setting: Setting = {}): Promise<void> {
  const { stdin, ended } = startScript(setting);
  stdin.end(input);
  expect(await ended).toEqual([0, null]);
}

describe('when its pipe breaks, a guard', () => {
  it.each(SHELLS.map((shell) => [shell.join(' '), shell] as const))(
    'ends every group on its list, including unresponsive members and helpers outside the group, and nothing else (%s)',
    async (_, shell) => {
      const deaf = await plant(DEAF_PAIR, 1);
      const left = await plant(
        `setsid sh -c 'echo $$; trap "" TERM; sleep 60; sleep 60' & wait; sleep 60`,
        1,
      );
      const released = await plant('exec sleep 60');
      const strange = await plant('exec sleep 60');
      await guarded(`+ ${deaf.pid}\n+ ${released.pid}\n+ ${left.pid}\n- ${released.pid}\n`, { shell });
      await expectGone([deaf.pid, ...deaf.printed, left.pid, ...left.printed]);
      expect([released.pid, strange.pid].map(isLiving)).toEqual([true, true]);
    },
  );

  it('ends the rest of a group whose leader is dead', async () => {
    const { child, pid, printed } = await plant('sleep 60 & echo $!', 1);
    if (child.exitCode === null) await once(child, 'exit');
    await guarded(`+ ${pid}\n`);
    await expectGone(printed);
  });

  it('gives processes time to clean up', async () => {
    const { child, pid } = await plant(
      `trap 'sleep 0.1; exit 7' TERM; echo 0; while :; do sleep 0.02; done`,
      1,
    );
    const exit = once(child, 'exit');
    await guarded(`+ ${pid}\n`);
    expect(await exit).toEqual([7, null]);
  });

  it('ends all processes with the mark, even an orphan in another session', async () => {
    const marked = { TROUPE_OWNER: MARK };
    const orphan = await plant(`(setsid sh -c 'echo $$; exec sleep 60' &)`, 1, marked);
    const others = await Promise.all(
      [
        { TROUPE_OWNER: `${MARK}0` },
        { TROUPE_OWNER: `0${MARK}` },
        { OTHER: MARK, NOT_TROUPE_OWNER: MARK },
        { A: `\n==> /proc/1/environ <==\nTROUPE_OWNER=${MARK}` },
      ].map((env) => plant('echo $$; exec sleep 60', 1, env)),
    );
    await guarded('', { mark: MARK });
    await expectGone(orphan.printed);
    expect(others.map(({ pid }) => isLiving(pid))).toEqual([true, true, true, true]);
  });

  it('needs no other programs if there is a /proc, except for marks', async () => {
    const path = join(folder, 'bin');
    mkdirSync(path);
    symlinkSync(execFileSync('which', ['sleep'], { encoding: 'utf8' }).trim(), join(path, 'sleep'));
    const deaf = await plant(DEAF_PAIR, 1);
    await guarded(`+ ${deaf.pid}\n`, { mark: MARK, path, shell: ['/bin/sh'] });
    await expectGone([deaf.pid, ...deaf.printed]);
  });

  it('uses `ps` if there is no /proc', async () => {
    const left = await plant(`setsid sh -c 'echo $$; exec sleep 60' & wait; sleep 60`, 1);
    const strange = await plant('exec sleep 60');
    await guarded(`+ ${left.pid}\n`, { proc: join(folder, 'nowhere') });
    await expectGone([left.pid, ...left.printed]);
    expect(isLiving(strange.pid)).toBe(true);
  });

  it('does not end a process that only looks like a member of a group on the list', async () => {
    const victim = await plant('exec sleep 60');
    const name = `\\n1) S 1 ${victim.pid} `;
    const poser = spawn(
      process.execPath,
      ['-e', `process.title = "${name}"; console.log(1); setInterval(() => {}, 1000)`],
      { detached: true, stdio: ['ignore', 'pipe', 'ignore'] },
    );
    await once(poser.stdout, 'data');
    await guarded(`+ ${victim.pid}\n`);
    await expectGone([victim.pid]);
    expect(isLiving(poser.pid!)).toBe(true);
    poser.kill('SIGKILL');
    await once(poser, 'exit');
  });
});

describe('the marked processes of a guard', () => {
  const [functions] = GUARD_SCRIPT.split('\nwhile read -r word id');
  const variable = `TROUPE_OWNER=${MARK}`;
  const bin = join(folder, 'without-z');
  mkdirSync(bin);
  const grep = execFileSync('which', ['grep'], { encoding: 'utf8' }).trim();
  writeFileSync(join(bin, 'grep'), `#!/bin/sh\ncase $1 in *z*) exit 2 ;; esac\nexec ${grep} "$@"\n`, {
    mode: 0o755,
  });

  /** What the guard finds in a process table with these environments, the first one as process 10. */
  function markedIn(environments: readonly string[], path = process.env['PATH'] ?? ''): readonly string[] {
    const proc = mkdtempSync(join(folder, 'environments-'));
    for (const [index, text] of environments.entries()) {
      mkdirSync(join(proc, `${10 + index}`));
      writeFileSync(join(proc, `${10 + index}`, 'environ'), text);
    }
    const words = ['-c', `${functions}\nmarked\nexit 0`, 'troupe-guard', MARK, proc];
    const found = execFileSync('sh', words, { encoding: 'utf8', env: { PATH: path }, stdio: 'pipe' });
    rmSync(proc, { recursive: true });
    return found.split('\n').slice(0, -1);
  }

  it.each([
    ['grep -z', process.env['PATH'] ?? ''],
    ['a grep that cannot', `${bin}:${process.env['PATH']}`],
  ])('are those that have the mark as a whole variable, whatever environments hold (%s)', (_, path) => {
    const part = fc.oneof(
      fc.constantFrom(
        '\0',
        '\n',
        ' ',
        'A=',
        variable,
        `${variable}\0`,
        `\0${variable}\0`,
        MARK,
        'TROUPE_OWNER=',
      ),
      fc.nat(30).map((pid) => `==> ${folder}/../${pid}/environ <==\n`),
      fc.nat(30).map((pid) => `/proc/${pid}/environ`),
      fc.string({ maxLength: 5 }),
    );
    const environment = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(environment, { minLength: 1, maxLength: 8 }), (environments) => {
        const expected = environments.flatMap((text, index) =>
          text.split('\0').includes(variable) ? [`${10 + index}`] : [],
        );
        expect(markedIn(environments, path)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  it('are of its own user', () => {
    const proc = mkdtempSync(join(folder, 'users-'));
    for (const pid of ['10', '11']) {
      mkdirSync(join(proc, pid));
      writeFileSync(join(proc, pid, 'environ'), `${variable}\0`);
    }
    // Only root can give a folder to another user.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(join(proc, '11'), 65_534, 65_534);
    const words = ['-c', `${functions}\nmarked\nexit 0`, 'troupe-guard', MARK, proc];
    expect(execFileSync('sh', words, { encoding: 'utf8' })).toBe(isRoot ? '10\n' : '10\n11\n');
  });
});

describe('the input of a guard', () => {
  it('counts only as a whole line with a plain number above one', async () => {
    const { pid } = await plant('exec sleep 60');
    const lines = [
      '',
      '+',
      `+${pid}`,
      `+ 0${pid}`,
      `+ -${pid}`,
      `+ ${pid}x`,
      `+ x${pid}`,
      `+ ${pid} 1`,
      `= ${pid}`,
      `+ ${pid}0000000000`,
    ];
    await guarded(`${lines.join('\n')}\n+ 0\n+ 1\n+ -1\n+ $$\n+ *\n- 7\n+ ${pid}`);
    expect(isLiving(pid)).toBe(true);
  });

  it('may be empty: the guard exits at once', async () => {
    const began = performance.now();
    await guarded('');
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});

describe('a reused process id', () => {
  /** A process table whose only entry is a pipe: the guard waits there until the test has written the entry. */
  const writeStat = async (path: string, text: string): Promise<void> => {
    let fd: number | undefined;
    await expect.poll(() => (fd = openIfRead(path))).toBeTypeOf('number');
    writeSync(fd!, text);
    closeSync(fd!);
    await expect.poll(() => isRead(path)).toBe(false);
  };

  it.each([
    ['another start time', '200', true],
    ['the same start time', '100', false],
  ])('is recognized by the start time of its process: %s', async (_, startAtTheEnd, survives) => {
    const { pid } = await plant('exec sleep 60');
    const proc = mkdtempSync(join(folder, 'proc-'));
    const stat = join(proc, `${pid}`, 'stat');
    mkdirSync(join(proc, `${pid}`));
    execFileSync('mkfifo', [stat]);
    const line = (start: string): string => `${pid} (sleep) S 1 ${pid} ${'0 '.repeat(16)}${start} 0\n`;
    const { stdin, ended } = startScript({ proc });
    stdin.write(`+ ${pid}\n`);
    await writeStat(stat, line('100'));
    stdin.end();
    await writeStat(stat, line(startAtTheEnd));
    rmSync(proc, { recursive: true });
    expect(await ended).toEqual([0, null]);
    expect(isLiving(pid)).toBe(survives);
  });
});

function isRead(path: string): boolean {
  const fd = openIfRead(path);
  if (fd !== undefined) closeSync(fd);
  return fd !== undefined;
}

/** Undefined while nobody reads from the pipe. */
function openIfRead(path: string): number | undefined {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

/** A busy machine takes long to look through all processes. */
const SLOW_MS = 20_000;

describe('a group with a limit', () => {
  it.each(SHELLS.map((shell) => [shell.join(' '), shell] as const))(
    'is ended when that is over, with its unresponsive helpers, while the host says nothing; nothing else is (%s)',
    async (_, shell) => {
      const deaf = await plant(DEAF_PAIR, 1);
      const left = await plant(
        `setsid sh -c 'echo $$; trap "" TERM; sleep 60; sleep 60' & wait; sleep 60`,
        1,
      );
      const strange = await plant('exec sleep 60');
      const { stdin, ended } = startScript({ shell });
      stdin.write(`+ ${deaf.pid}\n+ ${left.pid}\n+ ${strange.pid}\n~ ${deaf.pid} 0.1\n~ ${left.pid} 0.100\n`);
      await expectGone([deaf.pid, ...deaf.printed, left.pid, ...left.printed], SLOW_MS);
      expect(isLiving(strange.pid)).toBe(true);
      stdin.write(`- ${strange.pid}\n`);
      stdin.end('.\n');
      expect(await ended).toEqual([0, null]);
      expect(isLiving(strange.pid)).toBe(true);
    },
  );

  it.each(SHELLS.map((shell) => [shell.join(' '), shell] as const))(
    'lives on if the limit is replaced, or if it leaves the list; no waiting process is left (%s)',
    async (_, shell) => {
      const renewed = await plant('exec sleep 60');
      const released = await plant('exec sleep 60');
      const ended = await plant('exec sleep 60');
      const guard = startScript({ shell });
      guard.stdin.write(`+ ${renewed.pid}\n+ ${released.pid}\n+ ${ended.pid}\n`);
      for (const pid of [renewed.pid, released.pid]) guard.stdin.write(`~ ${pid} 0.3\n`);
      guard.stdin.write(`~ ${renewed.pid} 50\n- ${released.pid}\n~ ${ended.pid} 0.6\n`);
      await expectGone([ended.pid], SLOW_MS);
      expect([renewed.pid, released.pid].map(isLiving)).toEqual([true, true]);
      const waiting = childrenOf(guard.pid);
      expect(waiting.length).toBeGreaterThan(0);
      guard.stdin.end('.\n');
      expect(await guard.ended).toEqual([0, null]);
      await expectGone(waiting, SLOW_MS);
      expect(isLiving(renewed.pid)).toBe(true);
    },
  );

  it('is not ended if its number belongs to another process by now, nor if the limit is no number', async () => {
    const strange = await plant('exec sleep 60');
    const guard = startScript({});
    guard.stdin.write(`~ ${strange.pid} 0.1\n+ ${strange.pid}\n~ ${strange.pid} 0.1;x\n~ ${strange.pid}\n`);
    guard.stdin.end('.\n');
    expect(await guard.ended).toEqual([0, null]);
    expect(isLiving(strange.pid)).toBe(true);
  });

  it('ends with the host before the limit is over, and nothing waits on', async () => {
    const plain = await plant('exec sleep 60');
    const guard = startScript({});
    guard.stdin.write(`+ ${plain.pid}\n~ ${plain.pid} 50\n`);
    await expect.poll(() => childrenOf(guard.pid).length).toBeGreaterThan(1);
    const waiting = childrenOf(guard.pid);
    guard.stdin.end();
    expect(await guard.ended).toEqual([0, null]);
    await expectGone([plain.pid, ...waiting], SLOW_MS);
  });
});
