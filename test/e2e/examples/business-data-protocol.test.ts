/** The protocol of the example server: raw lines to a real process, every error code, batches and shutdown. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { category, folderWith, temporaryFolder } from './data-folder.js';
import { businessData, initialize, RawServer, request, toolCall } from './raw-server.js';

useLeakCheck();

const SEARCH = { categoryId: 'people' };
const TOOLS = ['describeCategory', 'searchRecords', 'analyze'].map((name) => `relevant-data.${name}`);

const MISTAKES: readonly (readonly [name: string, line: string, code: number, id: number | null])[] = [
  ['a line that is not JSON', '{"jsonrpc": "2.0", "id": 1', -32700, null],
  ['a number', '7', -32600, null],
  ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 1],
  ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
  ['an id that is a fraction', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, null],
  ['a method that is not a string', '{"jsonrpc":"2.0","id":1,"method":1}', -32600, 1],
  ['params that are a string', '{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}', -32600, 1],
  ['params that are an array', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602, 1],
  ['an unknown method', request(1, 'resources/list'), -32601, 1],
  ['a method with the name of an object property', request(1, 'constructor'), -32601, 1],
  ['an initialize without a version', request(1, 'initialize', {}), -32602, 1],
  ['an unknown tool', request(1, 'tools/call', { name: 'toString' }), -32602, 1],
  ['a call without arguments', request(1, 'tools/call', { name: TOOLS[0] }), -32602, 1],
];
/** Unusable data, and a part of the reason. */
const BROKEN: Readonly<Record<string, readonly [text: string, reason: RegExp]>> = {
  'no-json': ['{ "title": "Marks", ', /not an object in JSON/],
  'no-records': ['{"title":"T","description":"D","fields":{}}', /records/],
  'no-fields': ['{"title":"T","description":"D","records":[]}', /fields/],
  'unknown-type': [category('x').replace('"text"', '"colour"'), /field 'mark'/],
  'no-text': [category('x').replace('[{"mark":"x"}]', '[{"mark":7}]'), /record 1/],
  'unknown-field': [category('x').replace('[{"mark"', '[{"brand"'), /record 1/],
  'no-record': [category('x').replace('[{"mark":"x"}]', '[{"mark":"x"},null]'), /record 2/],
};

function start(...words: readonly string[]): RawServer {
  return new RawServer(businessData(...words));
}

describe('an initialize request on stdin', () => {
  it.each([
    ['with a newline', '\n'],
    ['without a newline', ''],
  ])('is answered, and the process exits with 0: %s.', async (_, end) => {
    const server = start('--stdio');
    const finished = await server.end(initialize() + end);

    expect(finished).toMatchObject({ code: 0, signal: null });
    expect(server.answers).toEqual([
      {
        jsonrpc: '2.0',
        id: 'init',
        result: expect.objectContaining({ protocolVersion: '2025-11-25', capabilities: { tools: {} } }),
      },
    ]);
  });

  it.each(['2025-03-26', '2024-11-05'])(
    'is answered with the requested protocol version %s.',
    async (version) => {
      const { result } = await start().ask(initialize(version));
      expect(result).toMatchObject({ protocolVersion: version });
    },
  );

  it('for an unknown version is answered with the newest version.', async () => {
    expect((await start().ask(initialize('1999-01-01'))).result).toMatchObject({
      protocolVersion: '2025-11-25',
    });
  });
});

