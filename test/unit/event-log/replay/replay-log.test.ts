/** What the replay of a log with real effects reports, and what it reports for a log that was modified. */
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replay, type ReplayFlags } from '../../../../src/cli/recordings/replay-command.js';
import { UsageError } from '../../../../src/cli/exit.js';
import { DEFAULT_FLAGS } from '../../../../src/cli/arguments/flags.js';
import { openBytes } from '../../../../src/event-log/replay/open-log.js';
import { replayLog, type ReplayReport } from '../../../../src/event-log/replay/replay-log.js';
import type { StateChange } from '../../../../src/event-log/replay/summary.js';
import { makeTerminal } from '../../../support/fake-terminal.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { refuse, ScriptedServer, tool } from '../../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, whenState } from '../../../support/test-troupe.js';
import { MemoryLog } from '../../../support/memory-log.js';
import { SAMPLE_ENTRIES, SAMPLE_HEADER } from '../../../support/sample-log.js';

useLeakCheck();
useCrashWatch();
const troupes = useTroupes();

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

const play = (text: string, options = {}): Promise<ReplayReport> => replayLog(bytesOf(text), options);

/** One server that is lost once and then gets an unexpected command, and one that never starts. */
async function incident(): Promise<string> {
  const record = new MemoryLog();
  const files = new ScriptedServer({ tools: [tool('read')] });
  const broken = new ScriptedServer({ on: { initialize: refuse(-1, 'no way') } });
  const policy = { maxAttempts: 2, backoff: [700] };
  const test = troupes.make({
    servers: { files: inProcess(files, { policy }), broken: inProcess(broken, { policy }) },
    record,
  });
  await passTime(test.clock, test.troupe.start());
  await passTime(test.clock, test.troupe.settled());
  await files.die();
  await whenState(test, 'files', 'reconnecting');
  await passTime(test.clock, whenState(test, 'files', 'ready'));
  await test.troupe
    .connection('files')
    ?.retry()
    .catch(() => {});
  await test.clock.advance(5_000);
  await passTime(test.clock, test.troupe.close());
  return record.text;
}

const MIB = 1_024 * 1_024;

/** The recording of a server with instructions of that length, and the diagnostics of the recording. */
async function talkative(
  length: number,
): Promise<{ readonly text: string; readonly problems: readonly string[] }> {
  const record = new MemoryLog();
  const initialize = ({ protocolVersion }: Readonly<Record<string, unknown>>) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'talkative', version: '1' },
    instructions: 'x'.repeat(length),
  });
  const files = new ScriptedServer({ tools: [tool('read')], on: { initialize } });
  const test = troupes.make({ servers: { files: inProcess(files) }, record });
  const problems: string[] = [];
  test.troupe.events$.subscribe((event) => {
    if (event.type === 'diagnostic' && event.kind === 'record-failed') problems.push(event.message);
  });
  await passTime(test.clock, test.troupe.start());
  await test.clock.advance(5_000);
  await passTime(test.clock, test.troupe.close());
  return { text: record.text, problems };
}

const lines = (text: string): string[] => text.trimEnd().split('\n');
const joined = (all: readonly string[]): string => all.map((line) => `${line}\n`).join('');

