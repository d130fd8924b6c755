/** What the log of a connection contains about its sessions, wherever the log starts and however many parts it has. */
import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../../src/event-log/format/entry.js';
import { recordedConnection } from '../../../src/testing/recorded-sessions.js';
import { MemoryLog } from '../../support/memory-log.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { refuse, ScriptedServer, tool } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, whenState } from '../../support/test-troupe.js';

useLeakCheck();
const troupes = useTroupes();

/** A log that starts a new part, and thus a snapshot, after every entry. */
const inManyParts = (): MemoryLog => new MemoryLog(1);

const entriesOf = (log: MemoryLog): readonly LogEntry[] =>
  log.parts.flatMap((_, part) => log.read(part).entries);

const attempts = { policy: { maxAttempts: 3, backoff: [500] } } as const;

describe('the sessions of a connection that was recorded', () => {
  it('have their own messages, even if a part begins while a session is opened.', async () => {
    const target = inManyParts();
    const server = new ScriptedServer();
    const test = troupes.make({
      servers: { files: inProcess(server, attempts) },
      record: { target, bodies: true },
    });
    await passTime(test.clock, test.troupe.start());
    await server.die();
    await passTime(test.clock, whenState(test, 'files', 'reconnecting'));
    await passTime(test.clock, whenState(test, 'files', 'ready'));
    await passTime(test.clock, test.troupe.close());
    const { sessions } = recordedConnection(entriesOf(target), 'files');
    expect(sessions.map(({ generation }) => generation)).toEqual([1, 2]);
    for (const { answers } of sessions)
      expect(answers.map(({ request }) => request.method)).toEqual(
        expect.arrayContaining(['initialize', 'tools/list']),
      );
  });

  it('do not end in a failure that unrecorded sessions contributed to.', async () => {
    const target = inManyParts();
    const server = new ScriptedServer();
    const test = troupes.make({ servers: { files: inProcess(server, attempts) } });
    await passTime(test.clock, test.troupe.start());
    server.script = { on: { initialize: refuse(-32_001, 'not today') } };
    await server.die();
    await passTime(test.clock, whenState(test, 'files', 'reconnecting'));
    const recording = await test.troupe.record(target);
    await passTime(test.clock, whenState(test, 'files', 'failed'));
    await recording.close();
    await passTime(test.clock, test.troupe.close());
    const { states, sessions } = recordedConnection(entriesOf(target), 'files');
    expect(states[0]).toBe('configuring');
    expect(states).not.toContain('failed');
    expect(sessions.length).toBeGreaterThan(0);
  });

  it('begin with the command of a host if the log begins while another session is open.', async () => {
    const target = new MemoryLog();
    const server = new ScriptedServer();
    const test = troupes.make({ servers: { files: inProcess(server, attempts) } });
    await passTime(test.clock, test.troupe.start());
    const recording = await test.troupe.record(target);
    await passTime(test.clock, test.troupe.connection('files')!.restart());
    await server.die();
    await passTime(test.clock, whenState(test, 'files', 'reconnecting'));
    await passTime(test.clock, whenState(test, 'files', 'ready'));
    await recording.close();
    await passTime(test.clock, test.troupe.close());
    const { states, sessions } = recordedConnection(entriesOf(target), 'files');
    const begin = ['configuring', 'launching', 'handshaking', 'ready'];
    expect(states).toEqual([...begin, 'reconnecting', ...begin]);
    expect(sessions.map(({ generation }) => generation)).toEqual([2, 3]);
  });

  it('begin with the command of a host if the log begins before another session was given up.', async () => {
    const target = new MemoryLog();
    let held: Promise<void> | undefined;
    const server = new ScriptedServer({ beforeConnect: () => held ?? Promise.resolve() });
    const policy = { maxAttempts: 2, backoff: [500], launchTimeoutMs: 1_000 };
    const test = troupes.make({ servers: { files: inProcess(server, { policy }) } });
    await passTime(test.clock, test.troupe.start());
    held = new Promise(() => {});
    await server.die();
    await passTime(test.clock, whenState(test, 'files', 'reconnecting'));
    await passTime(test.clock, whenState(test, 'files', 'launching'));
    const recording = await test.troupe.record(target);
    await passTime(test.clock, whenState(test, 'files', 'failed'));
    held = undefined;
    await passTime(test.clock, test.troupe.connection('files')!.retry());
    await recording.close();
    await passTime(test.clock, test.troupe.close());
    const { states } = recordedConnection(entriesOf(target), 'files');
    expect(states).toEqual(['configuring', 'launching', 'handshaking', 'ready']);
  });

  it('have their own messages, even if an earlier attempt was given up.', async () => {
    const target = new MemoryLog();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const server = new ScriptedServer({ beforeConnect: () => held });
    const test = troupes.make({
      servers: { files: inProcess(server, attempts) },
      record: { target, bodies: true },
    });
    const started = test.troupe.start();
    await test.clock.advance(0);
    await passTime(test.clock, whenState(test, 'files', 'launching'));
    await test.clock.advance(100);
    expect(server.sessions).toBe(1);
    const again = test.troupe.connection('files')!.restart();
    release();
    await passTime(test.clock, Promise.all([started, again, whenState(test, 'files', 'ready')]));
    await passTime(test.clock, test.troupe.close());
    const { sessions } = recordedConnection(entriesOf(target), 'files');
    expect(sessions.map(({ generation }) => generation)).toEqual([2]);
    expect(sessions[0]?.answers.map(({ request }) => request.method)).toEqual(
      expect.arrayContaining(['initialize', 'tools/list']),
    );
  });

  it('have their own messages, even if the server was removed and added again.', async () => {
    const target = new MemoryLog();
    const entryWith = (name: string) => inProcess(new ScriptedServer({ tools: [tool(name)] }), attempts);
    const test = troupes.make({ servers: { files: entryWith('old') }, record: { target, bodies: true } });
    await passTime(test.clock, test.troupe.start());
    await passTime(test.clock, test.troupe.reload({}));
    await passTime(test.clock, test.troupe.reload({ files: entryWith('new') }));
    await passTime(test.clock, whenState(test, 'files', 'ready'));
    await passTime(test.clock, test.troupe.close());
    const { sessions } = recordedConnection(entriesOf(target), 'files');
    const listed = sessions.map(({ answers }) => answers.map(({ reply }) => reply?.['result']));
    expect(listed).toEqual([
      [expect.anything(), { tools: [expect.objectContaining({ name: 'old' })] }],
      [expect.anything(), { tools: [expect.objectContaining({ name: 'new' })] }],
    ]);
  });

  it('count as recorded without messages after a gap that may contain the answer.', async () => {
    const target = new MemoryLog();
    const test = troupes.make({
      servers: { files: inProcess(new ScriptedServer(), attempts) },
      record: { target, bodies: true },
    });
    await passTime(test.clock, test.troupe.start());
    await passTime(test.clock, test.troupe.close());
    const all = entriesOf(target);
    const listed = all.findLast((entry) => entry.kind === 'note' && entry.note['direction'] === 'received');
    const leftOut = all.map((entry) =>
      entry.kind === 'note' && entry === listed
        ? { ...entry, note: { type: 'gap.notes', leftOut: 1 } }
        : entry,
    );
    const [session] = recordedConnection(leftOut, 'files').sessions;
    expect(session?.answers.map(({ request }) => request.method)).toEqual(['initialize']);
    expect(session?.tools).toHaveLength(1);
  });

  it('end at a gap in the log.', async () => {
    const target = new MemoryLog();
    const initialize = ({ protocolVersion }: Readonly<Record<string, unknown>>) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'talkative', version: '1' },
      instructions: 'x'.repeat(6 * 1_024 * 1_024),
    });
    const server = new ScriptedServer({ on: { initialize } });
    const test = troupes.make({ servers: { files: inProcess(server, attempts) }, record: { target } });
    await passTime(test.clock, test.troupe.start());
    await server.die();
    await passTime(test.clock, whenState(test, 'files', 'reconnecting'));
    await passTime(test.clock, whenState(test, 'files', 'ready'));
    await passTime(test.clock, test.troupe.close());
    const { states, sessions } = recordedConnection(entriesOf(target), 'files');
    expect(states).toEqual(['configuring', 'launching', 'handshaking']);
    expect(sessions).toHaveLength(1);
    expect(sessions[0]?.lost).toBeUndefined();
  });
});
