import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NotReadyError } from '../../../src/errors.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { refuse, ScriptedServer, silent } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

describe('start', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('reports every server by the outcome of its first attempt', async () => {
    const { troupe, clock } = make({
      servers: {
        good: inProcess(new ScriptedServer()),
        wrong: inProcess(new ScriptedServer({ protocolVersion: '1999-01-01' })),
        slow: inProcess(new ScriptedServer({ on: { initialize: silent } })),
        off: inProcess(new ScriptedServer(), { enabled: false }),
      },
    });
    const report = await passTime(clock, troupe.start());
    expect(report.ready).toEqual(['good']);
    expect(report.failed).toMatchObject([{ server: 'wrong', failure: { code: 'protocol-version' } }]);
    expect(report.pending).toEqual([{ server: 'slow', failure: null }]);
    expect(report.sources).toMatchObject([{ scope: 'host', ok: true }]);
  });

  it('returns the first report to every later call', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    const [first, second] = await Promise.all([troupe.start(), troupe.start()]);
    expect(second).toBe(first);
    expect(await troupe.start()).toBe(first);
  });

  it('ends at once if no server is configured', async () => {
    const { troupe, events } = make({ servers: {} });
    await expect(troupe.start()).resolves.toEqual({
      ready: [],
      failed: [],
      pending: [],
      sources: [expect.anything()],
      dropped: [],
    });
    expect(troupe.status).toEqual([]);
    expect(events.of('manager.started')).toMatchObject([{ connections: 0 }]);
  });

  it('ends at once if nothing is configured at all', async () => {
    const { troupe } = make();
    await expect(troupe.start()).resolves.toEqual({
      ready: [],
      failed: [],
      pending: [],
      sources: [],
      dropped: [],
    });
  });

  it('waits for a silent server no longer than the start gate', async () => {
    const { troupe, clock } = make({
      startGateMs: 2_500,
      servers: { mute: inProcess(new ScriptedServer({ on: { initialize: silent } })) },
    });
    const startedAt = clock.now();
    const starting = troupe.start();
    await clock.whenSet(2_500);
    await clock.advance(2_499);
    let report: unknown;
    void starting.then((value) => (report = value));
    await clock.advance(0);
    expect(report).toBeUndefined();
    await clock.advance(1);
    expect(await starting).toMatchObject({ pending: [{ server: 'mute' }] });
    expect(clock.now() - startedAt).toBe(2_500);
  });

  it('is not delayed by servers that fail', async () => {
    const { troupe } = make({
      servers: {
        refuses: inProcess(
          new ScriptedServer({
            beforeConnect: () => {
              throw new Error('not today');
            },
          }),
          { policy: { maxAttempts: 1 } },
        ),
        lists: inProcess(new ScriptedServer({ on: { 'tools/list': refuse(-32603, 'no list') } }), {
          policy: { maxAttempts: 1 },
        }),
        good: inProcess(new ScriptedServer()),
      },
    });
    const report = await troupe.start();
    expect(report.ready).toEqual(['good']);
    expect(report.failed).toMatchObject([
      { server: 'refuses', failure: { code: 'spawn-failed', phase: 'launch' } },
      { server: 'lists', failure: { code: 'server-error', rpcCode: -32603, phase: 'list' } },
    ]);
  });

  it('continues when a signal ends the wait for it', async () => {
    const gate = createGate();
    const server = new ScriptedServer({ beforeConnect: () => gate.promise });
    const { troupe } = make({ servers: { a: inProcess(server) } });
    const controller = new AbortController();
    const waiting = troupe.start({ signal: controller.signal });
    controller.abort(new Error('waited enough'));
    await expect(waiting).rejects.toThrow('waited enough');
    gate.open();
    await expect(troupe.start()).resolves.toMatchObject({ ready: ['a'] });
  });

  it('rejects with the reason of an aborted signal, and starts anyway', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await expect(troupe.start({ signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow(
      'too late',
    );
    await expect(troupe.settled()).resolves.toMatchObject({ ready: ['a'] });
  });

  it('rejects after close', async () => {
    const { troupe } = make({ servers: {} });
    await troupe.close();
    await expect(troupe.start()).rejects.toBeInstanceOf(NotReadyError);
    await expect(troupe.settled()).rejects.toBeInstanceOf(NotReadyError);
  });

  it('gives a disabled server only a row in the status', async () => {
    const server = new ScriptedServer();
    const { troupe, events } = make({ servers: { off: inProcess(server, { enabled: false }) } });
    await expect(troupe.start()).resolves.toMatchObject({ ready: [], failed: [], pending: [] });
    expect(troupe.status).toMatchObject([{ server: 'off', state: 'stopped', reason: 'disabled' }]);
    expect(server.sessions).toBe(0);
    expect(events.of('connection.added')).toEqual([]);
    await expect(troupe.connection('off')?.start()).rejects.toMatchObject({
      code: 'NOT_READY',
      message: expect.stringContaining('disabled') as string,
    });
  });

  it('is settled when every server is ready, failed or stopped', async () => {
    const { troupe, clock } = make({
      startGateMs: 1_000,
      servers: {
        off: inProcess(new ScriptedServer(), { enabled: false }),
        mute: inProcess(new ScriptedServer({ on: { initialize: silent } }), {
          startTimeoutMs: 5_000,
          policy: { maxAttempts: 1 },
        }),
        good: inProcess(new ScriptedServer()),
      },
    });
    const report = await passTime(clock, troupe.settled());
    expect(troupe.status.map(({ state }) => state)).toEqual(['stopped', 'failed', 'ready']);
    expect(report).toMatchObject({ ready: ['good'], failed: [{ server: 'mute' }], pending: [] });
  });

  it('reports a server that is tried again as pending, with its last failure', async () => {
    const server = new ScriptedServer({
      beforeConnect: () => {
        throw new Error('not today');
      },
    });
    const { troupe } = make({ servers: { a: inProcess(server) } });
    const { failed, pending } = await troupe.start();
    expect({ failed, pending }).toMatchObject({
      failed: [],
      pending: [{ server: 'a', failure: { code: 'spawn-failed', phase: 'launch' } }],
    });
  });

  it('stops the wait to be settled when a signal aborts', async () => {
    const { troupe, clock } = make({
      startGateMs: 1_000,
      servers: { mute: inProcess(new ScriptedServer({ on: { initialize: silent } })) },
    });
    await passTime(clock, troupe.start());
    const controller = new AbortController();
    const settling = troupe.settled({ signal: controller.signal });
    controller.abort(new Error('user left'));
    await expect(settling).rejects.toThrow('user left');
  });
});