describe('a log of real effects', () => {
  it('is replayed, with the history of each connection.', async () => {
    const report = await play(await incident());
    expect(report).toMatchObject({
      problem: undefined,
      divergences: [],
      divergenceCount: 0,
      whyNoRerun: undefined,
      hasOtherCharts: false,
    });
    const { files, broken } = Object.fromEntries(report.connections);
    expect(files).toMatchObject({
      state: 'stopped',
      generation: 2,
      attempts: 2,
      failureCodes: { 'connection-lost': 1 },
      rejected: [{ event: 'connection.retry', state: expect.stringMatching(/^ready/) }],
    });
    expect(files?.states['ready']).toBeGreaterThanOrEqual(5_000);
    expect(broken).toMatchObject({ attempts: 2, failureCodes: { 'server-error': 2 } });
  });

  it('can be read if an entry had no name and was refused.', async () => {
    const record = new MemoryLog();
    const servers = { '': inProcess(new ScriptedServer()), files: inProcess(new ScriptedServer()) };
    const test = troupes.make({ servers, record });
    await passTime(test.clock, test.troupe.start());
    await passTime(test.clock, test.troupe.close());
    const report = await play(record.text);
    expect(report).toMatchObject({ problem: undefined, divergences: [], whyNoRerun: undefined });
    expect(report.connections.get('')?.failureCodes).toEqual({ 'config-invalid': 1 });
    expect(report.connections.get('files')?.attempts).toBe(1);
  });

  it('has a change for a server that was removed and added again, as an opened log does.', async () => {
    const record = new MemoryLog();
    const server = inProcess(new ScriptedServer());
    const test = troupes.make({ servers: { files: server }, record });
    await passTime(test.clock, test.troupe.start());
    await passTime(test.clock, test.troupe.remove('files'));
    await passTime(test.clock, test.troupe.add('files', server));
    await passTime(test.clock, whenState(test, 'files', 'ready'));
    await passTime(test.clock, test.troupe.close());
    const changes: StateChange[] = [];
    await play(record.text, { changed: (change: StateChange) => changes.push(change) });
    expect(changes.filter(({ from }) => from === null)).toHaveLength(2);
    expect(changes).toEqual([...openBytes(Buffer.from(record.text)).changes()]);
  });

  it('does not diverge if entries were omitted during the recording.', async () => {
    const report = await play((await talkative(6 * MIB)).text);
    expect(report).toMatchObject({ problem: undefined, divergences: [], isEnded: true });
    expect(report.whyNoRerun).toBeDefined();
    expect(report.connections.get('files')?.state).toBe('stopped');
  });

  it('ends at a machine whose snapshot is too long for a line, which is reported, and can be read up to there.', async () => {
    const { text, problems } = await talkative(17 * MIB);
    expect(problems).toEqual([expect.stringContaining("'$/files#1'")]);
    const report = await play(text);
    expect(report.divergences).toEqual([]);
    expect(report.problem?.code).toBe('truncated');
  });

  it('can be replayed up to an entry, with the states at that point.', async () => {
    const text = await incident();
    const changes: StateChange[] = [];
    await play(text, { changed: (change: StateChange) => changes.push(change) });
    const first = changes.find(({ server, to }) => server === 'files' && to.startsWith('ready'))!;
    const report = await play(text, { isBeyond: ({ seq }: { seq: number }) => seq > first.entry });
    expect(report.entries).toBe(first.entry);
    expect(report.connections.get('files')?.state).toBe(first.to);
    expect(report.divergences).toEqual([]);
  });

  it('of other charts is replayed anyway, and the difference is reported.', async () => {
    const [header = '', ...rest] = lines(await incident());
    const older = JSON.stringify({ ...JSON.parse(header), machines: { connection: 'a', manager: 'b' } });
    const report = await play(joined([older, ...rest]));
    expect(report.hasOtherCharts).toBe(true);
    expect([...report.connections.keys()].toSorted()).toEqual(['broken', 'files']);
  });

  it('diverges with the entry, the actor, the event and both states.', async () => {
    const all = lines(await incident());
    const at = all.findIndex((line) => line.includes('"type":"session.lost"'));
    all[at] = all[at]!.replace('"state":{"reconnecting":"releasing"}', '"state":"failed"');
    const { divergences } = await play(joined(all));
    expect(divergences[0]).toMatchObject({
      entry: at,
      actor: '$/files#1',
      event: 'session.lost',
      expected: 'failed',
      found: { reconnecting: 'releasing' },
      message: expect.stringMatching(/reconnecting\.releasing.*failed/),
    });
  });

  it('may contain values that no machine has sent, such as an error whose message is not a string.', async () => {
    const nonsense = { toString: null };
    const [header, before, started, settled, ...rest] = [SAMPLE_HEADER, ...SAMPLE_ENTRIES];
    const event = { type: 'xstate.error.actor.resolveConfig', error: { $error: { message: nonsense } } };
    const note = { type: 'connection.rejected', server: nonsense, event: nonsense, state: nonsense };
    const rejection = { seq: 7, at: 1_000_006, kind: 'note', note, check: '0f' };
    const lines = [header, before, started, { ...settled, event }, ...rest, rejection];
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const opened = openBytes(Buffer.from(text));
    expect(opened.problem).toBeUndefined();
    expect(opened.at(opened.last).machines.size).toBeGreaterThan(0);
    const { problem, entries } = await play(text);
    expect({ problem, entries }).toEqual({ problem: undefined, entries: 7 });
  });

  it('diverges with the fields of a context that differ from a snapshot.', async () => {
    const record = new MemoryLog();
    const test = troupes.make({ servers: { files: inProcess(new ScriptedServer()) }, record });
    await passTime(test.clock, test.troupe.start());
    for (let count = 0; count < 1_100; count += 1) {
      test.troupe.setOnline(count % 2 === 1);
      await Promise.resolve();
    }
    await passTime(test.clock, test.troupe.close());
    const all = lines(record.text);
    const at = all.findLastIndex((line) => line.includes('"kind":"snapshot","to":"$/files#1"'));
    all[at] = all[at]!.replace('"unasked":false', '"unasked":true');
    const { divergences } = await play(joined(all));
    expect(divergences.map(({ actor, context }) => [actor, context])).toContainEqual([
      '$/files#1',
      [{ field: 'unasked', expected: true, found: false }],
    ]);
  });
});

