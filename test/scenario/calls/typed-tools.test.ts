/** Tools as methods: which tool a method is, and when it is found. */
import { describe, expect, it } from 'vitest';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, text, tool } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

useCrashWatch();
useLeakCheck();
const troupes = useTroupes();

type Method = (args?: object, options?: object) => Promise<unknown>;
type Methods = Readonly<Record<string, Readonly<Record<string, Method>>>>;

/** As JavaScript sees it: any server has any method. */
function methodsOf(source: { typed(): unknown }): Methods {
  return source.typed() as Methods;
}

function open(names: readonly string[], server = 'my-server') {
  const scripted = new ScriptedServer({ tools: names.map((name) => tool(name)) });
  const { troupe, clock } = troupes.make({ servers: { [server]: inProcess(scripted) } });
  return {
    scripted,
    troupe,
    clock,
    call: (name: string, by = server) => methodsOf(troupe)[by]?.[name] as Method,
  };
}

const sentTo = (server: ScriptedServer): unknown[] =>
  server.of('tools/call').map(({ params }) => params['name']);

describe('a method', () => {
  it.each([
    ['read_file', 'read_file'],
    ['readFile', 'read_file'],
    ['listAll.now', 'listAll.now'],
    ['listAllNow', 'listAll.now'],
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
  ])('called %s is the tool %s.', async (method, name) => {
    const { scripted, troupe, clock, call } = open(['read_file', 'listAll.now', '__proto__', 'constructor']);
    await passTime(clock, troupe.start());
    await passTime(clock, call(method)({ a: 1 }));
    await passTime(clock, call(method, 'myServer')());
    expect(sentTo(scripted)).toEqual([name, name]);
    expect(scripted.of('tools/call')[0]?.params['arguments']).toEqual({ a: 1 });
  });

  it('with an exact name comes before one in camel case, and a name that several tools have is refused.', async () => {
    const { scripted, troupe, clock, call } = open(['readFile', 'read_file', 'list-all', 'list_all']);
    await passTime(clock, troupe.start());
    await passTime(clock, call('readFile')());
    await passTime(clock, call('list_all')());
    await expect(passTime(clock, call('listAll')())).rejects.toMatchObject({
      code: 'UNKNOWN_TOOL',
      message: "'listAll' may mean the tool 'list-all' or 'list_all': write the exact name.",
    });
    expect(sentTo(scripted)).toEqual(['readFile', 'list_all']);
  });

  it('waits for a server that has not listed its tools yet.', async () => {
    const gate = createGate();
    const tools = [tool('read_file')];
    const scripted = new ScriptedServer({
      tools,
      on: {
        'tools/list': async () => {
          await gate.promise;
          return { tools };
        },
      },
    });
    const { troupe, clock } = troupes.make({ servers: { slow: inProcess(scripted) } });
    void troupe.start();
    await clock.advance(0);
    const called = methodsOf(troupe)['slow']?.['readFile']?.() as Promise<unknown>;
    const late = methodsOf(troupe)['slow']?.['readFile']?.({}, { timeoutMs: 5 }) as Promise<unknown>;
    await expect(passTime(clock, late)).rejects.toMatchObject({ code: 'NOT_READY' });
    gate.open();
    await expect(passTime(clock, called)).resolves.toEqual(text('read_file {}'));
  });

  it('of an unknown name says what may be meant.', async () => {
    const { troupe, clock, call } = open(['read_file']);
    await passTime(clock, troupe.start());
    await expect(passTime(clock, call('redFile')())).rejects.toThrow('read_file');
    await expect(passTime(clock, call('readFile', 'mySever')())).rejects.toThrow("Did you mean 'myServer'?");
    await expect(passTime(clock, call('readFile')({}, { timeout: 5 }))).rejects.toThrow(
      "did you mean 'timeoutMs'?",
    );
  });

  it('of a view is one of its tools.', async () => {
    const { scripted, troupe, clock } = open(['read_file', 'drop_all'], 'fs');
    await passTime(clock, troupe.start());
    const view = methodsOf(troupe.view({ tools: ['*__read_*'] }));
    await passTime(clock, view['fs']?.['readFile']?.() as Promise<unknown>);
    await expect(passTime(clock, view['fs']?.['dropAll']?.() as Promise<unknown>)).rejects.toMatchObject({
      code: 'UNKNOWN_TOOL',
    });
    await expect(passTime(clock, view['fs']?.['drop_all']?.() as Promise<unknown>)).rejects.toMatchObject({
      code: 'UNKNOWN_TOOL',
    });
    const none = methodsOf(troupe.view({ servers: [] }))['fs']?.['readFile']?.() as Promise<unknown>;
    await expect(passTime(clock, none)).rejects.toMatchObject({ code: 'UNKNOWN_TOOL' });
    expect(sentTo(scripted)).toEqual(['read_file']);
  });

  it('of a troupe that is not running rejects.', async () => {
    const { troupe, clock, call } = open(['read_file']);
    await expect(call('readFile')()).rejects.toMatchObject({ code: 'NOT_READY' });
    await passTime(clock, troupe.start());
    await passTime(clock, troupe.close());
    await expect(call('readFile')()).rejects.toMatchObject({ code: 'NOT_READY' });
  });
});

describe('the methods', () => {
  it('are nothing that await, JSON or a console would call.', async () => {
    const { scripted, troupe, clock } = open(['then', 'toJSON'], 'fs');
    await passTime(clock, troupe.start());
    const methods = methodsOf(troupe);
    const awaited = await Promise.resolve(methods);
    expect(awaited).toBe(methods);
    expect([awaited['then'], awaited['fs']?.['then'], awaited['fs']?.['toJSON']]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect([JSON.stringify(methods), String(Object.keys(methods))]).toEqual(['{}', '']);
    expect(() => Object.assign(methods, { fs: 1 })).toThrow(TypeError);
    expect(sentTo(scripted)).toEqual([]);
  });
});
