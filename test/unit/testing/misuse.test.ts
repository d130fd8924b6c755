/** What a host writes by mistake is refused where it is written, and what it means works. */
import { describe, expect, it } from 'vitest';
import { createMachine, setup } from 'xstate';
import { createTroupe } from '../../../src/runtime/troupe.js';
import {
  createFakeTransport,
  createScriptedServer,
  edgePaths,
  expectNoLeaks,
  tool,
  trackLeaks,
} from '../../../src/testing/index.js';
import { useLeakCheck } from '../../support/leak-check.js';

describe('an unknown name', () => {
  it.each<[string, () => unknown]>([
    ['of a method', () => createScriptedServer({ on: { 'tool/call': {} } })],
    ['of an option of a scripted server', () => createScriptedServer({}, { clok: 1 } as never)],
    ['of an option of a fake transport', () => createFakeTransport({ per: 1 } as never)],
    ['of an option of the paths', () => edgePaths(createMachine({}), { event: [] } as never)],
    ['of an option of the leak tracker', () => trackLeaks({ settleMS: 1, setleMs: 1 } as never)],
  ])('%s is refused with a suggestion.', (_, misuse) => {
    expect(misuse).toThrow(/did you mean '(?:tools\/call|clock|peer|events|settleMs)'\?/);
  });

  it('of an option of the leak check is refused with a suggestion.', async () => {
    await expect(expectNoLeaks(() => {}, { setleMs: 1 } as never)).rejects.toThrow(/'settleMs'\?/);
  });

  it('of a method of an extension is taken.', () => {
    expect(createScriptedServer({ on: { 'acme/lookup': {} } }).script.on).toHaveProperty('acme/lookup');
  });
});

describe('an entry with a server of this process', () => {
  useLeakCheck();

  it('is refused with a suggestion if a field is unknown.', async () => {
    const server = createScriptedServer();
    const entry = { type: 'in-process', server, polcy: {}, command: 'x' } as never;
    const troupe = createTroupe({ servers: { files: entry } });
    const { failed } = await troupe.start();
    expect(failed.map(({ failure }) => failure.code)).toEqual(['config-invalid']);
    expect(failed[0]?.failure.message).toMatch(/'polcy'.*did you mean 'policy'\?/s);
    expect(failed[0]?.failure.message).toMatch(/'command'/);
    await troupe.close();
  });

  it('may be the server alone.', async () => {
    const troupe = createTroupe({ servers: { files: createScriptedServer() }, cache: false });
    await troupe.start();
    expect(troupe.status).toMatchObject([{ server: 'files', state: 'ready', transport: 'in-process' }]);
    await troupe.close();
  });
});

describe('a scripted server that two entries share', () => {
  useLeakCheck();

  it('speaks to both, and dies for both.', async () => {
    const server = createScriptedServer();
    const troupe = createTroupe({ servers: { one: server, two: server }, cache: false });
    await troupe.start();
    const changed: string[] = [];
    const lost: string[] = [];
    troupe.events$.subscribe((event) => {
      if (event.type === 'catalog.changed' && event.added.includes('more')) changed.push(event.server);
      if (event.type === 'connection.lost') lost.push(event.server);
    });
    server.changeTools([tool('more')]);
    await server.whenReceived('tools/list', 4);
    await server.die();
    await server.when(() => server.sessions === 4);
    await Promise.all(['one', 'two'].map((name) => troupe.connection(name)!.ready()));
    expect([changed.toSorted(), lost.toSorted()]).toEqual([
      ['one', 'two'],
      ['one', 'two'],
    ]);
    await troupe.close();
    expect(server.isConnected).toBe(false);
  });
});

describe('a tool that a scripted server has dropped', () => {
  useLeakCheck();

  it('is gone.', async () => {
    const server = createScriptedServer({ tools: [tool('read'), tool('write')] });
    const troupe = createTroupe({ servers: { files: server }, cache: false });
    await troupe.start();
    const call = async () => troupe.connection('files')?.callTool('write', {});
    await expect(call()).resolves.toBeDefined();
    server.script = { ...server.script, tools: [tool('read')] };
    await expect(call()).rejects.toMatchObject({ rpcCode: -32602 });
    await troupe.close();
  });
});

describe('generated paths', () => {
  it('have titles of their own, and events that need no cast.', () => {
    const door = setup({
      types: {
        input: {} as { readonly of: string },
        context: {} as { readonly of: string; readonly isLocked: boolean },
        events: {} as { readonly type: 'open'; readonly by: string } | { readonly type: 'shut' },
      },
      guards: { isLocked: ({ context }) => context.isLocked },
    }).createMachine({
      id: 'door',
      context: ({ input }) => ({ of: input.of, isLocked: input.of === 'safe' }),
      initial: 'shut',
      states: {
        shut: { on: { open: [{ guard: 'isLocked', target: 'shut' }, { target: 'shut' }] } },
      },
    });
    const { paths } = edgePaths(door, {
      inputs: [{ of: 'safe' }, { of: 'car' }],
      events: () => [{ type: 'open', by: 'ada' }],
      key: ({ context }) => JSON.stringify(context),
    });
    expect(new Set(paths.map(({ title }) => title)).size).toBe(2);
    const rooms: readonly string[] = paths.map(({ input }) => input.of);
    const people: readonly string[] = paths.flatMap(({ steps }) =>
      steps.flatMap(({ event }) => (event.type === 'open' ? [event.by] : [])),
    );
    expect([rooms, people]).toEqual([
      ['safe', 'car'],
      ['ada', 'ada'],
    ]);
  });
});

describe('a report of leaks', () => {
  it('says where a timer was set, counts equal ones, and stays short.', async () => {
    const timers: NodeJS.Timeout[] = [];
    const error = await expectNoLeaks(
      function forgetful() {
        for (let count = 0; count < 30; count += 1) timers.push(setTimeout(() => {}, 60_000));
      },
      { settleMs: 0 },
    ).catch((reason: unknown) => reason as Error);
    for (const timer of timers) clearTimeout(timer);
    expect(error).toBeInstanceOf(Error);
    const { message } = error as Error;
    expect(message).toMatch(/Timeout \((?:29|30|31) times\)\n\s+at forgetful \(.*misuse\.test\.ts:\d+/);
    expect(message.split('\n').length).toBeLessThan(12);
  });
});
