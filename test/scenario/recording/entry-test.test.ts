/** A test that leads to an entry of a recording, as the page copies it: it runs, and it notices what differs. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInThisContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../../src/event-log/format/entry.js';
import { entryTest } from '../../../src/fixtures/entry-test.js';
import { isAbout } from '../../../src/fixtures/fixture-log.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { tool } from '../../../src/testing/ordinary-answers.js';
import { createRecordedServer } from '../../../src/testing/recorded-server.js';
import { createScriptedServer, ScriptedServer } from '../../../src/testing/scripted-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { MemoryLog } from '../../support/memory-log.js';
import { runVitest } from '../../support/run-vitest.js';
import { bookOf } from '../../support/sample-book.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

useLeakCheck();
const troupes = useTroupes();

const CORPUS = fileURLToPath(new URL('../../property/replay/corpus', import.meta.url));
const INCIDENTS = readdirSync(CORPUS).filter((file) => file.endsWith('.jsonl'));
const corpus = (file: string): string => readFileSync(join(CORPUS, file), 'utf8');

/** The test that leads to the entry at that position. */
function testAt(log: string, position: number, name = 'files') {
  const book = bookOf(log);
  const entries = Array.from({ length: position + 1 }, (_, at) => book.entry(at)!);
  return entryTest({
    header: book.header!,
    entries: entries.filter((entry) => isAbout(entry, name)),
    name,
    folded: [...book.foldedStates(position)].findLast(([address]) => address.startsWith(`$/${name}#`))?.[1],
    writer: 'a test',
  });
}

/** Runs the text without a test runner: what it imports is given to it. */
async function run(text: string): Promise<void> {
  const tests: (() => Promise<void>)[] = [];
  const given = {
    createTroupe,
    createRecordedServer,
    createScriptedServer,
    tool,
    expect,
    it: (_: string, body: () => Promise<void>) => tests.push(body),
  };
  const body = text.replaceAll(/^import .*$/gm, '');
  const call = runInThisContext(`(${Object.keys(given).join()}) => {${body}\n}`) as (
    ...all: unknown[]
  ) => void;
  call(...Object.values(given));
  expect(tests).toHaveLength(1);
  await tests[0]!();
}

type Fits = (entry: LogEntry) => boolean;

const isEvent =
  (type: string): Fits =>
  (entry) =>
    'event' in entry && entry.event.type === type && entry.to.startsWith('$/files#');
const isNote =
  (type: string, fields: object = {}): Fits =>
  (entry) =>
    entry.kind === 'note' && entry.note.type === type && isPartOf(fields, entry.note);

const isPartOf = (part: object, whole: object): boolean =>
  Object.entries(part).every(([name, value]) => (whole as Record<string, unknown>)[name] === value);

/** The text of the test for the last such entry. */
function textAt(log: string, fits: Fits): string {
  const book = bookOf(log);
  const position = Array.from({ length: book.length }, (_, at) => at).findLast((at) => fits(book.entry(at)!));
  const test = testAt(log, position ?? -1);
  if ('why' in test) throw new Error(test.why);
  return test.text;
}

/** A recorded server that changes its tools, and whose calls fail in several ways. */
async function callLog(bodies: boolean): Promise<string> {
  const log = new MemoryLog();
  const files = new ScriptedServer({
    tools: [tool('read')],
    on: { 'tools/call': [{ error: { code: -32_000, message: 'no disk' } }, { fault: 'silent' }] },
  });
  const { troupe, clock } = troupes.make({
    servers: { files: inProcess(files) },
    record: { target: log, bodies },
  });
  await passTime(clock, troupe.start());
  files.changeTools([tool('read'), tool('write')]);
  await clock.advance(1_000);
  for (const path of ['a', 'b']) {
    const called = troupe.connection('files')!.callTool('read', { path }, { timeoutMs: 5_000 });
    await passTime(clock, called).catch(() => {});
  }
  await passTime(clock, troupe.close());
  return log.text;
}

