/** How `troupe replay` handles files, folders and names as they occur in practice. */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replay, type ReplayFlags } from '../../../../src/cli/recordings/replay-command.js';
import { DEFAULT_FLAGS } from '../../../../src/cli/arguments/flags.js';
import { report } from '../../../../src/cli/commands/report-command.js';
import { EXIT, UsageError } from '../../../../src/cli/exit.js';
import { createTroupe } from '../../../../src/runtime/troupe.js';
import { MemoryLog } from '../../../support/memory-log.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { ScriptedServer } from '../../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, whenState } from '../../../support/test-troupe.js';
import { makeTerminal } from '../../../support/fake-terminal.js';

useLeakCheck();
const troupes = useTroupes();

let folder: string;
let log: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-replay-'));
  log = join(folder, 'log.jsonl');
  writeFileSync(log, await recorded('files'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function recorded(...names: readonly string[]): Promise<string> {
  const target = new MemoryLog();
  const servers = Object.fromEntries(names.map((name) => [name, inProcess(new ScriptedServer())]));
  const test = troupes.make({ servers, record: target });
  await passTime(test.clock, test.troupe.start());
  await passTime(test.clock, test.troupe.close());
  return target.text;
}

/** A recording of a server that is lost and comes back. */
async function lostOnce(): Promise<string> {
  const target = new MemoryLog();
  const server = new ScriptedServer();
  const test = troupes.make({ servers: { files: inProcess(server) }, record: target });
  await passTime(test.clock, test.troupe.start());
  await server.die();
  await passTime(test.clock, whenState(test, 'files', 'reconnecting'));
  await passTime(test.clock, whenState(test, 'files', 'ready'));
  await passTime(test.clock, test.troupe.close());
  return target.text;
}

/** A recording that was started while its server was up; later the server was lost and came back. */
async function recordedFromTheMiddle(): Promise<string> {
  const target = new MemoryLog();
  const server = new ScriptedServer();
  const test = troupes.make({ servers: { files: inProcess(server) } });
  await passTime(test.clock, test.troupe.start());
  const recording = await test.troupe.record(target);
  await server.die();
  await passTime(test.clock, whenState(test, 'files', 'reconnecting'));
  await passTime(test.clock, whenState(test, 'files', 'ready'));
  await recording.close();
  await passTime(test.clock, test.troupe.close());
  return target.text;
}

async function run(files: readonly string[], flags: Partial<ReplayFlags> = {}) {
  const { terminal, stdout, stderr } = makeTerminal();
  const code = await replay({ ...DEFAULT_FLAGS, ...flags }, terminal, files);
  return { code, stdout: stdout.written, stderr: stderr.written };
}

/** The two last files of a recording that was too long for one file, the older one first. */
async function parts(): Promise<readonly [string, string]> {
  const path = join(folder, 'long.jsonl');
  const troupe = createTroupe({ servers: {}, record: { target: path, maxBytes: 5_000 } });
  await troupe.start();
  for (let count = 0; count < 200; count += 1) {
    troupe.setOnline(count % 2 === 1);
    await Promise.resolve();
  }
  await troupe.close();
  return [`${path}.1`, path];
}

describe('the timeline of troupe replay', () => {
  it('says why the state changed, where a failure changed it.', async () => {
    writeFileSync(log, await lostOnce());
    const { terminal, stdout } = makeTerminal();
    expect(await replay({ ...DEFAULT_FLAGS, timeline: true }, terminal, [log])).toBe(0);
    expect(stdout.written).toMatch(/ready\S* → reconnecting\S*: connection-lost: /);
    expect(stdout.written.match(/→ reconnecting.*connection-lost/g)).toHaveLength(1);
  });
});

describe('a log given to troupe replay', () => {
  it('replays against the machines or the policy of a module.', async () => {
    const lost = join(folder, 'lost.jsonl');
    writeFileSync(lost, await lostOnce());
    const module = join(folder, 'changed.mjs');
    writeFileSync(module, 'export const policy = { maxAttempts: 1, maxAttemptsOnceReady: 1 };');
    expect((await run([lost])).code).toBe(0);
    const { code, stdout } = await run([lost], { against: module });
    expect(code).toBe(1);
    expect(stdout).toContain('failed.exhausted');
  });

  it.each([
    ['is missing', undefined],
    ['holds no machine', 'export const machine = {};'],
    ['throws', "throw new Error('broken')"],
  ])('refuses a module that %s.', async (_, text) => {
    const module = join(folder, 'changed.mjs');
    if (text !== undefined) writeFileSync(module, text);
    await expect(run([log], { against: module })).rejects.toThrow(UsageError);
  });

  it('may be a pipe.', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const [played] = await Promise.all([run([pipe]), writeFile(pipe, readFileSync(log))]);
    expect(played).toMatchObject({ code: 0, stdout: expect.stringContaining('no divergence') });
  });

  it('must not be a pipe if it has to be read twice, and is refused before it is read.', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const flags = { exportFixture: join(folder, 'fixture') };
    await expect(run([pipe], flags)).rejects.toThrow(/pipe'.*--export-fixture/);
    await expect(run([pipe, log])).rejects.toThrow(/pipe'/);
  });

  it('is not read on after a part that was cut off if others follow.', async () => {
    const [older, newer] = await parts();
    expect(await run([newer, older])).toMatchObject({ code: 0, stderr: '' });
    writeFileSync(older, readFileSync(older).subarray(0, -10));
    const { code, stderr } = await run([newer, older]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/long\.jsonl\.1: Line \d+ was cut off\.$/m);
    expect(stderr).toMatch(/long\.jsonl: not replayed, because the part before it is incomplete\.$/m);
  });

  it('is no log if its first line is cut off: nothing is replayed, and the command fails.', async () => {
    const begun = join(folder, 'begun.jsonl');
    writeFileSync(begun, readFileSync(log).subarray(0, 200));
    expect(await run([begun])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('begun.jsonl: Line 1 was cut off.'),
    });
  });

  it.each([
    ['an older', 1],
    ['a newer', 3],
  ])('is not read if it has %s version, and nothing is exported.', async (_, version) => {
    writeFileSync(log, readFileSync(log, 'utf8').replace('"troupeLog":2', `"troupeLog":${version}`));
    expect(await run([log], { exportFixture: join(folder, 'fixture') })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(`version ${version}`),
    });
    expect(readdirSync(folder)).toEqual(['log.jsonl']);
  });

  it('is checked for the server even if its end was cut off.', async () => {
    writeFileSync(log, readFileSync(log).subarray(0, -10));
    const flags = { server: 'nobody', exportFixture: join(folder, 'fixture') };
    await expect(run([log], flags)).rejects.toThrow(/'nobody'.*'files'/);
    expect(readdirSync(folder)).toEqual(['log.jsonl']);
  });

  it('must have a server to export.', async () => {
    writeFileSync(log, `${readFileSync(log, 'utf8').split('\n', 2).join('\n')}\n`);
    await expect(run([log], { exportFixture: join(folder, 'fixture') })).rejects.toThrow(
      'The log has no server to export.',
    );
    expect(readdirSync(folder)).toEqual(['log.jsonl']);
  });
});

