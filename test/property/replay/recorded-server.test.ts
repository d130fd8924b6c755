/** A recorded connection as a server: a test can repeat what happened. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { replay } from '../../../src/cli/recordings/replay-command.js';
import { DEFAULT_FLAGS } from '../../../src/cli/arguments/flags.js';
import { createRecordedServer } from '../../../src/testing/recorded-server.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { makeTerminal } from '../../support/fake-terminal.js';
import { MemoryLog } from '../../support/memory-log.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { runVitest } from '../../support/run-vitest.js';
import { refuse, ScriptedServer, text, tool } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, whenState } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
vi.setConfig({ testTimeout: 60_000 });
const troupes = useTroupes();

const root = fileURLToPath(new URL('../../..', import.meta.url));
const INCIDENTS = readdirSync(join(root, 'test/property/replay/corpus'))
  .filter((file) => file.endsWith('.jsonl'))
  .map((file) => file.replace('.jsonl', ''));
const corpus = (name: string): Buffer =>
  readFileSync(join(root, 'test/property/replay/corpus', `${name}.jsonl`));

/** Plays a recorded connection until it has gone through as many states as the recording. */
async function statesOf(log: string | Uint8Array, name: string) {
  const server = createRecordedServer(log, name);
  const troupe = createTroupe({ servers: { [name]: server.config }, clock: server.clock, seed: 1 });
  const states: string[] = [];
  const done = new Promise<void>((resolve) => {
    troupe.events$.subscribe((event) => {
      if (event.type !== 'connection.state' || event.server !== name) return;
      if (states.at(-1) !== event.to) states.push(event.to);
      if (states.length >= server.states.length) resolve();
    });
  });
  try {
    await troupe.start();
    await done;
  } finally {
    await troupe.close();
  }
  return { states: states.slice(0, server.states.length), server };
}

/** Records a server that is lost after ten minutes and then refuses to initialize. */
async function incident(bodies = false): Promise<string> {
  const log = new MemoryLog();
  const files = new ScriptedServer({
    tools: [tool('read'), tool('write')],
    on: { 'tools/call': () => text('the answer') },
  });
  const test = troupes.make({
    servers: { files: inProcess(files, { policy: { maxAttempts: 2, backoff: [700] } }) },
    record: { target: log, bodies },
  });
  await passTime(test.clock, test.troupe.start());
  await test.troupe.connection('files')?.callTool('read', { path: 'a' });
  await test.clock.advance(600_000);
  files.script = { on: { initialize: refuse(-32_001, 'not today') } };
  await files.die();
  await passTime(test.clock, whenState(test, 'files', 'failed'));
  await passTime(test.clock, test.troupe.close());
  return log.text;
}

