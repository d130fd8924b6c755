/** What the recording of a troupe contains, and that recording does not affect the troupe. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CAUSE_KINDS, type CauseEntry, type LogEntry } from '../../../../src/event-log/format/entry.js';
import { createLogFile } from '../../../../src/event-log/record/file-store.js';
import { replayLog } from '../../../../src/event-log/replay/replay-log.js';
import type { TroupeOptions } from '../../../../src/options.js';
import { createTroupe, type Troupe } from '../../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { recordEvents, type EventRecord } from '../../../support/event-record.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { ScriptedServer, silent, tool } from '../../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, whenState } from '../../../support/test-troupe.js';
import { MemoryLog, readWhole } from '../../../support/memory-log.js';

useLeakCheck();
useCrashWatch();
const troupes = useTroupes();

const PARROT = fileURLToPath(new URL('../../../support/parrot.mjs', import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-log-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const causesOf = (entries: readonly LogEntry[]): CauseEntry[] =>
  entries.filter((entry): entry is CauseEntry => (CAUSE_KINDS as readonly string[]).includes(entry.kind));

const short = ({ kind, to, event }: CauseEntry): string => `${kind} ${to} ${event.type}`;

const files = (): ScriptedServer => new ScriptedServer({ tools: [tool('read')] });

describe('a recorded troupe', () => {
  it('records every cause from the start to the end, addressed by path.', async () => {
    const record = new MemoryLog();
    const test = troupes.make({ servers: { files: inProcess(files()) }, record });
    await test.troupe.start();
    await test.troupe.connection('files')?.restart();
    await passTime(test.clock, test.troupe.close());
    expect(record.isClosed).toBe(true);
    const { header, entries } = record.read();
    expect(header).toMatchObject({ troupeLog: 2, part: 1, firstSeq: 1, seed: 1, startedAt: 1_000_000 });
    expect(header.package.name).toBe('mcp-troupe');
    expect(header.input).toMatchObject({ slotHoldMs: 500 });
    expect(entries[0]).toMatchObject({ kind: 'snapshot', to: '$', state: { phase: 'reading' }, left: 0 });
    // Resources and prompts are requested in parallel to everything else.
    const story = causesOf(entries).map(short);
    expect(story.filter((line) => !line.endsWith('enrichCatalog'))).toEqual([
      'send $ manager.start',
      'settle $/files#1 xstate.done.actor.resolveConfig',
      'settle $/files#1 xstate.done.actor.openTransport',
      'settle $/files#1 xstate.done.actor.handshake',
      'settle $/files#1 xstate.done.actor.readTools',
      'settle $/files#1 xstate.done.actor.adoptTools',
      'send $/files#1 connection.restart',
      'settle $/files#1 xstate.done.actor.drainCalls',
      'settle $/files#1 xstate.done.actor.closeSession',
      'settle $/files#1 xstate.done.actor.resolveConfig',
      'settle $/files#1 xstate.done.actor.openTransport',
      'settle $/files#1 xstate.done.actor.handshake',
      'settle $/files#1 xstate.done.actor.readTools',
      'settle $/files#1 xstate.done.actor.adoptTools',
      'send $ manager.stop',
      'settle $/files#1 xstate.done.actor.drainCalls',
      'settle $/files#1 xstate.done.actor.closeSession',
    ]);
    const froms = causesOf(entries).map(({ from }) => from);
    expect(froms).toContain('$/files#1/openTransport#2');
    expect(causesOf(entries).at(-1)).toMatchObject({
      state: 'stopped',
      derived: [
        {
          to: '$',
          from: '$/files#1',
          event: { type: 'xstate.done.actor.files', output: { reason: 'close' } },
        },
      ],
    });
  });

  it('records what callbacks and timers caused, and which timer it was.', async () => {
    const record = new MemoryLog();
    const server = files();
    const policy = { backoff: [700] };
    const test = troupes.make({ servers: { files: inProcess(server, { policy }) }, record });
    await test.troupe.start();
    for (const _ of [1, 2]) {
      await server.die();
      await whenState(test, 'files', 'reconnecting');
      await passTime(test.clock, whenState(test, 'files', 'ready'));
    }
    await passTime(test.clock, test.troupe.close());
    const causes = causesOf(record.read().entries);
    expect(causes.filter(({ kind }) => kind === 'callback').map(short)).toEqual([
      'callback $/files#1 session.lost',
      'callback $/files#1 session.lost',
    ]);
    const ofFiles = causes.filter(({ kind, to }) => kind === 'timer' && to === '$/files#1');
    const event = { type: 'xstate.after.backoffDelay.connection.reconnecting.backingOff' };
    expect(ofFiles).toMatchObject([{ event }, { event }]);
    const numbers = causes.flatMap(({ timer }) => timer ?? []);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  });

  it('has the same entries in a second recording that starts later, timers included.', async () => {
    const [first, second] = [new MemoryLog(), new MemoryLog()];
    const server = files();
    const policy = { backoff: [700] };
    const test = troupes.make({ servers: { files: inProcess(server, { policy }) }, record: first });
    await test.troupe.start();
    const recording = await test.troupe.record(second);
    await server.die();
    await whenState(test, 'files', 'reconnecting');
    await passTime(test.clock, whenState(test, 'files', 'ready'));
    await passTime(test.clock, recording.close());
    await passTime(test.clock, test.troupe.close());
    const causes = causesOf(second.read().entries);
    expect(causes.filter(({ kind }) => kind === 'timer').length).toBeGreaterThan(0);
    const before = causesOf(first.read().entries);
    const from = before.findIndex(({ event }) => event.type === 'session.lost');
    expect(causes.map(short)).toEqual(before.slice(from, from + causes.length).map(short));
    const report = await replayLog([
      (async function* () {
        yield Buffer.from(second.text);
      })(),
    ]);
    expect(report.divergences).toEqual([]);
  });

  it('numbers the incarnations of a connection.', async () => {
    const record = new MemoryLog();
    const test = troupes.make({ servers: { files: inProcess(files()) }, record });
    await test.troupe.start();
    await passTime(test.clock, test.troupe.connection('files')!.stop());
    await passTime(test.clock, test.troupe.connection('files')!.start());
    await passTime(test.clock, test.troupe.close());
    const addresses = new Set(causesOf(record.read().entries).map(({ to }) => to));
    expect([...addresses]).toEqual(['$', '$/files#1', '$/files#2']);
  });

  it('starts with a snapshot of all machines if the recording starts later, and ends with the recording.', async () => {
    const record = new MemoryLog();
    const test = troupes.make({ servers: { files: inProcess(files()), 'a/b': inProcess(files()) } });
    await test.troupe.start();
    const recording = await test.troupe.record(record);
    await test.troupe.connection('files')?.restart();
    await passTime(test.clock, recording.close());
    await recording.close();
    await test.troupe.connection('files')?.restart();
    const { entries } = record.read();
    expect(entries.slice(0, 3)).toMatchObject([
      { kind: 'snapshot', to: '$', left: 2 },
      { kind: 'snapshot', to: '$/files#1', left: 1, state: { ready: { catalog: 'current' } } },
      { kind: 'snapshot', to: '$/a%2Fb#1', left: 0, context: { name: 'a/b' } },
    ]);
    expect(causesOf(entries).filter(({ event }) => event.type === 'connection.restart')).toHaveLength(1);
  });

  it('records another snapshot after a thousand entries.', async () => {
    const record = new MemoryLog();
    const test = troupes.make({ servers: { files: inProcess(files()) }, record });
    await test.troupe.start();
    await flicker(test.troupe, 1_100);
    await passTime(test.clock, test.troupe.close());
    const { entries } = record.read();
    const snapshots = entries.filter(({ kind }) => kind === 'snapshot');
    expect(snapshots.map(({ seq }) => seq > 1_000)).toEqual([false, true, true]);
  });

  it('records no secret of an entry, even if the server repeats it everywhere.', async () => {
    const secret = 'Xk9-quite-secret-value';
    for (const manner of ['polite', 'refusing']) {
      const record = new MemoryLog();
      const env = { PARROT_KEY: secret };
      const policy = { maxAttempts: 2, backoff: [10] };
      const troupe = createTroupe({
        servers: {
          parrot: { command: process.execPath, args: [PARROT, manner, `--key=\${TOKEN}`], env, policy },
        },
        env: { ...process.env, TOKEN: 'another-secret-value' },
        record,
      });
      await troupe.settled({ signal: AbortSignal.timeout(20_000) });
      await troupe
        .connection('parrot')
        ?.callTool('refuse')
        .catch(() => {});
      await troupe.close();
      expect(record.read().entries.length).toBeGreaterThan(5);
      expect(record.text).not.toContain(secret);
      expect(record.text).not.toContain('another-secret-value');
    }
  });
});

/** Runs on the system clock, because files do not use the controlled one. */
async function recordedIn(
  record: TroupeOptions['record'],
  use: (troupe: Troupe) => Promise<void> = async () => {},
): Promise<EventRecord> {
  const troupe = createTroupe({ servers: { files: inProcess(files()) }, record: record ?? '' });
  const events = recordEvents(troupe.events$);
  await troupe.start({ signal: AbortSignal.timeout(10_000) });
  await use(troupe);
  await troupe.close();
  return events;
}