describe('start with configuration files', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('does not reject for broken or invalid files, nor for a missing one that is optional, and reports each', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-start-'));
    const broken = join(folder, 'broken.json');
    const wrongEntry = join(folder, 'wrong-entry.json');
    writeFileSync(broken, '{ "mcpServers": ');
    writeFileSync(wrongEntry, JSON.stringify({ mcpServers: { odd: { command: 7 } } }));
    try {
      const { troupe, events } = make({
        servers: { good: inProcess(new ScriptedServer()) },
        config: [{ path: join(folder, 'missing.json'), optional: true }, broken, wrongEntry],
      });
      const report = await troupe.start();
      expect(report.ready).toEqual(['good']);
      expect(report.failed).toMatchObject([{ server: 'odd', failure: { code: 'config-invalid' } }]);
      expect(report.sources.map(({ ok }) => ok)).toEqual([true, false, true]);
      expect(events.of('diagnostic').map(({ kind }) => kind)).toEqual(['config-problem', 'config-problem']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each([
    ['does not exist', 'missing.json', 'no such file'],
    ['is a folder', '.', 'is a folder'],
  ])('rejects for a named file that %s, and starts nothing', async (_, name, why) => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-start-'));
    try {
      const server = new ScriptedServer();
      const { troupe } = make({ servers: { good: inProcess(server) }, config: join(folder, name) });
      const error = await troupe.listed().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toMatchObject({
        code: 'CONFIG_ERROR',
        problems: [{ message: expect.stringContaining(why) }],
      });
      expect((error as Error).message).toContain(join(folder, name));
      expect(server.sessions).toBe(0);
      await expect(troupe.start()).rejects.toBeInstanceOf(NotReadyError);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('rejects if an optional file exists and cannot be read', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-start-'));
    try {
      const { troupe } = make({ config: { path: folder, optional: true } });
      await expect(troupe.start()).rejects.toMatchObject({ code: 'CONFIG_ERROR' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
