/** Tools that a server lists and that cannot be offered, and tools that are not known yet. */
import { describe, expect, it } from 'vitest';
import { leftOutLines } from '../../../src/cli/output/server-notes.js';
import type { ServerStatus } from '../../../src/index.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useOneServer } from '../../support/one-server.js';
import { ScriptedServer, silent, tool } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

describe('a tool that is left out', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useOneServer();
  const broken = { ...tool('broken'), inputSchema: 7 as never };

  it('is counted in the status, with its name and why', async () => {
    const { troupe, a } = await begin({ tools: [tool('good'), broken, tool('good'), {} as never] });
    expect(a.status).toMatchObject({
      toolCount: 1,
      toolsLeftOut: [
        { name: 'mcp__a__broken', tool: 'broken', why: expect.stringContaining('inputSchema') as unknown },
        { name: 'mcp__a__good', tool: 'good', why: expect.stringContaining('same name') as unknown },
        { name: null, tool: null, why: expect.stringContaining('no name') as unknown },
      ],
    });
    const rows = troupe.status;
    expect(rows[0]?.toolsLeftOut).toBe(troupe.status[0]?.toolsLeftOut);
  });

  it('is named with the reason by the error of a call, also in a view', async () => {
    const { troupe } = await begin({ tools: [broken] });
    const view = troupe.view({ servers: ['a'] });
    for (const caller of [troupe, view]) {
      await expect(caller.callTool('mcp__a__broken')).rejects.toMatchObject({
        code: 'UNKNOWN_TOOL',
        server: 'a',
        message: expect.stringContaining('its inputSchema is not an object') as unknown,
      });
    }
    await expect(troupe.view({ servers: ['b'] }).callTool('mcp__a__broken')).rejects.not.toHaveProperty(
      'server',
      'a',
    );
  });

  it('is forgotten once the server lists it rightly', async () => {
    const { troupe, server, a } = await begin({ tools: [broken] });
    server.script = { tools: [tool('broken')] };
    await a.refresh();
    expect(a.status.toolsLeftOut).toEqual([]);
    await expect(troupe.callTool('mcp__a__broken')).resolves.toBeDefined();
  });
});

describe('a list beyond a limit', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();
  const page = (from: number, nextCursor?: string) => ({
    tools: [tool(`t${from}`), tool(`t${from + 1}`)],
    ...(nextCursor === undefined ? {} : { nextCursor }),
  });
  const paged = new ScriptedServer({
    tools: [tool('t1')],
    on: {
      'tools/list': ({ cursor }) => (cursor === 'b' ? page(3) : page(1, 'b')),
    },
  });

  it.each([
    ['entries', { listEntries: 1 }, ['t2', 't3', 't4'], 'mcp__a__t4', 'limits.listEntries'],
    ['structure', { structuralCharacters: 20 }, [null], 'mcp__a__t9', 'limits.structuralCharacters'],
  ])('of %s is counted, and the error of a call names the option', async (_, limits, left, name, option) => {
    const { troupe } = make({ servers: { a: inProcess(paged) }, limits });
    await troupe.start();
    expect(troupe.status[0]?.toolsLeftOut.map((each) => each.tool)).toEqual(left);
    expect(leftOutLines(troupe.status[0] as ServerStatus).join(' ')).toContain(option);
    const message = expect.stringContaining(option) as unknown;
    await expect(troupe.callTool(name)).rejects.toMatchObject({ code: 'UNKNOWN_TOOL', message });
  });

  it('counts by the limit of the entry, before the one of the troupe', async () => {
    const limits = { listEntries: 1, structuralCharacters: 1_000 };
    const { troupe } = make({ servers: { a: inProcess(paged, { limits: { listEntries: 3 } }) }, limits });
    await troupe.start();
    expect(troupe.status[0]?.toolsLeftOut.map((each) => each.tool)).toEqual(['t4']);
  });
});

describe('a call of a server that is on its way', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('waits for it, right after the start', async () => {
    const gate = createGate();
    const server = new ScriptedServer({
      tools: [tool('echo')],
      on: { 'tools/list': () => gate.promise.then(() => ({ tools: [tool('echo')] })) },
    });
    const { troupe } = make({ servers: { a: inProcess(server) } });
    const started = troupe.start();
    await server.whenReceived('tools/list', 1);
    const call = troupe.callTool('mcp__a__echo');
    const inView = troupe.view({ servers: ['a'] }).callTool('mcp__a__echo');
    await expect(troupe.callTool('mcp__b__echo')).rejects.toMatchObject({ code: 'UNKNOWN_TOOL' });
    await expect(troupe.view({ servers: ['b'] }).callTool('mcp__a__echo')).rejects.toMatchObject({
      code: 'UNKNOWN_TOOL',
    });
    gate.open();
    await expect(Promise.all([call, inView, started])).resolves.toHaveLength(3);
    await expect(troupe.callTool('mcp__a__other')).rejects.toMatchObject({ code: 'UNKNOWN_TOOL' });
  });

  it('says that the tool is unknown where the server does not list it', async () => {
    const gate = createGate();
    const server = new ScriptedServer({
      on: { 'tools/list': () => gate.promise.then(() => ({ tools: [tool('x')] })) },
    });
    const { troupe } = make({ servers: { a: inProcess(server) } });
    void troupe.start();
    await server.whenReceived('tools/list', 1);
    const call = troupe.callTool('mcp__a__echo');
    gate.open();
    await expect(call).rejects.toMatchObject({ code: 'UNKNOWN_TOOL' });
  });

  it('ends within its limit, or with its signal, and was not sent', async () => {
    const server = new ScriptedServer({ on: { 'tools/list': silent } });
    const { troupe, clock } = make({ servers: { a: inProcess(server) } });
    void troupe.start();
    await server.whenReceived('tools/list', 1);
    const aborting = new AbortController();
    const aborted = troupe.callTool('mcp__a__echo', {}, { signal: aborting.signal });
    aborting.abort();
    await expect(aborted).rejects.toMatchObject({ code: 'CALL_ABORTED' });
    const late = troupe.callTool('mcp__a__echo', {}, { timeoutMs: 500 });
    late.catch(() => {});
    await clock.advance(500);
    await expect(late).rejects.toMatchObject({ code: 'NOT_READY', server: 'a' });
    expect(server.of('tools/call')).toEqual([]);
  });

  it('fails as the server does', async () => {
    const server = new ScriptedServer({ on: { 'tools/list': silent } });
    const policy = { maxAttempts: 1, listTimeoutMs: 1_000 };
    const { troupe, clock } = make({ servers: { a: inProcess(server, { policy }) } });
    void troupe.start();
    await server.whenReceived('tools/list', 1);
    const call = troupe.callTool('mcp__a__echo');
    call.catch(() => {});
    await passTime(
      clock,
      call.catch(() => {}),
    );
    await expect(call).rejects.toMatchObject({ code: 'NOT_READY', server: 'a' });
  });
});