/** Each kind of entry, with a part of its test and what the test must notice. */
const KINDS = {
  'a crash': {
    log: async () => corpus('dies-in-a-call.jsonl'),
    fits: isEvent('session.lost'),
    wrong: ['"error":"process-exited"', '"error":"timeout"'],
  },
  'a refused handshake': {
    log: async () => corpus('init-future-version.jsonl'),
    fits: isEvent('xstate.error.actor.handshake'),
    wrong: ['"failed"]', '"ready"]'],
  },
  'changed tools': {
    log: () => callLog(false),
    fits: isEvent('xstate.done.actor.adoptRefreshed'),
    wrong: ['"tools":2', '"tools":3'],
  },
  'a failed call': {
    log: () => callLog(false),
    fits: isNote('call.finished', { outcome: 'server-error' }),
    wrong: ['outcome: "server-error"', 'outcome: "answered"'],
  },
  'a failed call with its messages': {
    log: () => callLog(true),
    fits: isNote('call.finished', { outcome: 'server-error' }),
    wrong: ['{"path":"a"}', '{"path":"c"}'],
  },
  'a silent call': {
    log: () => callLog(false),
    fits: isNote('call.finished', { outcome: 'timed-out' }),
    wrong: ['"fault":"silent"', '"afterMs":0'],
  },
} as const;

describe('the test of an entry', () => {
  it.each(Object.entries(KINDS))('passes for %s, and fails if it differs.', async (_, kind) => {
    const { log, fits, wrong } = kind;
    const text = textAt(await log(), fits);
    await run(text);
    const [is, was] = wrong;
    expect(text).toContain(is);
    await expect(run(hasty(text.replaceAll(is, was)))).rejects.toThrow(/expected/);
  });

  it.each(INCIDENTS)('passes for any entry of an incident: %s.', async (file) => {
    const log = corpus(file);
    const { length } = bookOf(log);
    let count = 0;
    for (let position = 1; position < length; position += 7) {
      const test = testAt(log, position);
      if ('why' in test) continue;
      await run(test.text);
      count += 1;
    }
    expect(count).toBeGreaterThan(0);
  });

  it('says if it ends before the entry, because a server cannot cause what follows.', () => {
    const log = corpus('host-restarts.jsonl');
    expect(testAt(log, bookOf(log).length - 1)).toMatchObject({ isWhole: false });
  });

  it('is refused if the recording begins too late, or the host ended the call.', async () => {
    expect(testAt(corpus('stdio-plain.jsonl'), 0)).toEqual({ why: expect.stringContaining('begins after') });
    const log = corpus('dies-in-a-call.jsonl').replace('outcome":"outcome-unknown', 'outcome":"aborted');
    expect(() => textAt(log, isNote('call.finished', { outcome: 'aborted' }))).toThrow(/itself/);
  });

  it('holds what the log says only as literals.', async () => {
    const name = "x'; process.exit(3); `${1}";
    const log = corpus('exit-at-once.jsonl').replaceAll('files', () => name);
    const position = bookOf(log).length - 1;
    const test = testAt(log, position, name);
    const text = 'text' in test ? test.text : '';
    for (const line of text.split('\n').filter((each) => each.includes('process.exit')))
      expect(line).toMatch(/^(?:const (?:NAME|SERVER) = ".*";|it\(".*", async \(\) => \{| {2}".*",)$/);
    await run(text);
  });
});

describe('the copied texts', () => {
  it('run as files of vitest.', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-entry-'));
    try {
      for (const [index, { log, fits }] of Object.values(KINDS).entries())
        writeFileSync(join(folder, `kind-${index}.test.mjs`), textAt(await log(), fits));
      const { code, output } = await runVitest(folder);
      expect(output).toContain(`${Object.keys(KINDS).length} passed`);
      expect(code).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 60_000);
});

/** The same test, which gives up soon. */
function hasty(text: string): string {
  return text.replace(/PATIENCE = \d+/, 'PATIENCE = 200');
}
