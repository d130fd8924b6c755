/** Calls that a server of the new era runs as tasks. To the caller, a call takes longer. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTroupe, type TroupeOptions } from '../../../src/index.js';
import type { TaskState } from '../../../src/testing/server-script.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { startServer, type Seen } from '../../support/http-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useOneServer, type OneServer } from '../../support/one-server.js';
import { refuse, silent, text, tool, type Script } from '../../support/scripted-server.js';
import { passTime } from '../../support/test-troupe.js';

const META = 'io.modelcontextprotocol/';
const EXTENSION = { extensions: { [`${META}tasks`]: {} } };
const HOUR_MS = 3_600_000;
const WORKING = { status: 'working', pollIntervalMs: 2_000 };
const DONE = { status: 'completed' };
const QUESTION = {
  status: 'input_required',
  inputRequests: { where: { method: 'roots/list', params: {} } },
};

describe('a call that becomes a task', () => {
  useLeakCheck();
  useCrashWatch();
  const start = useOneServer();

  const begin = (
    task: readonly TaskState[],
    more: Script = {},
    options?: TroupeOptions,
  ): Promise<OneServer> =>
    start(
      { era: 'new', ...more, on: { 'tools/call': { result: text('done'), task }, ...more.on } },
      { protocol: 'new' },
      options,
    );

  it('has the result of the task; the server is asked as often as it wants', async () => {
    const { server, a, clock } = await begin([WORKING, WORKING, DONE]);
    const call = a.callTool('echo');
    await server.whenReceived('tools/call');
    await clock.advance(1_999);
    expect(server.of('tasks/get')).toHaveLength(0);
    await clock.advance(1);
    expect(server.of('tasks/get')).toHaveLength(1);
    await clock.advance(2_000);
    expect(await call).toMatchObject(text('done'));
    const about = server.of('tasks/get').map(({ params }) => params);
    expect(about).toMatchObject([{ taskId: 'task-1' }, { taskId: 'task-1' }]);
    expect(server.of('tasks/cancel')).toEqual([]);
  });

  it('is declared with the requests that may be one, and with no others', async () => {
    const { server, a, clock } = await begin([WORKING, DONE]);
    await passTime(clock, a.callTool('echo'));
    const declared = (method: string): unknown => {
      const meta = server.of(method)[0]!.params['_meta'] as Record<string, unknown>;
      return meta[`${META}clientCapabilities`];
    };
    expect([declared('tools/call'), declared('tasks/get')]).toEqual([EXTENSION, EXTENSION]);
    expect(declared('tools/list')).toEqual({});
  });

  it('is not declared to a server that does not offer tasks, whose task is refused', async () => {
    const task = { resultType: 'task', taskId: 't', status: 'working', ttlMs: null };
    const { server, a } = await start(
      { era: 'new', on: { 'tools/call': { result: task } } },
      { protocol: 'new' },
    );
    await expect(a.callTool('echo')).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      failure: { code: 'protocol-error' },
    });
    const meta = server.of('tools/call')[0]!.params['_meta'];
    expect(meta).toMatchObject({ [`${META}clientCapabilities`]: {} });
    expect(JSON.stringify(meta)).not.toContain('extensions');
  });

  it.each([
    [undefined, 1_000],
    [0, 100],
    [-5, 100],
    ['soon', 1_000],
    [86_400_000, 60_000],
  ])('that wants to be asked every %s ms is asked after %s ms', async (pollIntervalMs, expected) => {
    const { server, a, clock } = await begin([{ pollIntervalMs }, DONE]);
    const call = a.callTool('echo');
    await server.whenReceived('tools/call');
    await clock.advance(expected - 1);
    expect(server.of('tasks/get')).toHaveLength(0);
    await clock.advance(1);
    expect(await call).toMatchObject(text('done'));
  });

  it('reports what the server says of it as progress that grows', async () => {
    const says = (statusMessage: string): TaskState => ({ ...WORKING, statusMessage });
    const { a, clock, events } = await begin([says('one'), says('one'), says('two'), DONE], {
      on: {
        'tools/call': {
          result: text('done'),
          progress: 3,
          task: [says('one'), says('one'), says('two'), DONE],
        },
      },
    });
    const heard: unknown[] = [];
    await passTime(clock, a.callTool('echo', {}, { onProgress: (update) => heard.push(update) }));
    expect(heard).toMatchObject([
      { progress: 1 },
      { progress: 2 },
      { progress: 3 },
      { progress: 4, message: 'one' },
      { progress: 5, message: 'two' },
    ]);
    expect(events.of('call.progress')).toHaveLength(5);
  });

  it('asks the host, whose origin is certain, once for each question', async () => {
    const contexts: unknown[] = [];
    const { server, a, clock } = await begin(
      [WORKING, QUESTION, WORKING, DONE],
      {},
      {
        handlers: {
          roots: ({ origin }) => {
            contexts.push(origin?.context);
            return [];
          },
        },
      },
    );
    expect(await passTime(clock, a.callTool('echo', {}, { context: 'ada' }))).toMatchObject(text('done'));
    expect(contexts).toEqual(['ada']);
    expect(server.of('tasks/update').map(({ params }) => params)).toMatchObject([
      { taskId: 'task-1', inputResponses: { where: { roots: [] } } },
    ]);
  });

  it('gets an answer again that its server has not taken, and no question twice', async () => {
    let asked = 0;
    const roots = (): [] => {
      asked += 1;
      return [];
    };
    const { server, a, clock } = await begin([QUESTION, WORKING, DONE], {}, { handlers: { roots } });
    server.script = { ...server.script, on: { ...server.script.on, 'tasks/update': { fault: 'crash' } } };
    const call = a.callTool('echo');
    await server.whenReceived('tasks/update');
    const { 'tasks/update': _, ...on } = server.script.on!;
    server.script = { ...server.script, on };
    expect(await passTime(clock, call)).toMatchObject(text('done'));
    expect(asked).toBe(1);
    expect(server.of('tasks/update')).toHaveLength(2);
    expect(server.of('tools/call')).toHaveLength(1);
  });

  it('is cancelled if its caller gives up, also between two questions for its state', async () => {
    const { server, a, clock } = await begin([WORKING]);
    const giveUp = new AbortController();
    const call = a.callTool('echo', {}, { signal: giveUp.signal });
    call.catch(() => {});
    await server.whenReceived('tools/call');
    await clock.advance(500);
    giveUp.abort();
    await expect(call).rejects.toMatchObject({ code: 'CALL_ABORTED' });
    expect((await server.whenReceived('tasks/cancel')).params).toMatchObject({ taskId: 'task-1' });
    await clock.advance(HOUR_MS);
    expect(server.of('tasks/get')).toEqual([]);
  });

  it('is cancelled if it begins after its caller has given up', async () => {
    const { server, a, clock } = await begin([WORKING]);
    const giveUp = new AbortController();
    const call = a.callTool('echo', {}, { signal: giveUp.signal });
    giveUp.abort();
    await expect(call).rejects.toMatchObject({ code: 'CALL_ABORTED' });
    await clock.advance(1);
    expect(server.of('tasks/cancel')).toHaveLength(1);
  });

  it('has an hour by default, in which every answer of the server counts; then it is cancelled', async () => {
    const { server, a, clock } = await begin([{ ...WORKING, pollIntervalMs: 60_000 }]);
    const call = a.callTool('echo');
    call.catch(() => {});
    await server.whenReceived('tools/call');
    await clock.advance(HOUR_MS - 60_000);
    expect(server.of('tasks/cancel')).toEqual([]);
    await clock.advance(60_000);
    await expect(call).rejects.toMatchObject({ code: 'CALL_TIMEOUT', kind: 'total', limitMs: HOUR_MS });
    expect(server.of('tasks/cancel')).toHaveLength(1);
  });

  it('keeps the limit of its caller for the whole call', async () => {
    const { server, a, clock } = await begin([WORKING]);
    const call = a.callTool('echo', {}, { totalTimeoutMs: 5_000 });
    call.catch(() => {});
    await server.whenReceived('tools/call');
    await clock.advance(5_000);
    await expect(call).rejects.toMatchObject({ code: 'CALL_TIMEOUT', kind: 'total', limitMs: 5_000 });
    expect(server.of('tasks/cancel')).toHaveLength(1);
  });

  it('times out if the server is silent when it is asked, although pauses may be longer', async () => {
    const { server, a, clock } = await begin([{ pollIntervalMs: 10_000 }, WORKING], {});
    server.script = { ...server.script, on: { ...server.script.on, 'tasks/get': silent } };
    const call = a.callTool('echo', {}, { timeoutMs: 3_000 });
    call.catch(() => {});
    await server.whenReceived('tools/call');
    await clock.advance(10_000 + 2_999);
    expect(server.of('tasks/cancel')).toEqual([]);
    await clock.advance(1);
    await expect(call).rejects.toMatchObject({ code: 'CALL_TIMEOUT', kind: 'idle' });
  });

  it('that failed has the error of the server', async () => {
    const failed = { status: 'failed', error: { code: -32_603, message: 'disk full', data: { free: 0 } } };
    const { a, clock } = await begin([WORKING, failed]);
    await expect(passTime(clock, a.callTool('echo'))).rejects.toMatchObject({
      code: 'JSON_RPC_ERROR',
      rpcCode: -32_603,
      data: { free: 0 },
    });
  });

  const UNKNOWN: readonly (readonly [string, readonly TaskState[], Script, string, number])[] = [
    ['that the server cancelled', [WORKING, { status: 'cancelled' }], {}, 'server-error', 0],
    ['whose time is over', [{ ...WORKING, ttlMs: 3_000 }], {}, 'server-error', 1],
    ['without a result', [WORKING, { status: 'completed', result: 7 }], {}, 'protocol-error', 1],
    ['of an unknown status', [WORKING, { status: 'later' }], {}, 'protocol-error', 1],
    ['without a status', [WORKING, { status: undefined }], {}, 'protocol-error', 1],
    [
      'whose result is a task',
      [WORKING, { status: 'completed', result: { resultType: 'task' } }],
      {},
      'protocol-error',
      0,
    ],
    ['without an id', [{ ...WORKING, taskId: 7 }], {}, 'protocol-error', 0],
    ['that asks for nothing', [WORKING, { status: 'input_required' }], {}, 'protocol-error', 1],
    ['that nobody can answer', [WORKING, QUESTION], {}, 'protocol-error', 1],
    ['that the server does not know', [WORKING], { on: { 'tasks/get': refuse(-32_602) } }, 'server-error', 0],
  ];
  it.each(UNKNOWN)('%s has an unknown outcome', async (_, task, { on = {} }, code, cancelled) => {
    const { server, a, clock, events } = await begin(task);
    server.script = { ...server.script, on: { ...server.script.on, ...on } };
    await expect(passTime(clock, a.callTool('echo'))).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      failure: { code },
    });
    await clock.advance(1);
    expect(server.of('tasks/cancel')).toHaveLength(cancelled);
    expect(server.of('tools/call')).toHaveLength(1);
    expect(events.of('call.finished').map(({ outcome }) => outcome)).toEqual(['outcome-unknown']);
    expect(a.state).toBe('ready');
  });

  it('ends after ten rounds of questions', async () => {
    const handlers = { roots: () => [] };
    const rounds = Array.from({ length: 12 }, (_, index) => ({
      status: 'input_required',
      pollIntervalMs: 0,
      inputRequests: { [`q${index}`]: { method: 'roots/list', params: {} } },
    }));
    const { server, a, clock } = await begin(rounds, {}, { handlers });
    await expect(passTime(clock, a.callTool('echo'))).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(server.of('tasks/update')).toHaveLength(10);
  });

  it('goes on over the next session, because its id outlives the lost one', async () => {
    const { server, a, clock, events } = await begin([WORKING, WORKING, DONE]);
    const call = a.callTool('echo');
    await server.whenReceived('tools/call');
    await clock.advance(2_000);
    await server.die();
    expect(await passTime(clock, call)).toMatchObject(text('done'));
    expect(server.sessions).toBe(2);
    expect(server.of('tools/call')).toHaveLength(1);
    expect(events.of('call.finished').map(({ outcome }) => outcome)).toEqual(['outcome-unknown', 'answered']);
  });

  it('has an unknown outcome if its server does not know it after a restart', async () => {
    const { server, a, clock } = await begin([WORKING]);
    const call = a.callTool('echo');
    await server.whenReceived('tools/call');
    server.script = { ...server.script, on: { ...server.script.on, 'tasks/get': refuse(-32_602) } };
    await server.die();
    await expect(passTime(clock, call)).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      failure: { code: 'server-error', rpcCode: -32_602 },
    });
    expect(server.of('tools/call')).toHaveLength(1);
  });

  it('is called again in that case if its tool only reads', async () => {
    const tools = [tool('echo', { annotations: { readOnlyHint: true } })];
    const lost = { resultType: 'task', taskId: 'lost', ...WORKING };
    const on = { 'tools/call': [{ result: lost }, { result: text('done') }] };
    const { server, a, clock } = await begin([], { tools, capabilities: { tools: {}, ...EXTENSION }, on });
    const call = a.callTool('echo');
    await server.whenReceived('tools/call');
    await server.die();
    expect(await passTime(clock, call)).toMatchObject(text('done'));
    expect(server.of('tasks/get')).toHaveLength(1);
    expect(server.of('tools/call')).toHaveLength(2);
  });
});

describe('a task over HTTP', () => {
  useLeakCheck();

  it('survives exchanges that break and a balancer that is busy', async () => {
    const offers = { supportedVersions: ['2026-07-28'], capabilities: { tools: {}, ...EXTENSION }, ttlMs: 0 };
    const about = { taskId: 'a/ü', ttlMs: null, pollIntervalMs: 0 };
    const polls: ((seen: Seen, res: ServerResponse) => void)[] = [
      (_, res) => void res.destroy(),
      (_, res) => void res.writeHead(503).end(),
      (seen, res) => answer(seen, res, { ...about, status: 'completed', result: text('done') }),
    ];
    const names: unknown[] = [];
    const server = await startServer((seen, res) => {
      const { method } = seen.rpc;
      if (method === 'server/discover') return answer(seen, res, offers);
      if (method === 'tools/list') return answer(seen, res, { tools: [tool('echo')] });
      if (method === 'tools/call')
        return answer(seen, res, { resultType: 'task', ...about, status: 'working' });
      names.push([method, seen.headers['mcp-name']]);
      polls.shift()?.(seen, res);
    });
    const troupe = createTroupe({ servers: { a: { type: 'http', url: server.url } }, cache: false });
    onTestFinished(async () => {
      await troupe.close();
      await server.close();
    });
    await troupe.start();
    expect(await troupe.connection('a')!.callTool('echo')).toMatchObject(text('done'));
    const name = `=?base64?${Buffer.from('a/ü').toString('base64')}?=`;
    expect(names).toEqual(Array.from({ length: 3 }, () => ['tasks/get', name]));
  });
});

function answer({ rpc }: Seen, res: ServerResponse, result: object): void {
  const message = { jsonrpc: '2.0', id: rpc.id, result: { resultType: 'complete', ...result } };
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));
}
