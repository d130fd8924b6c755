/** The hooks of a host around its calls: what they change is what is sent, and what they throw is an honest outcome. */
import { describe, expect, it } from 'vitest';
import type { CallEnd, CallHooks } from '../../../src/calls/hooks.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fakeProgram, FakeServer } from '../../support/fake-server.js';
import { never } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { MemoryLog } from '../../support/memory-log.js';
import { refuse, ScriptedServer, tool } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
const { make } = useTroupes();

const ECHO = 'mcp__a__echo';

async function started(hooks: CallHooks | readonly CallHooks[], server = new ScriptedServer()) {
  const test = make({ servers: { a: inProcess(server) }, hooks });
  await test.troupe.start();
  return { ...test, server };
}

const textOf = (result: { readonly content: readonly unknown[] }): unknown =>
  (result.content[0] as { text: string }).text;

describe('beforeCall', () => {
  it('changes the arguments and _meta of what is sent, in the order of the hooks', async () => {
    const seen: unknown[] = [];
    const hooks: CallHooks[] = [
      {
        beforeCall: ({ args, context }) => {
          seen.push({ args, context });
          return { args: { ...args, b: 2 }, meta: { x: 1 } };
        },
      },
      {
        beforeCall: async ({ args, meta }) => {
          seen.push({ args, meta });
          return { args: { ...args, c: 3 }, meta: { y: 2 } };
        },
      },
      { beforeCall: () => {} },
    ];
    const { troupe, server } = await started(hooks);
    await troupe.callTool(ECHO, { a: 1 }, { context: 'Ada', meta: { own: true } });
    expect(seen).toEqual([
      { args: { a: 1 }, context: 'Ada' },
      { args: { a: 1, b: 2 }, meta: { own: true, x: 1 } },
    ]);
    expect(server.of('tools/call')).toMatchObject([
      { params: { arguments: { a: 1, b: 2, c: 3 }, _meta: { own: true, x: 1, y: 2 } } },
    ]);
  });

  it('refuses a call by throwing: nothing is sent, and nothing is called that comes after it', async () => {
    let later = 0;
    const cause = new Error('not on Sundays');
    const hooks: CallHooks[] = [
      { beforeCall: () => Promise.reject(cause) },
      { beforeCall: () => void (later += 1) },
    ];
    const { troupe, server, events } = await started(hooks);
    await expect(troupe.callTool(ECHO)).rejects.toMatchObject({
      code: 'CALL_REFUSED',
      server: 'a',
      cause,
      message: expect.stringContaining('not on Sundays') as string,
    });
    expect([server.of('tools/call'), later, events.of('call.started')]).toEqual([[], 0, []]);
  });

  it('has its arguments checked against the schema of the tool', async () => {
    const inputSchema = { type: 'object' as const, properties: { n: { type: 'integer' } } };
    const server = new ScriptedServer({ tools: [tool('echo', { inputSchema })] });
    const { troupe } = await started({ beforeCall: () => ({ args: { n: 'many' } }) }, server);
    await expect(troupe.callTool(ECHO, { n: 1 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
    expect(server.of('tools/call')).toEqual([]);
  });

  it.each([
    ['an unknown field', { arg: {} }, "did you mean 'args'?"],
    ['arguments that are no object', { args: [] }, "expected 'args'"],
    ['a header that is no text', { headers: { a: 1 } }, "header 'a'"],
    ['a header of the protocol', { headers: { 'Mcp-Session-Id': 'x' } }, 'set by Troupe alone'],
    ['secrets that are no texts', { secrets: [1] }, "'secrets'"],
  ])('with %s refuses the call', async (_, change, why) => {
    const { troupe, server } = await started({ beforeCall: () => change as never });
    await expect(troupe.callTool(ECHO)).rejects.toMatchObject({
      code: 'CALL_REFUSED',
      message: expect.stringContaining(why) as string,
    });
    expect(server.of('tools/call')).toEqual([]);
  });

  it('that never ends is given up at the limit of the call, or when its signal aborts', async () => {
    const signals: AbortSignal[] = [];
    const { troupe, server, clock } = await started({
      beforeCall: (_, signal) => {
        signals.push(signal);
        return never();
      },
    });
    const timedOut = troupe.callTool(ECHO, {}, { timeoutMs: 2_000 });
    await expect(passTime(clock, timedOut)).rejects.toMatchObject({ code: 'NOT_READY' });
    const controller = new AbortController();
    const aborted = troupe.callTool(ECHO, {}, { signal: controller.signal });
    await clock.advance(0);
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: 'CALL_ABORTED' });
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true]);
    expect(server.of('tools/call')).toEqual([]);
  });

  it('runs once for a call that is repeated', async () => {
    let runs = 0;
    const one = new FakeServer(() => ({ kind: 'stdio' }), {
      tools: [tool('read', { annotations: { readOnlyHint: true } })],
      on: {
        'tools/call': (_, { session }) =>
          session === 1 ? (one.transport.simulateEnd(), never()) : { content: [] },
      },
    });
    const { troupe, clock } = make({
      servers: { a: fakeProgram(one) },
      hooks: { beforeCall: () => ({ args: { run: (runs += 1) } }) },
    });
    await troupe.start();
    await passTime(clock, troupe.callTool('mcp__a__read'));
    expect(runs).toBe(1);
    expect(one.peer.of('tools/call')).toMatchObject([
      { params: { arguments: { run: 1 } } },
      { params: { arguments: { run: 1 } } },
    ]);
  });

  it('adds secrets that no event, recording or error shows', async () => {
    const token = 'tok-51bd77c0a9';
    const log = new MemoryLog();
    const server = new ScriptedServer({
      on: { 'tools/call': refuse(-32000, `bad credentials ${token}`) },
    });
    const { troupe, events } = make({
      servers: { a: inProcess(server) },
      record: { target: log, bodies: true },
      hooks: { beforeCall: ({ args }) => ({ args: { ...args, user: token }, secrets: [token] }) },
    });
    await troupe.start();
    const error = await troupe.callTool(ECHO, { a: 1 }).catch((reason: unknown) => reason as Error);
    expect(server.of('tools/call')).toMatchObject([{ params: { arguments: { a: 1, user: token } } }]);
    await troupe.close();
    expect((error as Error).message).not.toContain(token);
    expect(JSON.stringify(events.all)).not.toContain(token);
    expect(log.text).toContain('"user"');
    expect(log.text).not.toContain(token);
  });

  it('whose error holds a secret that a hook added shows it masked', async () => {
    const token = 'tok-51bd77c0a9';
    const { troupe } = await started([
      { beforeCall: () => ({ secrets: [token] }) },
      { beforeCall: () => Promise.reject(new Error(`${token} has expired`)) },
    ]);
    const error = await troupe.callTool(ECHO).catch((reason: unknown) => reason as Error);
    expect((error as Error).message).not.toContain(token);
    expect((error as Error).message).toContain('has expired');
  });
});