describe('a recorded server', () => {
  it('leads the connection through the recorded states, without waiting, on the clock of the recording.', async () => {
    const { states, server } = await statesOf(await incident(), 'files');
    expect(server.states.slice(0, 5)).toEqual([
      'configuring',
      'launching',
      'handshaking',
      'ready',
      'reconnecting',
    ]);
    expect(server.states.at(-1)).toBe('failed');
    expect(states).toEqual(server.states);
    expect(server.played).toBe(server.sessions);
  });

  it.each(INCIDENTS)('plays an incident of the corpus: %s.', async (name) => {
    const { states, server } = await statesOf(corpus(name), 'files');
    expect(server.states.length).toBeGreaterThan(2);
    expect(states).toEqual(server.states);
  });

  it('answers with the recorded messages if there are any.', async () => {
    const server = createRecordedServer(await incident(true), 'files');
    const troupe = createTroupe({ servers: { files: server.config }, clock: server.clock, seed: 1 });
    try {
      await troupe.start();
      expect(troupe.tools.map((each) => each.tool).toSorted()).toEqual(['read', 'write']);
      const outcome = await troupe.connection('files')?.callTool('read', { path: 'a' });
      expect(JSON.stringify(outcome)).toContain('the answer');
    } finally {
      await troupe.close();
    }
  });

  it('works as without messages if they were too long to be recorded.', async () => {
    const record = new MemoryLog();
    const long = 'x'.repeat(300_000);
    const files = new ScriptedServer({
      tools: [{ ...tool('read'), description: long }, tool('write')],
      on: { 'tools/call': () => text(long) },
    });
    const test = troupes.make({
      servers: { files: inProcess(files) },
      record: { target: record, bodies: true },
    });
    await passTime(test.clock, test.troupe.start());
    await test.troupe.connection('files')?.callTool('read', { path: 'a' });
    await passTime(test.clock, test.troupe.close());

    const server = createRecordedServer(record.text, 'files');
    const troupe = createTroupe({ servers: { files: server.config }, clock: server.clock, seed: 1 });
    try {
      expect((await troupe.start()).ready).toEqual(['files']);
      expect(troupe.tools).toHaveLength(2);
      const called = troupe.callTool(troupe.tools[0]?.name ?? '');
      await expect(called).rejects.toMatchObject({ code: 'JSON_RPC_ERROR', rpcCode: -32_601 });
    } finally {
      await troupe.close();
    }
  });

  it('cannot be created for an unknown connection or from a file that is not a log.', async () => {
    expect(() => createRecordedServer(corpus('stdio-plain'), 'nobody')).toThrow(
      "The log has no connection 'nobody'.",
    );
    expect(() => createRecordedServer(Buffer.from('hello\n'), 'files')).toThrow(/Line 1 is not the header/);
  });
});

describe('troupe replay --export-fixture', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-fixture-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function exported(log: string | Uint8Array, server?: string) {
    const file = join(folder, 'log.jsonl');
    writeFileSync(file, log);
    const { terminal, stderr } = makeTerminal();
    const flags = { ...DEFAULT_FLAGS, exportFixture: join(folder, 'fixture') };
    await replay({ ...flags, ...(server !== undefined && { server }) }, terminal, [file]);
    return stderr.written;
  }

  it('writes a test that passes, and that fails if the connection behaves differently.', async () => {
    expect(await exported(await incident())).toMatch(/written: .*files\.test\.mjs/);
    expect(readdirSync(join(folder, 'fixture')).toSorted()).toEqual(['files.jsonl', 'files.test.mjs']);
    expect(await runVitest(join(folder, 'fixture'))).toMatchObject({ code: 0 });
    const test = join(folder, 'fixture', 'files.test.mjs');
    const text = readFileSync(test, 'utf8');
    writeFileSync(test, text.replace('"failed"]', '"ready"]'));
    const { code, output } = await runVitest(join(folder, 'fixture'));
    expect(code).toBe(1);
    expect(output).toContain('"ready"');
  });

  it('writes a test that shows the states even if nothing follows after the last one.', async () => {
    await exported(await incident());
    const test = join(folder, 'fixture', 'files.test.mjs');
    const text = readFileSync(test, 'utf8').replace(/PATIENCE = \d+/, 'PATIENCE = 2000');
    writeFileSync(test, text.replace('"failed"]', '"failed","reconnecting"]'));
    const { code, output } = await runVitest(join(folder, 'fixture'));
    expect(code).toBe(1);
    expect(output).toMatch(/-\s+"reconnecting"/);
  });

  it('requires --server if the log has several connections, and does not overwrite files.', async () => {
    await exported(corpus('exit-at-once'), 'files');
    await expect(exported(corpus('exit-at-once'), 'files')).rejects.toThrow(/exists already/);
    const log = new MemoryLog();
    const servers = { a: inProcess(new ScriptedServer()), b: inProcess(new ScriptedServer()) };
    const test = troupes.make({ servers, record: log });
    await passTime(test.clock, test.troupe.start());
    await passTime(test.clock, test.troupe.close());
    await expect(exported(log.text)).rejects.toThrow(/'a', 'b'.*--server/);
  });
});
