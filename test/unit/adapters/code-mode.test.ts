import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { toTools, runToolCalls } from '../../../src/adapters/anthropic.js';
import {
  CODE_PRELUDE,
  codeMode,
  type CodeBridge,
  type CodeModeOptions,
} from '../../../src/adapters/code-mode.js';
import type { ToolSource } from '../../../src/adapters/tool-source.js';
import type { TroupeOptions } from '../../../src/options.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { refuse, SILENCE, tool, type Script } from '../../support/scripted-server.js';
import { makeWorld, PNG } from '../../support/started-troupe.js';

useLeakCheck();
useCrashWatch();

type Program = (bridge: CodeBridge) => unknown;

/** Stands in for the sandbox: the "code" is a function of the test. */
function mode(source: ToolSource, program: Program, options: Partial<CodeModeOptions> = {}): ToolSource {
  return codeMode(source, { run: async (_, bridge) => program(bridge), ...options });
}

async function run(source: ToolSource, signal?: AbortSignal): Promise<{ text: string; isError: boolean }> {
  const { content, isError } = await source.callTool(
    'run_code',
    { code: '…' },
    signal === undefined ? {} : { signal },
  );
  const [block] = content;
  return { text: block?.type === 'text' ? block.text : '', isError: isError ?? false };
}

const TOOLS: Script = { tools: [tool('get_record'), tool('read_all'), tool('drop_all')] };
const openBox = (script: Script = TOOLS, options: TroupeOptions = {}) => makeWorld(script, options);

