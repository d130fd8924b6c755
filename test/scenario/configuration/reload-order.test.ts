/** The order of a reload and a start, a close, another reload, or a server that is added or removed meanwhile. */
import { describe, expect, it } from 'vitest';
import { NotReadyError } from '../../../src/errors.js';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import type { Troupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, silent, text } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
const { make } = useTroupes();

const OFF: ServerConfig = { command: 'off', enabled: false };

const mute = (): ScriptedServer => new ScriptedServer({ on: { initialize: silent } });

describe('a reload', () => {
  it('before the start is rejected, because there is nothing to compare with', async () => {
    const server = new ScriptedServer();
    const { troupe } = make({ servers: {} });
    await expect(troupe.reload({ a: inProcess(server) })).rejects.toBeInstanceOf(NotReadyError);
    await expect(troupe.start()).resolves.toMatchObject({ ready: [] });
    expect(server.sessions).toBe(0);
  });

  it('during the start waits for the start', async () => {
    const gate = createGate();
    const [a, b] = [new ScriptedServer({ beforeConnect: () => gate.promise }), new ScriptedServer()];
    const { troupe } = make({ servers: { a: inProcess(a) } });
    const starting = troupe.start();
    const reloading = troupe.reload({ b: inProcess(b) });
    gate.open();
    await expect(starting).resolves.toMatchObject({ ready: ['a'] });
    await expect(reloading).resolves.toMatchObject({ added: ['b'], removed: ['a'] });
    expect([a.isConnected, b.isConnected]).toEqual([false, true]);
  });

  it('after the close is rejected', async () => {
    const { troupe } = make({ servers: {} });
    await troupe.start();
    await troupe.close();
    await expect(troupe.reload()).rejects.toBeInstanceOf(NotReadyError);
  });

  it('that the close interrupts starts no server', async () => {
    const server = new ScriptedServer();
    const { troupe } = make({ servers: {} });
    await troupe.start();
    const reloading = troupe.reload({ a: inProcess(server) });
    const closing = troupe.close();
    await expect(reloading).rejects.toBeInstanceOf(NotReadyError);
    await closing;
    expect(server.sessions).toBe(0);
    expect(troupe.status).toEqual([]);
  });

  it('that the close interrupts while its servers start leaves nothing behind', async () => {
    const server = mute();
    const { troupe, clock } = make({ servers: {} });
    await troupe.start();
    const reloading = troupe.reload({ a: inProcess(server) });
    await server.whenReceived('initialize');
    await passTime(clock, troupe.close());
    await expect(reloading).resolves.toMatchObject({ added: ['a'] });
    expect(server.isConnected).toBe(false);
  });

  it('that is requested several times runs as often, one after the other, and the last one counts', async () => {
    const servers = [new ScriptedServer(), new ScriptedServer(), new ScriptedServer()];
    const { troupe } = make({ servers: { a: inProcess(servers[0]!) } });
    await troupe.start();
    const reports = await Promise.all([
      troupe.reload({ a: inProcess(servers[1]!), b: inProcess(servers[0]!) }),
      troupe.reload({ a: inProcess(servers[2]!) }),
      troupe.reload(),
    ]);
    expect(reports).toMatchObject([
      { added: ['b'], changed: ['a'] },
      { removed: ['b'], changed: ['a'] },
      { added: [], removed: [], changed: [], unchanged: ['a'] },
    ]);
    expect(servers.map(({ isConnected }) => isConnected)).toEqual([false, false, true]);
  });

  it('runs after one that was rejected', async () => {
    const { troupe } = make({ servers: {} });
    await troupe.start();
    const refused = troupe.reload(7 as never);
    const next = troupe.reload({ a: inProcess(new ScriptedServer()) });
    await expect(refused).rejects.toMatchObject({ code: 'CONFIG_ERROR' });
    await expect(next).resolves.toMatchObject({ added: ['a'] });
  });

  it('waits for a silent server no longer than the start gate, and does not delay the other servers', async () => {
    const good = new ScriptedServer();
    const { troupe, clock } = make({ servers: {}, startGateMs: 2_000 });
    await troupe.start();
    const startedAt = clock.now();
    const reloading = troupe.reload({ mute: inProcess(mute()), good: inProcess(good) });
    await good.whenReceived('tools/list');
    await passTime(clock, reloading);
    expect(clock.now() - startedAt).toBe(2_000);
    expect(troupe.status).toMatchObject([{ state: 'handshaking' }, { state: 'ready' }]);
  });

  it('does not make the next one wait for a silent server', async () => {
    const { troupe } = make({ servers: {} });
    await troupe.start();
    const silently = troupe.reload({ mute: inProcess(mute()) });
    const server = new ScriptedServer();
    const report = await troupe.reload({ a: inProcess(server) });
    expect(report).toMatchObject({ added: ['a'], removed: ['mute'] });
    expect(server.isConnected).toBe(true);
    await expect(silently).resolves.toMatchObject({ added: ['mute'] });
  });

  it('continues when a signal ends the wait for it', async () => {
    const server = new ScriptedServer();
    const { troupe, events } = make({ servers: {} });
    await troupe.start();
    const waiting = new AbortController();
    const reloading = troupe.reload({ a: inProcess(server) }, { signal: waiting.signal });
    waiting.abort(new Error('waited enough'));
    await expect(reloading).rejects.toThrow('waited enough');
    await events.when('connection.ready');
    const aborted = AbortSignal.abort(new Error('aborted before'));
    await expect(troupe.reload({}, { signal: aborted })).rejects.toThrow('aborted before');
    expect(troupe.connection('a')?.state).toBe('ready');
  });
});

