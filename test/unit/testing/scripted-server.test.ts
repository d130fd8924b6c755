/** A server that follows a script, as a host sees it through a troupe. */
import { describe, expect, it } from 'vitest';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { createFakeTransport } from '../../../src/testing/fake-transport.js';
import { createScriptedServer } from '../../../src/testing/scripted-server.js';
import { tool } from '../../../src/testing/ordinary-answers.js';
import { createControlledClock } from '../../../src/testing/controlled-clock.js';
import type { Handler, ServerScript } from '../../../src/testing/server-script.js';
import type { TroupeOptions } from '../../../src/options.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { passTime, useTroupes, whenState, type TestTroupe } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
const troupes = useTroupes();

interface Played extends TestTroupe {
  readonly server: ReturnType<typeof createScriptedServer>;
}

async function play(script: ServerScript, options: TroupeOptions = {}): Promise<Played> {
  const clock = createControlledClock();
  const server = createScriptedServer(script, { clock });
  const test = troupes.make({ clock, servers: { files: { type: 'in-process', server } }, ...options });
  await passTime(clock, test.troupe.start());
  return { ...test, clock, server };
}

const call = ({ troupe }: Played, name = 'mcp__files__echo') => troupe.callTool(name, { a: 1 });

function raise(thrown: unknown): never {
  throw thrown;
}

