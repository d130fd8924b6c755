/** What is recorded of the messages of a session with `wire` or `bodies`. */
import { describe, expect, it } from 'vitest';
import type { NoteEntry } from '../../../../src/event-log/format/entry.js';
import { maskBody } from '../../../../src/secrets/mask-body.js';
import { replayLog } from '../../../../src/event-log/replay/replay-log.js';
import type { RecordOptions } from '../../../../src/event-log/record/record-options.js';
import { Wire } from '../../../../src/event-log/record/wire-tap.js';
import { createMask } from '../../../../src/secrets/secrets.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { ScriptedServer, text, tool } from '../../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../../support/test-troupe.js';
import { MemoryLog } from '../../../support/memory-log.js';

useLeakCheck();
useCrashWatch();
const troupes = useTroupes();

type Note = NoteEntry['note'];

async function* bytesOf(log: MemoryLog): AsyncGenerator<Uint8Array> {
  yield Buffer.from(log.text);
}

async function recorded(options: Omit<RecordOptions, 'target'>) {
  const log = new MemoryLog();
  const server = new ScriptedServer({
    tools: [tool('read')],
    on: { 'tools/call': () => text('the answer') },
  });
  const test = troupes.make({ servers: { files: inProcess(server) }, record: { target: log, ...options } });
  await passTime(test.clock, test.troupe.start());
  await test.troupe.connection('files')?.callTool('read', { path: 'a.txt', apiKey: 'hunter22' });
  await passTime(test.clock, test.troupe.close());
  const wire = log
    .read()
    .entries.flatMap((entry) => (entry.kind === 'note' && entry.note.type === 'wire' ? [entry.note] : []));
  return { log, wire };
}

describe('a recording of the wire', () => {
  it('contains direction, method, id, size and time of every message, but not its contents.', async () => {
    const { log, wire } = await recorded({ wire: true });
    const call = wire.filter(({ method }) => method === 'tools/call');
    expect(call).toEqual([
      {
        type: 'wire',
        server: 'files',
        generation: 1,
        direction: 'sent',
        method: 'tools/call',
        id: expect.any(Number),
        bytes: expect.any(Number),
      },
      {
        type: 'wire',
        server: 'files',
        generation: 1,
        direction: 'received',
        method: 'tools/call',
        id: call[0]?.['id'],
        bytes: expect.any(Number),
        ms: 0,
      },
    ]);
    expect(wire.map(({ method }) => method)).toContain('initialize');
    expect(log.text).not.toContain('the answer');
    const report = await replayLog(bytesOf(log));
    expect(report).toMatchObject({ divergences: [], problem: undefined });
  });

  it('contains the messages with `bodies`, without secrets by their names.', async () => {
    const { log, wire } = await recorded({ bodies: true });
    const [sent, received] = wire.filter(({ method }) => method === 'tools/call');
    expect(sent).toMatchObject({
      body: { params: { name: 'read', arguments: { path: 'a.txt', apiKey: '***' } } },
    });
    expect(received).toMatchObject({ body: { result: { content: [{ type: 'text', text: 'the answer' }] } } });
    expect(log.text).not.toContain('hunter22');
    expect((await replayLog(bytesOf(log))).divergences).toEqual([]);
  });

  it('does not exist without the option.', async () => {
    expect((await recorded({})).wire).toEqual([]);
  });

  it('is refused with invalid options.', async () => {
    const { troupe } = troupes.make();
    for (const record of [{ target: 7 }, { target: 'a', wire: 'yes' }, { target: 'a', maxBytes: 0 }])
      await expect(troupe.record(record as never)).rejects.toMatchObject({ code: 'CONFIG_ERROR' });
  });
});