describe('a protocol error', () => {
  it('has the right code and says what is expected, and the server continues.', async () => {
    const server = start();
    for (const [name, line, code, id] of MISTAKES) {
      const before = server.answers.length;
      server.send(line);
      const answer = await server.until(() => server.answers.flat()[before], `${name} was answered`);
      expect(answer, name).toMatchObject({ id, error: { code } });
      const { expected, available, supported, problems } = answer.error?.data ?? {};
      expect(expected ?? available ?? supported ?? problems, name).toBeTruthy();
    }
    expect(await server.ask(request('after', 'ping'))).toMatchObject({ result: {} });
  });

  it('lists the available methods and tools.', async () => {
    const server = start();
    expect((await server.ask(request(1, 'tools/lists'))).error?.data).toEqual({
      method: 'tools/lists',
      available: ['initialize', 'ping', 'tools/list', 'tools/call'],
    });
    expect((await server.ask(request(2, 'tools/call', { name: 'search' }))).error?.data).toEqual({
      available: TOOLS,
    });
  });

  it('is returned for bytes that are not UTF-8 and for a line that is too long.', async () => {
    const server = start();
    server.stdin.write(Buffer.from([0x22, 0xff, 0x22, 0x0a]));
    expect((await server.answer(null)).error).toMatchObject({ code: -32700 });

    server.send('x'.repeat(5 * 1024 * 1024), request('after', 'ping'));
    await server.answer('after');
    expect(server.answers).toHaveLength(3);
    expect(server.answers[1]).toMatchObject({
      error: { code: -32700, message: expect.stringContaining('longer than') },
    });
  });

  it('is an internal error without a path if the tools cannot be listed.', async () => {
    const folder = folderWith({ 'a/marks.json': category('x') });
    const server = start('--data', join(folder, 'a'));
    await server.ask(initialize());
    rmSync(join(folder, 'a'), { recursive: true });

    const { error } = await server.ask(request(1, 'tools/list'));
    expect(error).toEqual({
      code: -32603,
      message: 'Internal error',
      data: { method: 'tools/list', cause: 'The data folder cannot be read (ENOENT).' },
    });
    expect(await server.ask(request(2, 'ping'))).toMatchObject({ result: {} });
  });

  it('is returned for a second initialize.', async () => {
    const server = start();
    await server.ask(initialize());
    expect((await server.ask(initialize('2025-11-25', 2))).error).toMatchObject({ code: -32600 });
  });
});

describe('a tool that fails', () => {
  it('returns the reason without a path or a stack, and the server continues.', async () => {
    const files = Object.entries(BROKEN).map(([id, [text]]) => [`${id}.json`, text] as const);
    const server = start('--data', folderWith({ ...Object.fromEntries(files), 'w.json': category('whole') }));
    for (const [id, [, reason]] of Object.entries(BROKEN)) {
      const { error } = await server.ask(toolCall(id, 'searchRecords', { categoryId: id }));
      expect(error?.code, id).toBe(-32000);
      expect(error?.data, id).toEqual({
        tool: 'relevant-data.searchRecords',
        originalError: expect.stringMatching(reason),
      });
      expect(JSON.stringify(error), id).not.toMatch(/\/|\.mjs|at /);
    }
    const whole = await server.ask(toolCall('whole', 'searchRecords', { categoryId: 'w' }));
    expect(whole.result).toMatchObject({ structuredContent: { records: [{ mark: 'whole' }] } });
  });

  it('returns an error while its folder is missing, and works again when the folder is back.', async () => {
    const folder = folderWith({ 'a/marks.json': category('x') });
    const data = join(folder, 'a');
    const server = start('--data', data);
    await server.ask(initialize());
    rmSync(data, { recursive: true });
    const call = (id: number) => server.ask(toolCall(id, 'describeCategory', { categoryId: 'marks' }));

    expect((await call(1)).error).toMatchObject({
      code: -32000,
      data: { originalError: expect.stringContaining('ENOENT') },
    });
    mkdirSync(data);
    writeFileSync(join(data, 'marks.json'), category('y'));
    expect((await call(2)).result).toMatchObject({ structuredContent: { recordCount: 1 } });
  });
});

describe('a batch', () => {
  const batch = `[${request(1, 'ping')},{"jsonrpc":"2.0","method":"notifications/x"},${request(2, 'nope')},7]`;

  it('is answered in one line in the protocol version with batches.', async () => {
    const server = start();
    await server.ask(initialize('2025-03-26'));
    server.send(batch);
    await server.answer(2);
    expect(server.answers[1]).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      expect.objectContaining({ id: 2, error: expect.objectContaining({ code: -32601 }) }),
      expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32600 }) }),
    ]);
  });

  it('of notifications is not answered; an empty batch and an initialize in a batch are rejected.', async () => {
    const server = start();
    await server.ask(initialize('2025-03-26'));
    server.send('[{"jsonrpc":"2.0","method":"notifications/initialized"}]', '[]', `[${initialize('x', 5)}]`);
    await server.answer(5);
    expect(server.answers.slice(1)).toEqual([
      expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32600 }) }),
      [expect.objectContaining({ id: 5, error: expect.objectContaining({ code: -32600 }) })],
    ]);
  });

  it.each(['2025-11-25', '2024-11-05'])('is rejected as a whole in %s.', async (version) => {
    const server = start();
    await server.ask(initialize(version));
    server.send(batch, request('after', 'ping'));
    await server.answer('after');
    expect(server.answers.slice(1, -1)).toEqual([
      expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32600 }) }),
    ]);
  });
});