describe('code mode', () => {
  it('offers one tool, with the types of all others in its description, which follows their changes.', async () => {
    const { server, troupe } = await openBox();
    const source = mode(troupe, () => null);
    const [offered, ...others] = toTools(source);
    expect([others, offered?.name]).toEqual([[], 'run_code']);
    expect(source.tools).toBe(source.tools);
    expect(source.tools[0]?.description).toContain('declare const tools: {\n  box: {\n');
    expect(source.tools[0]?.description).toContain('getRecord(args?: {');
    server.script = { tools: [tool('newcomer')] };
    server.notify('notifications/tools/list_changed');
    await troupe.once('catalog.changed');
    expect(source.tools[0]?.description).toContain('newcomer(');
  });

  it('gives code the structured content of a result, or else its text, and throws if a tool fails.', async () => {
    const results = [
      { content: [{ type: 'text', text: '{}' }], structuredContent: { a: 1 } },
      {
        content: [
          { type: 'text', text: 'one' },
          { type: 'image', data: PNG, mimeType: 'image/png' },
        ],
      },
      { content: [{ type: 'text', text: 'it failed' }], isError: true },
    ];
    const { server, troupe } = await openBox({ ...TOOLS, on: { 'tools/call': () => results.shift() ?? {} } });
    const source = mode(troupe, async ({ runTool }) => {
      const failure = async (): Promise<unknown> =>
        runTool('box', 'getRecord', {}).catch((error: unknown) => (error as Error).message);
      return [
        await runTool('box', 'get_record', { x: 1 }),
        await runTool('box', 'getRecord', {}),
        await failure(),
      ];
    });
    const { text, isError } = await run(source);
    expect([JSON.parse(text), isError]).toEqual([[{ a: 1 }, 'one\n[image: image/png]', 'it failed'], false]);
    expect(server.of('tools/call')[0]?.params).toMatchObject({ name: 'get_record', arguments: { x: 1 } });
  });

  it('answers a model within the boundary, with an error if the code fails.', async () => {
    const { troupe } = await openBox();
    const use = [{ type: 'tool_use', id: 'a', name: 'run_code', input: { code: 'x' } }];
    const [fine] = await runToolCalls(
      mode(troupe, () => 'the answer'),
      use,
    );
    expect(fine).toMatchObject({
      is_error: false,
      content: [{ text: expect.stringContaining('the answer') }],
    });
    const failing = mode(troupe, () => {
      throw new Error('a fault of the code');
    });
    const [wrong] = await runToolCalls(failing, use);
    expect(wrong).toMatchObject({
      is_error: true,
      content: [{ text: expect.stringContaining('a fault of the code') }],
    });
    const [none] = await runToolCalls(failing, [{ type: 'tool_use', id: 'a', name: 'run_code', input: {} }]);
    expect(none).toMatchObject({ is_error: true, content: [{ text: expect.stringContaining("'code'") }] });
  });

  it('asks about the tool itself, and events and hooks name it.', async () => {
    const hooked: string[] = [];
    const { troupe } = await openBox(TOOLS, {
      requiresConfirmation: ({ tool: name }) => name === 'drop_all',
      hooks: { beforeCall: ({ tool: name }) => void hooked.push(name) },
    });
    const asked: string[] = [];
    const events: string[] = [];
    troupe.on('call.started', (event) => events.push(event.tool));
    const program: Program = async ({ runTool }) => {
      await runTool('box', 'getRecord', {});
      return runTool('box', 'dropAll', {});
    };
    expect(await run(mode(troupe, program))).toMatchObject({
      isError: true,
      text: expect.stringContaining('confirm'),
    });
    const refused = mode(troupe, program, { confirm: ({ tool: name }) => void asked.push(name) as never });
    expect((await run(refused)).isError).toBe(true);
    const confirmed = mode(troupe, program, { confirm: ({ tool: name }) => asked.push(name) > 0 });
    expect((await run(confirmed)).isError).toBe(false);
    expect(asked).toEqual(['drop_all', 'drop_all']);
    expect(hooked.filter((name) => name === 'drop_all')).toHaveLength(1);
    expect(events).toEqual(['get_record', 'get_record', 'get_record', 'drop_all']);
  });

  it('rethrows an error of the host that confirms, and the reason of an abort.', async () => {
    const { troupe } = await openBox();
    const fault = new Error('a fault of the host');
    const program: Program = ({ runTool }) => runTool('box', 'getRecord', {}).catch(() => 'caught');
    const confirm = () => Promise.reject(fault);
    await expect(run(mode(troupe, program, { confirm }))).rejects.toBe(fault);
    const stop = new AbortController();
    const waiting = mode(troupe, ({ signal }) => {
      stop.abort(new Error('the user left'));
      return new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    await expect(run(waiting, stop.signal)).rejects.toThrow('the user left');
  });

  it('finds a tool by words, with its types.', async () => {
    const { troupe } = await openBox();
    const { text } = await run(mode(troupe, ({ searchTools }) => searchTools('drop everything')));
    expect(text).toContain('dropAll(args');
  });

  it('says which tool or server may be meant.', async () => {
    const { troupe } = await openBox();
    const call =
      (server: string, name: string): Program =>
      ({ runTool }) =>
        runTool(server, name, {});
    expect((await run(mode(troupe, call('bax', 'readAll')))).text).toContain("'box'");
    expect((await run(mode(troupe, call('box', 'redAll')))).text).toContain("'readAll'");
    expect((await run(mode(troupe, ({ runTool }) => runTool('box', 'readAll', 'x')))).isError).toBe(true);
  });

  it('calls nothing that a view does not offer.', async () => {
    const { server, troupe } = await openBox();
    const view = troupe.view({ tools: ['mcp__box__get_*'] });
    const source = mode(view, ({ runTool }) => runTool('box', 'drop_all', {}));
    expect(source.tools[0]?.description).not.toContain('dropAll');
    expect((await run(source)).isError).toBe(true);
    expect(server.of('tools/call')).toEqual([]);
  });
});

describe('the limits of a run', () => {
  it('end code that calls too often, even if it catches the error.', async () => {
    const { server, troupe } = await openBox();
    const greedy: Program = async ({ runTool, signal }) => {
      while (!signal.aborted) await runTool('box', 'getRecord', {}).catch(() => {});
      return 'went on';
    };
    expect(await run(mode(troupe, greedy, { limits: { calls: 3 } }))).toEqual({
      text: 'The code made more than 3 calls.',
      isError: true,
    });
    expect(server.of('tools/call')).toHaveLength(3);
  });

  it('keep further calls waiting for a turn.', async () => {
    let [now, most] = [0, 0];
    const answer = async (): Promise<object> => {
      now += 1;
      most = Math.max(most, now);
      await Promise.resolve();
      now -= 1;
      return { content: [] };
    };
    const { troupe } = await openBox({ ...TOOLS, on: { 'tools/call': answer } });
    const many: Program = ({ runTool }) =>
      Promise.all([1, 2, 3, 4, 5].map(() => runTool('box', 'getRecord', {})));
    expect((await run(mode(troupe, many, { limits: { concurrentCalls: 1 } }))).isError).toBe(false);
    expect(most).toBe(1);
  });

  it('end code that takes too long, and its calls.', async () => {
    const { troupe } = await openBox({ ...TOOLS, on: { 'tools/call': () => SILENCE } });
    const cancelled = troupe.once('call.finished');
    const slow = mode(troupe, ({ runTool }) => runTool('box', 'getRecord', {}), { limits: { totalMs: 5 } });
    expect(await run(slow)).toEqual({ text: 'The code took longer than 5 ms.', isError: true });
    expect((await cancelled).outcome).toBe('aborted');
  });

  it('let the time stand still while a person is asked.', async () => {
    const { troupe } = await openBox();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    try {
      const confirm = async (): Promise<boolean> => {
        await vi.advanceTimersByTimeAsync(3_600_000);
        return true;
      };
      const twice: Program = ({ runTool }) =>
        Promise.all(['getRecord', 'readAll'].map((name) => runTool('box', name, {})));
      expect((await run(mode(troupe, twice, { confirm, limits: { totalMs: 1_000 } }))).isError).toBe(false);
      const stuck: Program = () => vi.advanceTimersByTimeAsync(1_000).then(() => new Promise(() => {}));
      expect(await run(mode(troupe, stuck, { limits: { totalMs: 1_000 } }))).toMatchObject({ isError: true });
    } finally {
      vi.useRealTimers();
    }
  });

  it('count the characters of the results that code gets, and of what it returns.', async () => {
    const large = { content: [{ type: 'text', text: 'x'.repeat(60) }] };
    const { troupe } = await openBox({ ...TOOLS, on: { 'tools/call': () => large } });
    const limits = { resultCharacters: 100 };
    const twice: Program = async ({ runTool }) => {
      for (const _ of [1, 2]) await runTool('box', 'getRecord', {}).catch(() => {});
      return 'went on';
    };
    expect(await run(mode(troupe, twice, { limits }))).toMatchObject({
      isError: true,
      text: expect.stringContaining('100'),
    });
    expect(await run(mode(troupe, () => 'x'.repeat(101), { limits }))).toMatchObject({ isError: true });
    expect(await run(mode(troupe, () => 'x'.repeat(100), { limits }))).toMatchObject({ isError: false });
  });

  it('hold after the run: its bridge calls nothing more.', async () => {
    const { server, troupe } = await openBox();
    let kept: CodeBridge | undefined;
    await run(mode(troupe, (bridge) => void (kept = bridge)));
    await expect(kept?.runTool('box', 'getRecord', {})).rejects.toThrow('The run is over.');
    await expect(kept?.searchTools('x')).rejects.toThrow('The run is over.');
    expect([kept?.signal.aborted, server.of('tools/call')]).toEqual([true, []]);
  });

  it.each([
    [{ limits: { call: 1 } }, "'calls'"],
    [{ limits: { calls: 0 } }, "'calls'"],
    [{ limits: { totalMs: 1.5 } }, "'totalMs'"],
    [{ maxTokens: -1 }, "'maxTokens'"],
    [{ run: undefined }, "'run'"],
    [{ confrm: 'never' }, "'confirm'"],
  ])('are refused if they make no sense: %j.', async (options, name) => {
    const { troupe } = await openBox();
    expect(() => codeMode(troupe, { run: async () => {}, ...options } as never)).toThrow(name);
  });

  it('do not depend on the server: one that refuses is an error of the code.', async () => {
    const { troupe } = await openBox({ ...TOOLS, on: { 'tools/call': () => refuse(-32000, 'no') } });
    expect((await run(mode(troupe, ({ runTool }) => runTool('box', 'getRecord', {})))).isError).toBe(true);
  });
});

describe('the description of the tools', () => {
  const names = Array.from({ length: 40 }, (_, at) => tool(`tool_${at}`));
  const described = names.map((each) => ({ ...each, description: `First. ${'Then more. '.repeat(20)}` }));

  it.each([
    [100_000, 'Then more.', false],
    [1_500, '/** First. */', false],
    [800, 'tools.box.tool0(', true],
    [50, 'tools.box: 40 tools', true],
  ])('fits %i tokens, and names a search if something is left out.', async (maxTokens, part, isShort) => {
    const { troupe } = await openBox({ tools: described });
    const text = mode(troupe, () => null, { maxTokens }).tools[0]?.description ?? '';
    expect(text).toContain(part);
    expect(text.includes('searchTools')).toBe(isShort);
    expect(text.length / 4).toBeLessThan(maxTokens + 200);
  });
});

describe('the prelude', () => {
  it('makes methods of a function, and nothing that await or JSON would call.', async () => {
    const calls: unknown[] = [];
    const place = { runTool: (...call: unknown[]) => calls.push(call) };
    runInNewContext(CODE_PRELUDE, place);
    const { tools } = place as unknown as {
      tools: Record<string, Record<string, (args?: object) => unknown>>;
    };
    tools['box']?.['read_all']?.({ a: 1 });
    tools['__proto__']?.['constructor']?.();
    expect(calls).toEqual([
      ['box', 'read_all', { a: 1 }],
      ['__proto__', 'constructor', {}],
    ]);
    expect([tools['then'], tools['box']?.['toJSON'], JSON.stringify(tools)]).toEqual([
      undefined,
      undefined,
      '{}',
    ]);
  });
});
