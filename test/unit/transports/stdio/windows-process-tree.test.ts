import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { platformOf } from '../../../../src/platform/platform.js';
import {
  ProcessGroup,
  startedTree,
  TaskKill,
  taskKillFile,
  WindowsProcessTree,
} from '../../../../src/transports/stdio/process-tree.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

let folder: string;
let file: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'task-kill-'));
  file = join(folder, 'taskkill');
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  rmSync(folder, { recursive: true });
});

/** A program in the place of `taskkill`, which notes its arguments and then does this. */
function taskKill(then: string): TaskKill {
  writeFileSync(file, `#!/bin/sh\necho "$@" >> ${folder}/log\n${then}\n`, { mode: 0o755 });
  return new TaskKill(file);
}

const KILLS = 'for word in "$@"; do case $word in /*) ;; *) kill -9 "$word";; esac; done';
const log = (): string[] => readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');

async function server(): Promise<ChildProcess & { pid: number }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  children.push(child);
  await once(child, 'spawn');
  return child as ChildProcess & { pid: number };
}

describe('the process tree of a server on Windows', () => {
  it('is ended with its descendants, many in one program that does not block', async () => {
    const kill = taskKill(KILLS);
    const servers = await Promise.all([server(), server(), server()]);
    const trees = servers.map((child) => new WindowsProcessTree(child, child.pid, kill));
    const ended = servers.map((child) => once(child, 'exit'));
    for (const tree of trees) tree.signal();
    // Nothing has run yet, and a second signal starts nothing.
    expect(existsSync(join(folder, 'log'))).toBe(false);
    for (const tree of trees) tree.signal();
    await Promise.all(ended);
    expect(log()).toEqual([`/T /F ${servers.map(({ pid }) => `/PID ${pid}`).join(' ')}`]);
    expect(trees.some((tree) => tree.isAlive())).toBe(false);
    for (const tree of trees) tree.signal();
    for (const tree of trees) tree.kill();
    expect(log()).toHaveLength(1);
  });

  it.each([
    ['the program is missing', () => new TaskKill(join(folder, 'missing'))],
    ['the program fails', () => taskKill('exit 1')],
  ])('is ended at least at its leader if %s', async (_, make) => {
    const child = await server();
    const tree = new WindowsProcessTree(child, child.pid, make());
    tree.signal();
    await once(child, 'exit');
    expect(tree.isAlive()).toBe(false);
  });

  it('is ended before `kill` returns', async () => {
    const child = await server();
    new WindowsProcessTree(child, child.pid, taskKill(KILLS)).kill();
    expect(log()).toEqual([`/T /F /PID ${child.pid}`]);
    await once(child, 'exit');
  });

  it('is over if its leader was ended by a signal', async () => {
    const child = await server();
    const tree = new WindowsProcessTree(child, child.pid, taskKill(''));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(tree.leaderAlive).toBe(false);
  });
});

it('the program is found by its place in the folder of Windows.', () => {
  expect(taskKillFile({ SystemRoot: 'D:\\Win' })).toBe('D:\\Win\\System32\\taskkill.exe');
  expect(taskKillFile({})).toBe('C:\\Windows\\System32\\taskkill.exe');
});

it('a tree is a process group where the system has them.', async () => {
  const child = await server();
  expect(startedTree(child, child.pid, undefined, platformOf('linux'))).toBeInstanceOf(ProcessGroup);
  expect(startedTree(child, child.pid, undefined, platformOf('win32'))).toBeInstanceOf(WindowsProcessTree);
});
