/** Mistakes of the caller are told as such: repeating the call could not help. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createTroupe, type CallOptions } from '../../../src/index.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer } from '../../support/scripted-server.js';
import { inProcess, useTroupes } from '../../support/test-troupe.js';

const SMALL_SERVER = fileURLToPath(new URL('../../../tools/bench/small-server.mjs', import.meta.url));
const NAME = 'mcp__a__echo';

describe('a call with a mistake', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it.each([
    ['null', null],
    ['a list', [1]],
    ['a text', 'path'],
    ['a number', 7],
  ])('is refused where its arguments are %s, and nothing is sent', async (_, args) => {
    const server = new ScriptedServer();
    const { troupe, events } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    const call = troupe.callTool(NAME, args as unknown as object);
    await expect(call).rejects.toThrow(new TypeError('The arguments of a call must be an object.'));
    expect(server.of('tools/call')).toEqual([]);
    expect(events.of('call.started')).toEqual([]);
  });

  it('is refused where its signal is none', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const options = { signal: {} } as unknown as CallOptions;
    await expect(troupe.callTool(NAME, {}, options)).rejects.toThrow('must be an AbortSignal');
  });

  it.each([
    [{ timeoutMs: '5s' }, "'timeoutMs' of a call must be a number of milliseconds."],
    [{ totalTimeoutMs: null }, "'totalTimeoutMs' of a call must be a number of milliseconds."],
    [{ retryCalls: 'always' }, "'retryCalls' of a call must be 'safe' or 'never'."],
  ])('is refused where its options are %j', async (options, message) => {
    const server = new ScriptedServer();
    const { troupe } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    const call = troupe.callTool(NAME, {}, options as unknown as CallOptions);
    await expect(call).rejects.toThrow(new TypeError(message));
    expect(server.of('tools/call')).toEqual([]);
  });

  it.each([
    [null, 'The options of a call must be an object.'],
    [{ signal: null }, 'The signal of a call must be an AbortSignal.'],
    [{ meta: 'me' }, "'meta' of a call must be an object."],
    [{ meta: ['me'] }, "'meta' of a call must be an object."],
  ])('rejects, and never throws, where its options are %j', async (options, message) => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const asked = [
      troupe.callTool(NAME, {}, options as never),
      troupe.connection('a')?.callTool('echo', {}, options as never),
    ];
    for (const call of asked) await expect(call).rejects.toThrow(new TypeError(message));
  });

  it('takes arguments of any object type', async () => {
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

  it('says why its arguments or its meta are no JSON, and leaves the session alone', async () => {
    await using troupe = createTroupe({
      servers: { a: { command: process.execPath, args: [SMALL_SERVER] } },
    });
    await troupe.start();
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    await expect(troupe.callTool('mcp__a__tool_0', { big: 1n })).rejects.toThrow(
      /cannot be sent as JSON: .*BigInt/,
    );
    await expect(troupe.callTool('mcp__a__tool_0', circle)).rejects.toBeInstanceOf(TypeError);
    await expect(troupe.callTool('mcp__a__tool_0', {}, { meta: circle })).rejects.toThrow(
      /^'meta' of the call cannot be sent as JSON: /,
    );
    await expect(troupe.callTool('mcp__a__tool_0', { ok: true })).resolves.toMatchObject({
      content: [{ text: '{"ok":true}' }],
    });
  });
});