async function flicker(troupe: Troupe, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    troupe.setOnline(count % 2 === 1);
    await Promise.resolve();
  }
}

describe('a recording in a file', () => {
  it('is readable only by its user, and no file is created for a troupe that is never started.', async () => {
    const path = join(folder, 'session.jsonl');
    await createTroupe({ servers: {}, record: path }).close();
    expect(readdirSync(folder)).toEqual([]);
    await recordedIn(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(causesOf(readWhole(readFileSync(path, 'utf8')).entries).at(-1)).toMatchObject({
      state: 'stopped',
    });
  });

  it('is refused if an option is unknown, before anything is written.', async () => {
    const record = { target: join(folder, 'session.jsonl'), bodeis: true };
    expect(() => createTroupe({ servers: {}, record })).toThrow(/'record'.*'bodeis'.*'bodies'/);
    const troupe = createTroupe({ servers: {} });
    await expect(troupe.record(record)).rejects.toThrow("'bodeis'");
    await troupe.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('never overwrites a file.', async () => {
    const path = join(folder, 'session.jsonl');
    writeFileSync(path, 'an older file');
    await recordedIn(path);
    expect(readdirSync(folder).toSorted()).toEqual(['session.jsonl', 'session.jsonl.1']);
    expect(readFileSync(`${path}.1`, 'utf8')).toBe('an older file');
  });

  it('is refused if the path is a folder, which is not moved.', async () => {
    const path = join(folder, 'logs');
    mkdirSync(path);
    writeFileSync(join(path, 'kept'), '');
    const events = await recordedIn(path);
    expect(readdirSync(folder)).toEqual(['logs']);
    expect(readdirSync(path)).toEqual(['kept']);
    expect(events.of('diagnostic')).toMatchObject([
      { kind: 'record-failed', message: expect.stringMatching(/'.*logs'/) },
    ]);
  });

  it('stays in its folder if the process changes its working directory.', async () => {
    const before = process.cwd();
    process.chdir(folder);
    try {
      const file = createLogFile('session.jsonl');
      process.chdir(before);
      await file.write('a\n');
      await file.rotate?.();
      await file.write('b\n');
      await file.close();
    } finally {
      process.chdir(before);
    }
    expect(readdirSync(folder).toSorted()).toEqual(['session.jsonl', 'session.jsonl.1']);
  });

  it('continues in new files beyond its maximum size, and together they are one log.', async () => {
    const path = join(folder, 'session.jsonl');
    const sink = createLogFile(path, { maxBytes: 50_000, maxOlderBytes: 1e9, maxOlderFiles: 1_000 });
    await recordedIn(sink, (troupe) => flicker(troupe, 2_000));
    const count = readdirSync(folder).length;
    expect(count).toBeGreaterThan(3);
    const numbers = Array.from({ length: count - 1 }, (_, index) => count - 1 - index);
    const files = [...numbers.map((number) => `${path}.${number}`), path];
    const parts = files.map((file) => readWhole(readFileSync(file, 'utf8')));
    expect(parts.map(({ header }) => header.part)).toEqual(parts.map((_, index) => index + 1));
    expect(statSync(`${path}.1`).size).toBeLessThan(80_000);
    for (const [index, part] of parts.slice(1).entries()) {
      expect(part.header.firstSeq).toBe((parts[index]?.entries.at(-1)?.seq ?? 0) + 1);
      expect(part.entries[0]).toMatchObject({ kind: 'snapshot', to: '$' });
    }
    expect((await replayLog(files)).divergences).toEqual([]);
  });

  it.each([
    ['number', { maxOlderFiles: 3 }, ['e', 'd', 'c', 'b']],
    ['total size, except the newest', { maxOlderBytes: 5 }, ['e', 'd', 'c']],
    ['total size of nothing, except the newest', { maxOlderBytes: 0 }, ['e', 'd']],
    ['number of none', { maxOlderFiles: 0 }, ['e']],
  ])('keeps older runs up to a %s.', async (_, limits, kept) => {
    const path = join(folder, 'session.jsonl');
    for (const text of ['a', 'b', 'c', 'd', 'e']) {
      const sink = createLogFile(path, limits);
      await sink.write(`${text}\n`);
      await sink.close();
    }
    const files = [path, ...kept.slice(1).map((_text, index) => `${path}.${index + 1}`)];
    expect(files.map((file) => readFileSync(file, 'utf8').trim())).toEqual(kept);
    expect(readdirSync(folder)).toHaveLength(kept.length);
  });

  it.each([{ maxBytes: 0 }, { maxOlderFiles: -1 }, { maxOlderBytes: 0.5 }])(
    'is refused with %o.',
    (limits) => {
      const record = { target: join(folder, 'session.jsonl'), ...limits };
      expect(() => createTroupe({ servers: {}, record })).toThrow(`'${Object.keys(limits)[0]}'`);
    },
  );

  it('that cannot be created is one diagnostic, and the servers keep running.', async () => {
    const events = await recordedIn(join(folder, 'no such folder', 'session.jsonl'), async (troupe) => {
      expect(troupe.connection('files')?.state).toBe('ready');
    });
    expect(events.of('diagnostic')).toMatchObject([
      { kind: 'record-failed', message: expect.stringContaining('ENOENT') },
    ]);
  });
});

describe('a sink', () => {
  it('that fails in the middle ends the recording, and is closed.', async () => {
    const record = new MemoryLog();
    const test = troupes.make({ servers: { files: inProcess(files()) }, record });
    await test.troupe.start();
    record.broken = new Error('the disk is full');
    await test.troupe.connection('files')?.restart();
    await passTime(test.clock, test.troupe.close());
    expect(record.isClosed).toBe(true);
    expect(test.events.of('diagnostic')).toMatchObject([
      { kind: 'record-failed', message: expect.stringContaining('the disk is full') },
    ]);
  });

  it('that never answers does not block the end.', async () => {
    const record = new MemoryLog();
    record.held = new Promise(() => {});
    const test = troupes.make({ servers: { files: inProcess(files()) }, record });
    await test.troupe.start();
    await passTime(test.clock, test.troupe.close(), 20_000);
    expect(test.events.all.at(-1)).toMatchObject({ type: 'diagnostic', kind: 'record-failed' });
  });

  it('that is invalid is refused with the options.', () => {
    for (const record of ['', 7, {}, { write() {} }, { write() {}, close() {}, rotate: 1 }]) {
      expect(() => createTroupe({ record } as never)).toThrow(/'write' and 'close'/);
    }
  });
});

describe('a troupe that is closed', () => {
  it('is not recorded any more.', async () => {
    const test = troupes.make({
      servers: { deaf: inProcess(new ScriptedServer({ on: { initialize: silent } })) },
    });
    const started = test.troupe.start();
    await passTime(test.clock, test.troupe.close());
    await started;
    await expect(test.troupe.record(new MemoryLog())).rejects.toMatchObject({ code: 'NOT_READY' });
  });
});