describe('troupe replay', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-replay-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function run(text: string, flags: Partial<ReplayFlags> = {}) {
    const file = join(folder, 'log.jsonl');
    writeFileSync(file, text);
    const { terminal, stdout, stderr } = makeTerminal();
    const code = await replay({ ...DEFAULT_FLAGS, ...flags }, terminal, [file]);
    return { code, stdout: stdout.written, stderr: stderr.written };
  }

  it('reports what happened in a few lines per connection, and that the replay matched.', async () => {
    const { code, stdout, stderr } = await run(await incident());
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^files {2}stopped, 2 attempts, session 2$/m);
    expect(stdout).toMatch(/^ {4}configuring .*, ready \d+\.\d s/m);
    expect(stdout).toMatch(/^ {4}failures: server-error × 2$/m);
    expect(stdout).toMatch(/^ {4}rejected: connection\.retry while ready.* \(entry \d+\)$/m);
    expect(stdout).toMatch(/^\d+ entries replayed by the actors and by the fold; no divergence$/m);
  });

  it('reports only one connection with --server, and every change of its state with --timeline.', async () => {
    const { code, stdout } = await run(await incident(), { server: 'files', timeline: true });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ +\+0\.000s {2}#2 +files {2}configuring\.resolving$/m);
    expect(stdout).toMatch(/files {2}configuring\.resolving → launching\.opening$/m);
    expect(stdout).not.toContain('broken');
    await expect(run(await incident(), { server: 'nobody' })).rejects.toThrow(UsageError);
  });

  it('prints JSON with --json, even if nothing could be read.', async () => {
    const report = JSON.parse((await run(await incident(), { json: true })).stdout);
    expect(report).toMatchObject({
      connections: { files: { state: 'stopped' } },
      divergences: [],
      problem: null,
    });
    const { code, stdout } = await run('hello\n', { json: true });
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ entries: 0, problem: { code: 'not-a-log', line: 1 } });
  });

  it('fails with 1 if the replay diverges, and shows where.', async () => {
    const { code, stdout } = await run(
      (await incident()).replace('"state":{"reconnecting":"releasing"}', '"state":"failed"'),
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✗ Entry \d+, \$\/\w+#1: .*reconnecting\.releasing.*failed/m);
    expect(stdout).toMatch(/; \d+ divergences?$/m);
  });

  it('fails with 2 if the log is damaged, and still reports what comes before.', async () => {
    const all = lines(await incident());
    const { code, stdout, stderr } = await run(joined([...all.slice(0, 8), 'garbage', ...all.slice(8)]));
    expect(code).toBe(2);
    expect(stderr).toMatch(/log\.jsonl: Line 9 /);
    expect(stdout).toMatch(/^7 entries replayed/m);
  });

  it('accepts a log that was cut off, and reports it.', async () => {
    const { code, stderr } = await run((await incident()).slice(0, -20));
    expect(code).toBe(0);
    expect(stderr).toMatch(/Line \d+ /);
  });

  it('reports a missing end, unless the replay stops before it.', async () => {
    const text = joined(lines(await incident()).slice(0, -2));
    const { code, stderr } = await run(text);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^troupe: .*log\.jsonl: .*end/m);
    expect(JSON.parse((await run(text, { json: true })).stdout)).toMatchObject({ isEnded: false });
    expect((await run(text, { at: { entry: 3 } })).stderr).toBe('');
  });

  it('reports a stop that is before the log, or after it.', async () => {
    const text = await incident();
    const [header, first] = lines(text).map((line) => JSON.parse(line));
    const last = JSON.parse(lines(text).at(-1)!);
    for (const at of [{ entry: 0 }, { time: () => header.startedAt - 1 }])
      await expect(run(text, { at })).rejects.toThrow(`entry 1 at ${new Date(first.at).toISOString()}`);
    const end = `entry ${last.seq} at ${new Date(last.at).toISOString()}`;
    for (const at of [{ entry: last.seq + 1 }, { time: () => last.at + 1 }]) {
      const { code, stderr } = await run(text, { at });
      expect([code, stderr]).toEqual([0, expect.stringContaining(end)]);
    }
    for (const at of [{ entry: last.seq }, { time: () => last.at }])
      expect((await run(text, { at })).stderr).toBe('');
  });

  it('reports a missing file or a folder.', async () => {
    const { terminal } = makeTerminal();
    const missing = join(folder, 'nothing');
    await expect(replay(DEFAULT_FLAGS, terminal, [missing])).rejects.toThrow(`'${missing}'`);
    await expect(replay(DEFAULT_FLAGS, terminal, [folder])).rejects.toThrow(/folder/);
  });
});