describe('a server that was added with add()', () => {
  it('stays until it is removed, whatever servers the host names', async () => {
    const server = new ScriptedServer();
    const { troupe } = make({ servers: {} });
    await troupe.start();
    await (await troupe.add('mine', inProcess(server))).ready();
    await expect(troupe.reload()).resolves.toMatchObject({ unchanged: ['mine'] });
    await expect(troupe.reload({})).resolves.toMatchObject({ removed: [], unchanged: ['mine'] });
    expect(server.sessions).toBe(1);
    await troupe.remove('mine');
    await expect(troupe.reload()).resolves.toMatchObject({ added: [], unchanged: [] });
    expect(troupe.connection('mine')).toBeUndefined();
  });

  it('while the sources are read is not removed', async () => {
    const server = new ScriptedServer();
    const { troupe } = make({ servers: {} });
    await troupe.start();
    const [report] = await Promise.all([troupe.reload(), troupe.add('mine', inProcess(server))]);
    expect(report.removed).toEqual([]);
    await troupe.connection('mine')?.ready();
    expect(server.sessions).toBe(1);
  });
});

describe('a server that is ending', () => {
  type Ending = (troupe: Troupe) => Promise<unknown>;
  const stop: Ending = async (troupe) => troupe.connection('a')?.stop();
  const remove: Ending = (troupe) => troupe.remove('a');

  async function endingDuringCall(first: Ending, then: Ending) {
    const server = new ScriptedServer({ on: { 'tools/call': silent } });
    const entry = { ...inProcess(server), policy: { stop: { drainMs: 5_000 } } };
    const { troupe, clock } = make({ servers: { a: entry } });
    await troupe.start();
    const call = troupe.callTool('mcp__a__echo');
    call.catch(() => {});
    const { id } = await server.whenReceived('tools/call');
    const ends = [first(troupe), then(troupe)];
    await clock.advance(1_000);
    server.send({ jsonrpc: '2.0', id, result: text('done') });
    return { call, end: Promise.all(ends) };
  }

  it.each<[string, Ending, Ending]>([
    ['keeps the drain of a stop during a reload that removes it', stop, (troupe) => troupe.reload({})],
    [
      'keeps the drain of a stop during a reload that disables it',
      stop,
      (troupe) => troupe.reload({ a: OFF }),
    ],
    ['keeps the drain of a remove during a reload that removes it', remove, (troupe) => troupe.reload({})],
    ['keeps the drain of a reload that removes it during a remove', (troupe) => troupe.reload({}), remove],
    ['keeps the drain of a remove during another remove', remove, remove],
  ])('%s', async (_, first, then) => {
    const { call, end } = await endingDuringCall(first, then);
    await expect(call).resolves.toEqual(text('done'));
    await end;
  });

  it('is stopped without a drain when it is stopped again', async () => {
    const { call, end } = await endingDuringCall(stop, stop);
    await expect(call).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await end;
  });
});

describe('a server that was removed with remove()', () => {
  it('returns with a reload if a source still names it', async () => {
    const server = new ScriptedServer();
    const { troupe } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    await troupe.remove('a');
    await expect(troupe.reload()).resolves.toMatchObject({ added: ['a'] });
    expect(troupe.connection('a')?.status).toMatchObject({ state: 'ready', generation: 1 });
  });

  it('during a reload that removes it is removed once', async () => {
    const server = new ScriptedServer();
    const { troupe, events } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    await Promise.all([troupe.reload({}), troupe.remove('a')]);
    expect(events.of('connection.removed')).toHaveLength(1);
    expect(troupe.status).toEqual([]);
  });
});