describe('afterCall', () => {
  it('replaces the result, in the opposite order of the hooks, and sees what was sent', async () => {
    const seen: unknown[] = [];
    const append = (mark: string): CallHooks => ({
      beforeCall: ({ args }) => ({ args: { ...args, [mark]: true } }),
      afterCall: ({ args, tool: name }, { result }) => {
        seen.push([mark, name, args]);
        return { content: [{ type: 'text', text: `${textOf(result!) as string} ${mark}` }] };
      },
    });
    const server = new ScriptedServer({
      on: { 'tools/call': () => ({ content: [{ type: 'text', text: 'raw' }] }) },
    });
    const { troupe } = await started([append('one'), append('two')], server);
    expect(textOf(await troupe.callTool(ECHO))).toBe('raw two one');
    expect(seen).toEqual([
      ['two', 'echo', { one: true, two: true }],
      ['one', 'echo', { one: true, two: true }],
    ]);
  });

  it('hears of every end, and cannot change an error', async () => {
    const ends: CallEnd[] = [];
    const hooks: CallHooks = {
      afterCall: (_, end) => {
        ends.push(end);
        return { content: [] };
      },
    };
    const server = new ScriptedServer({ on: { 'tools/call': refuse(-32603, 'no') } });
    const { troupe } = await started(
      [
        hooks,
        {
          beforeCall: ({ args }) => {
            if ('deny' in args) throw new Error('denied');
          },
        },
      ],
      server,
    );
    await expect(troupe.callTool(ECHO)).rejects.toMatchObject({ code: 'JSON_RPC_ERROR' });
    await expect(troupe.callTool(ECHO, { deny: 1 })).rejects.toMatchObject({ code: 'CALL_REFUSED' });
    expect(ends).toMatchObject([{ error: { code: 'JSON_RPC_ERROR' } }, { error: { code: 'CALL_REFUSED' } }]);
  });

  it('that throws withholds the result of a call that was done, and the other hooks hear of it', async () => {
    const ends: CallEnd[] = [];
    const cause = new Error('cannot redact 078-05-1120');
    const { troupe, server, events } = await started([
      { afterCall: (_, end) => void ends.push(end) },
      { afterCall: () => Promise.reject(cause) },
    ]);
    const error = await troupe.callTool(ECHO).catch((reason: unknown) => reason as Error);
    expect(error).toMatchObject({ code: 'RESULT_WITHHELD', server: 'a', cause });
    expect((error as Error).message).not.toContain('078-05-1120');
    expect(ends).toEqual([{ error }]);
    expect(server.of('tools/call')).toHaveLength(1);
    expect(events.of('call.finished')).toMatchObject([{ outcome: 'answered' }]);
  });

  it('that throws after an error is a diagnostic, and the error stays', async () => {
    const server = new ScriptedServer({ on: { 'tools/call': refuse(-32603, 'no') } });
    const { troupe, events } = await started(
      {
        afterCall: () => {
          throw new Error('boom');
        },
      },
      server,
    );
    await expect(troupe.callTool(ECHO)).rejects.toMatchObject({ code: 'JSON_RPC_ERROR' });
    expect(await events.when('diagnostic')).toMatchObject({ kind: 'hook-failed', server: 'a' });
  });

  it('that gives something else than a result withholds it', async () => {
    const { troupe } = await started({ afterCall: () => ({}) as never });
    await expect(troupe.callTool(ECHO)).rejects.toMatchObject({ code: 'RESULT_WITHHELD' });
  });
});

describe('the option hooks', () => {
  it.each([
    [7, 'expected an object'],
    [{ before: () => {} }, 'not known here'],
    [[{ beforeCall: 'x' }], "expected 'beforeCall' to be a function"],
  ])('that is %j is refused', (hooks, why) => {
    expect(() => make({ hooks: hooks as never })).toThrow(why);
  });
});