describe('a scripted server', () => {
  it('answers like a small server if its script has no answer.', async () => {
    const played = await play({});
    expect(played.troupe.tools.map(({ name }) => name)).toEqual(['mcp__files__echo']);
    expect(await call(played)).toEqual({ content: [{ type: 'text', text: 'echo {"a":1}' }] });
    expect(played.server.of('tools/call')).toHaveLength(1);
  });

  it('returns the answers of a list one by one, and then always the last one.', async () => {
    const played = await play({
      on: {
        'tools/call': [
          { result: { content: [{ type: 'text', text: 'first' }] } },
          { error: { code: -32_000, message: 'no more' } },
        ],
      },
    });
    expect(await call(played)).toEqual({ content: [{ type: 'text', text: 'first' }] });
    for (const _ of [2, 3]) await expect(call(played)).rejects.toMatchObject({ code: 'JSON_RPC_ERROR' });
  });

  it('starts with the first answer of a list that is set later.', async () => {
    const played = await play({ on: { 'tools/call': [{}, {}] } });
    await call(played);
    const error = { code: -32_000, message: 'another' };
    played.server.script = { on: { 'tools/call': [{ error }, {}] } };
    await expect(call(played)).rejects.toThrow('another');
    await expect(call(played)).resolves.toMatchObject({ content: [{ text: 'echo {"a":1}' }] });
  });

  it.each<[string, Handler, string]>([
    [
      'an error of Node',
      () => raise(Object.assign(new Error('No such file.'), { code: 'ENOENT' })),
      'No such file.',
    ],
    ['a text', () => raise('a text'), 'a text'],
    ['null', () => raise(null), 'null'],
  ])('answers with an error if a handler throws %s.', async (_, handler, message) => {
    const played = await play({ on: { 'tools/call': handler } });
    await expect(call(played)).rejects.toMatchObject({ code: 'JSON_RPC_ERROR', rpcMessage: message });
  });

  it('answers with an error if a handler returns nothing.', async () => {
    const played = await play({ on: { 'tools/call': () => undefined } });
    await expect(call(played)).rejects.toThrow("'tools/call'");
  });

  it('sends no progress to a client that did not request it.', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const problems: Error[] = [];
    client.onerror = (error) => problems.push(error);
    await client.connect(
      createFakeTransport({ peer: createScriptedServer({ on: { ping: { progress: 2 } } }) }),
    );
    await client.ping();
    await client.close();
    expect(problems).toEqual([]);
  });

  it('refuses an invalid script, and names the position.', () => {
    const server = createScriptedServer();
    const wrong = { tool: [], start: { fault: 'explode' }, on: { ping: [{ afterMs: -1 }, null], call: [] } };
    const why =
      "The script is invalid: 'tool': is not known here; did you mean 'tools'?; " +
      "'start.fault': expected one of 'silent', 'crash', found 'explode'; " +
      "'on.ping[0].afterMs': expected a number of at least 0, found a smaller number; 'on.ping[1]': expected an object, found null; " +
      "'on.call': must not be empty";
    expect(() => createScriptedServer(wrong as never)).toThrow(new TypeError(why));
    expect(() => (server.script = wrong as never)).toThrow(new TypeError(why));
    expect(server.script).toEqual({});
    expect(() => createScriptedServer(null as never)).toThrow('expected an object, found null');
    expect(() => createScriptedServer({ beforeConnect: 'no' } as never)).toThrow(
      "'beforeConnect': expected a function, found a string",
    );
  });

  it('is not connected if the session ended before it was accepted.', async () => {
    let accept = (): void => {};
    const server = createScriptedServer({
      start: { afterMs: 5 },
      beforeConnect: () => new Promise((resolve) => (accept = resolve)),
    });
    const transport = createFakeTransport({ peer: server });
    const started = transport.start();
    await transport.close();
    accept();
    await expect(started).rejects.toThrow(Error);
    expect(server.isConnected).toBe(false);
  });

  it('can be slow with progress, and the call is waited for no longer than that allows.', async () => {
    const played = await play({ on: { 'tools/call': { progress: 2, afterMs: 5_000 } } });
    const reported: number[] = [];
    const answer = played.troupe.callTool(
      'mcp__files__echo',
      {},
      { onProgress: ({ progress }) => reported.push(progress) },
    );
    await passTime(played.clock, answer);
    expect(reported).toEqual([1, 2]);
  });

  it('can be silent, and the call ends at its own limit.', async () => {
    const played = await play({ on: { 'tools/call': { fault: 'silent' } } });
    const answer = call(played);
    answer.catch(() => {});
    await expect(passTime(played.clock, answer, 120_000)).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
  });

  it('can crash during a call, and has another session afterwards.', async () => {
    const played = await play({ on: { 'tools/call': [{ fault: 'crash' }, {}] } }, { retryCalls: 'never' });
    await expect(call(played)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await passTime(played.clock, whenState(played, 'files', 'ready'));
    expect(await call(played)).toMatchObject({ content: [{ text: 'echo {"a":1}' }] });
    expect(played.server.sessions).toBe(2);
  });

  it('can send bytes that are not a message, and the call is answered anyway.', async () => {
    const played = await play({ on: { 'tools/call': { garbage: 'Segmentation fault' } } });
    expect(await call(played)).toMatchObject({ content: [{ text: 'echo {"a":1}' }] });
  });

  it('can have an unsupported protocol version, which ends the connection permanently.', async () => {
    const { troupe } = await play({ protocolVersion: '1999-01-01' });
    expect(troupe.connection('files')!.status.error).toMatchObject({ code: 'protocol-version' });
  });

  it('can list its tools in pages.', async () => {
    const { troupe, server } = await play({ pages: [[tool('a')], [], [tool('b'), tool('c')]] });
    expect(troupe.tools.map((each) => each.tool)).toEqual(['a', 'b', 'c']);
    expect(server.of('tools/list').map(({ params }) => params['cursor'])).toEqual([undefined, '1', '2']);
  });

  it('can change its tools during a call, and by itself.', async () => {
    const played = await play({ on: { 'tools/call': { tools: [tool('later')] } } });
    await call(played);
    await played.clock.advance(2_000);
    expect(played.troupe.tools.map((each) => each.tool)).toEqual(['later']);
    played.server.changeTools([tool('last')]);
    await played.clock.advance(2_000);
    expect(played.troupe.tools.map((each) => each.tool)).toEqual(['last']);
  });

  it('can ask the client before it answers, and repeats the client’s answer.', async () => {
    const played = await play({ on: { 'tools/call': { ask: { method: 'ping' } } } });
    expect(await call(played)).toEqual({ content: [{ type: 'text', text: '{}' }] });
    expect(await played.server.ask('ping')).toEqual({});
  });

  it('can start late, never answer, or not start at all.', async () => {
    const late = await play({ start: { afterMs: 3_000 } });
    expect(late.troupe.connection('files')!.status).toMatchObject({ state: 'ready' });
    const mute = await play({ start: { fault: 'silent' } }, { policy: { maxAttempts: 1 } });
    await passTime(mute.clock, whenState(mute, 'files', 'failed'));
    expect(mute.troupe.connection('files')!.status.error).toMatchObject({ code: 'handshake-timeout' });
    const dead = await play({ start: { fault: 'crash' } }, { policy: { maxAttempts: 1 } });
    await passTime(dead.clock, whenState(dead, 'files', 'failed'));
    expect(dead.troupe.connection('files')!.status.error).toMatchObject({ code: 'connection-lost' });
  });

  it('leaves no wait when its session ends.', async () => {
    const played = await play({ on: { 'tools/call': { afterMs: 777_000 } } });
    const answer = call(played);
    answer.catch(() => {});
    await played.server.whenReceived('tools/call');
    expect(played.clock.pending).toContain(777_000);
    await passTime(played.clock, played.troupe.close());
    expect(played.clock.pending).not.toContain(777_000);
    await expect(answer).rejects.toThrow();
  });
});