describe('the picture of troupe replay', () => {
  it.each([
    ['a folder', '.', /cannot be written: it exists and is not a file/],
    ['a place that does not exist', 'no such folder/a.svg', /a\.svg' cannot be written: ENOENT/],
    ['the log', 'log.jsonl', /log\.jsonl' is the log/],
  ])('is not written to %s.', async (_, place, message) => {
    const before = readFileSync(log, 'utf8');
    const drawn = run([log], { svg: join(folder, place) });
    await expect(drawn).rejects.toThrow(UsageError);
    await expect(drawn).rejects.toThrow(message);
    expect(readFileSync(log, 'utf8')).toBe(before);
    expect(readdirSync(folder)).toEqual(['log.jsonl']);
  });

  it('leaves a pipe or a device unchanged.', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    await expect(run([log], { svg: pipe })).rejects.toThrow(pipe);
    expect(statSync(pipe).isFIFO()).toBe(true);
  });
});

describe('the fixture of troupe replay', () => {
  const written = async (flags: Partial<ReplayFlags> = {}): Promise<readonly string[]> => {
    await run([log], { exportFixture: join(folder, 'fixture'), ...flags });
    return readdirSync(join(folder, 'fixture')).toSorted();
  };

  it.each([
    ['日本 語', '日本-語'],
    ['../x', 'x'],
    ['.hidden', 'hidden'],
    ['-v', 'v'],
    ['?', 'server'],
  ])('has a file name that is visible and is not an option: %s.', async (name, base) => {
    writeFileSync(log, await recorded(name));
    expect(await written()).toEqual([`${base}.jsonl`, `${base}.test.mjs`]);
  });

  it('contains only what was replayed.', async () => {
    const whole = readFileSync(log, 'utf8').trimEnd().split('\n').length;
    const [file = ''] = await written({ at: { entry: 6 }, server: 'files' });
    const left = readFileSync(join(folder, 'fixture', file), 'utf8')
      .trimEnd()
      .split('\n').length;
    expect(left).toBeLessThanOrEqual(7);
    expect(left).toBeLessThan(whole);
  });

  it('leaves nothing behind if its test file already exists.', async () => {
    mkdirSync(join(folder, 'fixture'));
    copyFileSync(log, join(folder, 'fixture', 'files.test.mjs'));
    await expect(written()).rejects.toThrow(/files\.test\.mjs'/);
    expect(readdirSync(join(folder, 'fixture'))).toEqual(['files.test.mjs']);
  });

  it('is not written into a file.', async () => {
    const exported = run([log], { exportFixture: log });
    await expect(exported).rejects.toThrow(UsageError);
    await expect(exported).rejects.toThrow(/log\.jsonl'.*EEXIST/);
  });

  it('starts with the first session that was recorded from its start.', async () => {
    writeFileSync(log, await recordedFromTheMiddle());
    const [, file = ''] = await written();
    expect(readFileSync(join(folder, 'fixture', file), 'utf8')).toContain(
      'RECORDED = ["configuring","launching","handshaking","ready"];',
    );
  });
});

describe('several recordings', () => {
  let second: string;
  beforeEach(async () => {
    second = join(folder, 'second.jsonl');
    writeFileSync(second, await lostOnce());
  });

  it('are replayed each by itself, on one timeline.', async () => {
    const { code, stdout } = await run([second, log, second], { json: true, timeline: true });
    const { runs, timeline } = JSON.parse(stdout) as {
      readonly runs: readonly { readonly label: string; readonly divergenceCount: number }[];
      readonly timeline: readonly { readonly at: number; readonly run: string; readonly server: string }[];
    };
    expect([code, runs.map(({ divergenceCount }) => divergenceCount)]).toEqual([EXIT.fine, [0, 0]]);
    expect(new Set(timeline.map(({ run: label }) => label))).toEqual(new Set(runs.map(({ label }) => label)));
    expect(timeline.map(({ at }) => at)).toEqual(timeline.map(({ at }) => at).toSorted((a, b) => a - b));
    const text = await run([log, second], { timeline: true, server: 'files' });
    for (const { label } of runs) expect(text.stdout).toContain(`(${label})`);
  });

  it('are refused by what needs one, and by a server that none has.', async () => {
    for (const flags of [{ svg: join(folder, 'a.svg') }, { exportFixture: folder }, { at: { entry: 3 } }])
      await expect(run([log, second], flags)).rejects.toThrow(UsageError);
    await expect(run([log, second], { server: 'nobody' })).rejects.toThrow(UsageError);
  });

  it('are in a report, which is replayed as they are.', async () => {
    const file = join(folder, 'report.jsonl.gz');
    const { terminal, stdout } = makeTerminal();
    await report({ ...DEFAULT_FLAGS, output: file, configuration: false }, terminal, [log, second]);
    expect(stdout.written).toContain('second.jsonl');
    const { runs } = JSON.parse((await run([file], { json: true })).stdout) as {
      readonly runs: readonly object[];
    };
    expect(runs).toHaveLength(2);
    await expect(
      report({ ...DEFAULT_FLAGS, output: file, configuration: false }, terminal, [log]),
    ).rejects.toThrow('exists already');
  });
});

describe('a log that is followed', () => {
  it('is replayed as it grows, over a restart, until nobody reads.', async () => {
    const path = join(folder, 'growing.jsonl');
    const { terminal, stdout, stderr, hangUp } = makeTerminal();
    const texts = [await lostOnce(), readFileSync(log, 'utf8')] as const;
    writeFileSync(path, texts[0].slice(0, -100));
    const done = replay({ ...DEFAULT_FLAGS, follow: true }, terminal, [path]);
    await until(() => stdout.written.includes('reconnecting'));
    renameSync(path, `${path}.1`);
    writeFileSync(path, texts[1]);
    await until(() => stderr.written.includes('waiting for the next'));
    hangUp();
    expect(await done).toBe(EXIT.fine);
    expect(stdout.written.match(/no divergence/g)).toHaveLength(2);
  });

  it('is one log, without options that need its end.', async () => {
    await expect(run([log, log], { follow: true })).rejects.toThrow(UsageError);
    await expect(run([log], { follow: true, at: { entry: 1 } })).rejects.toThrow('--at');
    expect(await run([folder], { follow: true }).catch((error: unknown) => error)).toBeInstanceOf(UsageError);
  });
});

/** Looks every few milliseconds: the log is followed on the clock of the system. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
}
