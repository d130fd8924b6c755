/** Mistakes of a caller throw a `TypeError`, because repeating the call would not help. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createTroupe, type CallOptions } from '../../../src/index.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer } from '../../support/scripted-server.js';
import { inProcess, useTroupes } from '../../support/test-troupe.js';

const SMALL_SERVER = fileURLToPath(new URL('../../../tools/bench/small-server.mjs', import.meta.url));
const NAME = 'mcp__a__echo';

const typeErrorAbout = (what: string) => ({ name: 'TypeError', message: expect.stringContaining(what) });

describe('a call with a mistake', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it.each([
    ['null', null],
    ['an array', [1]],
    ['a string', 'path'],
    ['a number', 7],
  ])('is rejected and not sent if its arguments are %s', async (_, args) => {
    const server = new ScriptedServer();
    const { troupe, events } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    const call = troupe.callTool(NAME, args as unknown as object);
    await expect(call).rejects.toMatchObject(typeErrorAbout('arguments'));
    expect(server.of('tools/call')).toEqual([]);
    expect(events.of('call.started')).toEqual([]);
  });

  it('is rejected if its signal is not an AbortSignal', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const options = { signal: {} } as unknown as CallOptions;
    await expect(troupe.callTool(NAME, {}, options)).rejects.toMatchObject(typeErrorAbout('AbortSignal'));
  });

  it.each([
    [{ timeoutMs: '5s' }, "'timeoutMs'"],
    [{ timeoutMs: -1 }, "'timeoutMs'"],
    [{ totalTimeoutMs: Number.NaN }, "'totalTimeoutMs'"],
    [{ totalTimeoutMs: null }, "'totalTimeoutMs'"],
    [{ retryCalls: 'always' }, "'retryCalls'"],
  ])('is rejected and not sent if its options are %j', async (options, option) => {
    const server = new ScriptedServer();
    const { troupe } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    const call = troupe.callTool(NAME, {}, options as unknown as CallOptions);
    await expect(call).rejects.toMatchObject(typeErrorAbout(option));
    expect(server.of('tools/call')).toEqual([]);
  });

  it.each([
    [null, 'options'],
    [{ signal: null }, 'signal'],
    [{ meta: 'me' }, "'meta'"],
    [{ meta: ['me'] }, "'meta'"],
  ])('rejects and does not throw if its options are %j', async (options, option) => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const calls = [
      troupe.callTool(NAME, {}, options as never),
      troupe.connection('a')?.callTool('echo', {}, options as never),
    ];
    for (const call of calls) await expect(call).rejects.toMatchObject(typeErrorAbout(option));
  });

  it('accepts arguments of any object type', async () => {
    interface Path {
      readonly path: string;
    }
    const server = new ScriptedServer();
    const { troupe } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    const args: Path = { path: '/' };
    await troupe.callTool(NAME, args);
    expect(server.of('tools/call')[0]?.params).toMatchObject({ arguments: { path: '/' } });
  });

  it('is rejected if its arguments or meta cannot be sent as JSON, and the session goes on', async () => {
    await using troupe = createTroupe({
      servers: { a: { command: process.execPath, args: [SMALL_SERVER] } },
    });
    await troupe.start();
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    await expect(troupe.callTool('mcp__a__tool_0', { big: 1n })).rejects.toMatchObject(
      typeErrorAbout('BigInt'),
    );
    await expect(troupe.callTool('mcp__a__tool_0', circle)).rejects.toBeInstanceOf(TypeError);
    await expect(troupe.callTool('mcp__a__tool_0', {}, { meta: circle })).rejects.toMatchObject(
      typeErrorAbout("'meta'"),
    );
    await expect(troupe.callTool('mcp__a__tool_0', { ok: true })).resolves.toMatchObject({
      content: [{ text: '{"ok":true}' }],
    });
  });
});