describe('no answer', () => {
  it('is sent to notifications, known or unknown, and to responses.', async () => {
    const server = start();
    server.send(
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"nope"}}',
      '{"jsonrpc":"2.0","method":"nope","params":7}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}',
      '{"jsonrpc":"2.0","id":3,"result":{}}',
      '{"jsonrpc":"2.0","id":4,"error":{"code":1,"message":"x"}}',
      '',
      request('last', 'ping'),
    );
    await server.answer('last');
    expect(server.answers).toHaveLength(1);
  });

  it('is sent to a call that was cancelled.', async () => {
    const server = start();
    server.send(
      toolCall('gone', 'searchRecords', SEARCH),
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"gone"}}',
      toolCall('there', 'searchRecords', SEARCH),
    );
    const { code } = await server.end();
    expect(code).toBe(0);
    expect(server.answers.flat().map(({ id }) => id)).toEqual(['there']);
  });
});

describe('the process', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'exits with 0 on %s, after it has answered all calls that it has read.',
    async (signal) => {
      const server = start();
      await server.ask(initialize());
      const ids = Array.from({ length: 300 }, (_, index) => index);
      // The answers are not read, so that calls are still in flight when the signal arrives.
      server.stdout.pause();
      server.send(...ids.map((id) => toolCall(id, 'searchRecords', { ...SEARCH, limit: 100 })));
      await server.until(() => /searchRecords of people/.exec(server.stderr) ?? undefined, 'a call started');
      server.signal(signal);
      await server.until(() => new RegExp(signal).exec(server.stderr) ?? undefined, 'the signal was logged');
      server.stdout.resume();

      expect(await server.finished()).toMatchObject({
        code: 0,
        signal: null,
        stderr: expect.stringMatching(/ends\n$/),
      });
      const answered = server.answers.flat().map(({ id }) => id);
      const called = server.stderr.match(/searchRecords of people/g);
      expect(answered.length).toBeGreaterThanOrEqual(64);
      expect(answered).toHaveLength((called?.length ?? 0) + 1);
      expect(server.answers.flat().filter((one) => one.error !== undefined)).toEqual([]);
    },
  );

  it('exits immediately on a second signal.', async () => {
    const server = start();
    await server.ask(initialize());
    server.stdout.pause();
    server.send(
      ...Array.from({ length: 300 }, (_, id) => toolCall(id, 'searchRecords', { ...SEARCH, limit: 100 })),
    );
    await server.until(() => /searchRecords of people/.exec(server.stderr) ?? undefined, 'a call started');
    server.signal('SIGTERM');
    await server.until(() => /SIGTERM/.exec(server.stderr) ?? undefined, 'the signal was logged');
    server.signal('SIGTERM');
    server.stdout.resume();
    expect((await server.finished()).code).toBe(1);
  });

  it('exits with 0 when the reader of its answers is gone.', async () => {
    const server = start();
    await server.ask(initialize());
    server.stdout.destroy();
    server.send(...Array.from({ length: 50 }, (_, id) => toolCall(id, 'searchRecords', SEARCH)));
    expect((await server.finished()).code).toBe(0);
  });
});

describe('the command line', () => {
  it('prints its usage with --help.', async () => {
    const finished = await start('--help').end();
    expect(finished).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/--stdio[^]+--data DIR/),
    });
  });

  it.each([
    ['an unknown argument', ['--htpp'], 2, /--help/],
    ['a missing folder', ['--data', 'no-such-folder'], 1, /--data DIR/],
    ['a file as the folder', ['--data', 'package.json'], 1, /not a folder/],
  ])('reports a mistake with a hint: %s.', async (_, words, code, message) => {
    expect(await start(...words).end()).toMatchObject({
      code,
      stdout: '',
      stderr: expect.stringMatching(message),
    });
  });

  it('logs only to stderr, each line with time, level and component, whatever a client sends.', async () => {
    const server = start('--data', folderWith({ 'marks.json': category('x') }));
    server.send(initialize(), request(1, 'evil\nINFO [server] forged'), '\u0007');
    const { stderr } = await server.end();
    for (const line of stderr.trimEnd().split('\n'))
      expect(line).toMatch(
        /^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z \[MCP-SERVER\] (DEBUG|INFO|WARN|ERROR) \[[a-z-]+\] /,
      );
    expect(server.answers).toHaveLength(3);
  });

  it('serves a folder without categories, and reports an empty list of categories.', async () => {
    const { error } = await start('--data', temporaryFolder()).ask(toolCall(1, 'analyze', SEARCH));
    expect(error?.data).toMatchObject({ problems: [{ at: 'categoryId', allowed: [] }] });
  });
});
