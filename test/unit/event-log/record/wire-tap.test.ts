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

  it.each([
    [
      'YAML',
      'db:\n  host: h\n  password: needle-1\n  port: 5432',
      'db:\n  host: h\n  password: ***\n  port: 5432',
    ],
    ['YAML in a list', '- token: "needle-1"', '- token: "***"'],
    ['a block of YAML', 'secret: |\n  needle-1\n  needle-2\nport: 1', 'secret: ***\nport: 1'],
    ['YAML in JSON', 'a\\npassword: needle-1\\nb: 2', 'a\\npassword: ***\\nb: 2'],
    ['a header', 'X-Api-Key: needle-1\r\nAccept: text/plain', 'X-Api-Key: ***\r\nAccept: text/plain'],
    ['a header with a scheme', 'Authorization: Token needle-1', 'Authorization: ***'],
    [
      'a header of a command',
      "curl -H 'X-Api-Key: needle-1' https://h",
      "curl -H 'X-Api-Key: ***' https://h",
    ],
    ['a header in code', "{ 'X-Api-Key': 'needle-1' }", "{ 'X-Api-Key': '***' }"],
    ['XML', '<db><password>needle-1</password></db>', '<db><password>***</password></db>'],
    ['XML with attributes', '<a:token type="x">needle-1</a:token>', '<a:token type="x">***</a:token>'],
    ['CDATA', '<password><![CDATA[needle-1]]></password>', '<password>***</password>'],
    ['a setting in XML', '<add key="password" value="needle-1"/>', '<add key="password" value="***"/>'],
    ['TOML', 'password = "needle-1"', 'password = "***"'],
    ['an ini file', '[db]\npassword = needle-1\nport=1', '[db]\npassword = ***\nport=1'],
    ['Ruby', '"password" => "needle-1"', '"password" => "***"'],
    ['an option', 'run --password needle-1 --host h', 'run --password *** --host h'],
    ['an option with quotes', 'run --password "needle 1" -v', 'run --password "***" -v'],
    ['an option with a sign', 'run --password=needle-1 -v', 'run --password=*** -v'],
    ['a cookie', 'Cookie: sid=needle-1; theme=dark', 'Cookie: ***'],
    ['a cookie that is set', 'Set-Cookie: sid=needle-1; Path=/', 'Set-Cookie: ***'],
    [
      'a webhook',
      'at https://hooks.slack.com/services/T0/B0/Xneedle1XXXX1 now',
      'at https://hooks.slack.com/*** now',
    ],
    [
      'another webhook',
      'https://discord.com/api/webhooks/12345/abcDEF-n33dle_x9Q',
      'https://discord.com/api/webhooks/***',
    ],
    [
      'a connection string',
      'Server=db;User Id=app;Password=needle-1;',
      'Server=db;User Id=app;Password=***;',
    ],
    ['an address', 'postgresql://app:needle-1!@db/prod', 'postgresql://***@db/prod'],
    ['an address of several hosts', 'mongodb://u:needle-1@a:1,b:2/db', 'mongodb://***@a:1,b:2/db'],
    ...['pwd', 'pass', 'otp', 'auth', 'sessionId', 'session_id'].flatMap((name) => [
      [`${name} in YAML`, `${name}: needle-1`, `${name}: ***`],
      [`${name} in JSON`, `{"${name}":"needle-1"}`, `{"${name}":"***"}`],
      [`${name} in a shell`, `${name}=needle-1`, `${name}=***`],
    ]),
  ])('contains no secret of a text: %s.', (_, text, shown) => {
    expect(maskBody({ text }, (value) => value)).toEqual({ text: shown });
  });

  it.each([
    'The password: ask for it.',
    'password: string;',
    'token: required',
    'Basic authentication is enough, a bearer of good news too.',
    'The author passes the keyboard; sessions: 5, compass: north.',
    'npm-check-updates, sk-learn, https://example.com/docs/hooks/overview',
    'level=info port=5432 host=db.internal',
    '<p>The <b>password</b> is required.</p>',
  ])('keeps other text: %s', (text) => {
    expect(maskBody({ text }, (value) => value)).toEqual({ text });
  });

  it('masks a value of a text everywhere in that session, also without its scheme.', () => {
    const bodies: unknown[] = [];
    const wire = new Wire({ now: () => 0 }, () => (value) => value);
    wire.listen({ bodies: true, note: ({ body }) => bodies.push(body) });
    const ear = wire.ear({ name: 'a', generation: 1 });
    ear('sent', { method: 'call', id: 1, params: { text: 'Authorization: Token needle-21' } });
    ear('received', { id: 1, result: { text: 'no needle-21' } });
    expect(JSON.stringify(bodies)).not.toContain('needle-21');
  });

  it('is masked before the test is over, however often a spelling begins in it.', () => {
    const parts = [
      '-eyJ',
      'token=',
      'token: ',
      '"token":"',
      '<token ',
      '--token ',
      'https://a:b',
      'Bearer ',
      '\\ntoken:',
      'key="token" ',
    ];
    for (const part of parts) {
      const text = part.repeat(200_000 / part.length);
      expect(JSON.stringify(maskBody({ text }, (value) => value)).length).toBeGreaterThan(10);
    }
  });
});