describe('the wire', () => {
  const key = { name: 'files', generation: 3 };

  it('skips messages that are not JSON, and notes nothing after the listener has left.', () => {
    const notes: Note[] = [];
    const wire = new Wire({ now: () => 5 }, () => (value) => value);
    const ear = wire.ear(key);
    ear('sent', { method: 'before', id: 1 });
    const silence = wire.listen({ bodies: false, note: (note) => notes.push(note) });
    const circular: Record<string, unknown> = { method: 'odd' };
    circular['self'] = circular;
    ear('sent', circular);
    ear('sent', { method: 'odd', id: 1, params: { big: 1n } });
    ear('received', { method: 'notify' });
    silence();
    ear('received', { method: 'after' });
    expect(notes).toMatchObject([{ method: 'notify', id: null, direction: 'received' }]);
  });

  it('notes the response time in both directions, and does not confuse their ids.', () => {
    const notes: Note[] = [];
    let now = 0;
    const wire = new Wire({ now: () => now }, () => (value) => value);
    wire.listen({ bodies: false, note: (note) => notes.push(note) });
    const ear = wire.ear(key);
    ear('sent', { method: 'a', id: 1 });
    now = 10;
    ear('received', { method: 'b', id: 1 });
    now = 30;
    ear('received', { id: 1, result: {} });
    now = 35;
    ear('sent', { id: 1, result: {} });
    ear('sent', { id: 1, result: {} });
    expect(notes.map(({ method, ms }) => [method, ms])).toEqual([
      ['a', undefined],
      ['b', undefined],
      ['a', 30],
      ['b', 25],
      [null, undefined],
    ]);
  });

  it('masks a value that had the name of a secret everywhere in that session.', () => {
    const bodies: unknown[] = [];
    const wire = new Wire({ now: () => 0 }, () => (value) => value);
    wire.listen({ bodies: true, note: ({ body }) => bodies.push(body) });
    const ear = wire.ear(key);
    ear('sent', { method: 'call', id: 1, params: { password: 'hunter22', note: 'with hunter22' } });
    ear('received', { id: 1, result: { text: '{"password":"hunter22"}' } });
    expect(JSON.stringify(bodies)).not.toContain('hunter22');
  });

  it('remembers the latest secrets, however many there were.', () => {
    const bodies: unknown[] = [];
    const wire = new Wire({ now: () => 0 }, () => (value) => value);
    wire.listen({ bodies: true, note: ({ body }) => bodies.push(body) });
    const ear = wire.ear(key);
    for (let id = 0; id < 300; id += 1)
      ear('sent', { method: 'call', id, params: { apiKey: `hunter-${id}-` } });
    ear('received', { id: 299, result: { text: 'it is hunter-299-' } });
    expect(bodies.at(-1)).toEqual({ id: 299, result: { text: 'it is ***' } });
  });

  it('masks a secret in the name of a method or an id.', () => {
    const notes: Note[] = [];
    const wire = new Wire({ now: () => 0 }, () => createMask(['hunter22']));
    wire.listen({ bodies: false, note: (note) => notes.push(note) });
    wire.ear(key)('received', { method: 'notifications/hunter22', id: 'of hunter22' });
    wire.ear(key)('sent', { id: 'of hunter22', result: {} });
    expect(JSON.stringify(notes)).not.toContain('hunter22');
    expect(notes[0]).toMatchObject({ id: expect.stringMatching(/^of /), direction: 'received' });
  });

  it('omits a body that is too long.', () => {
    const notes: Note[] = [];
    const wire = new Wire({ now: () => 0 }, () => (value) => value);
    wire.listen({ bodies: true, note: (note) => notes.push(note) });
    wire.ear(key)('received', { method: 'long', params: { pad: 'x'.repeat(300_000) } });
    expect(notes).toMatchObject([{ body: null, bytes: expect.any(Number) }]);
  });
});

describe('a recorded message', () => {
  it.each([
    [{ password: 'abc' }, { password: '***' }],
    [{ api_key: 12345 }, { api_key: '***' }],
    [{ nested: [{ accessToken: 'abc' }] }, { nested: [{ accessToken: '***' }] }],
    [{ text: 'use Bearer abcdefgh12345 now' }, { text: 'use *** now' }],
    [{ text: 'key ghp_abcdefghijklmnopqrst' }, { text: 'key ***' }],
    [{ url: 'https://me:pass@host/a' }, { url: 'https://***@host/a' }],
    [{ text: 'the known one' }, { text: 'the ***' }],
    [{ passwords: ['abc', 'def'] }, { passwords: ['***', '***'] }],
    [{ text: '{"apiKey": "abc", "size": "7"}' }, { text: '{"apiKey": "***", "size": "7"}' }],
    [{ text: '"{\\"client_secret\\":\\"abc\\"}"' }, { text: '"{\\"client_secret\\":\\"***\\"}"' }],
    [{ text: 'say \\"password\\": \\"a\\\\\\"b\\" now' }, { text: 'say \\"password\\": \\"***\\" now' }],
    [{ text: 'DB_PASSWORD=abcdef\nHOME=/root' }, { text: 'DB_PASSWORD=***\nHOME=/root' }],
    [{ url: 'https://host/a?api_key=abcdef&page=2' }, { url: 'https://host/a?api_key=***&page=2' }],
    [{ headers: [{ name: 'X-Api-Key', value: 'abc' }] }, { headers: [{ name: 'X-Api-Key', value: '***' }] }],
    [
      { key: 'DB_PASSWORD', value: 'abc' },
      { key: 'DB_PASSWORD', value: '***' },
    ],
    [
      { name: 'size', value: 'abc' },
      { name: 'size', value: 'abc' },
    ],
    [{ text: 'The password: ask for it.' }, { text: 'The password: ask for it.' }],
    [{ properties: { token: { type: 'string' } } }, { properties: { token: { type: 'string' } } }],
    [{ _meta: { progressToken: 7 } }, { _meta: { progressToken: 7 } }],
    [{ text: '{"progressToken":"7"}' }, { text: '{"progressToken":"7"}' }],
    [
      { tokens: 100, path: '/etc/hosts' },
      { tokens: 100, path: '/etc/hosts' },
    ],
  ])('contains no secret: %j.', (message, shown) => {
    expect(maskBody(message, createMask(['known one']))).toEqual(shown);
  });
});
