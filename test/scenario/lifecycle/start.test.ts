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

  it('reports every server by what its first attempt came to', async () => {
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

  it('gives the first report to whoever asks again', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    const [first, second] = await Promise.all([troupe.start(), troupe.start()]);
    expect(second).toBe(first);
    expect(await troupe.start()).toBe(first);
  });

  it('is over at once where no server is configured', async () => {
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

  it('is over at once where nothing is configured at all', async () => {
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

  it('is not held up by the other servers of a server that fails', async () => {
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

  it('ends only the wait when its signal aborts', async () => {
    const gate = createGate();
    const server = new ScriptedServer({ beforeConnect: () => gate.promise });
    const { troupe } = make({ servers: { a: inProcess(server) } });
    const controller = new AbortController();
    const waiting = troupe.start({ signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    gate.open();
    await expect(troupe.start()).resolves.toMatchObject({ ready: ['a'] });
  });

  it('rejects with the reason of a signal that is aborted already, and starts all the same', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await expect(troupe.start({ signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow(
      'too late',
    );
    await expect(troupe.settled()).resolves.toBeUndefined();
    expect(troupe.connection('a')?.state).toBe('ready');
  });

  it('rejects after close', async () => {
    const { troupe } = make({ servers: {} });
    await troupe.close();
    await expect(troupe.start()).rejects.toBeInstanceOf(NotReadyError);
    await expect(troupe.settled()).rejects.toBeInstanceOf(NotReadyError);
  });

  it('gives a disabled server a row and nothing else', async () => {
    const server = new ScriptedServer();
    const { troupe, events } = make({ servers: { off: inProcess(server, { enabled: false }) } });
    await expect(troupe.start()).resolves.toMatchObject({ ready: [], failed: [], pending: [] });
    expect(troupe.status).toMatchObject([{ server: 'off', state: 'stopped', reason: 'disabled' }]);
    expect(server.sessions).toBe(0);
    expect(events.of('connection.added')).toEqual([]);
    await expect(troupe.connection('off')?.start()).rejects.toThrow('disabled');
  });

  it('settles when every server is ready, failed or stopped', async () => {
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
    await passTime(clock, troupe.settled());
    expect(troupe.status.map(({ state }) => state)).toEqual(['stopped', 'failed', 'ready']);
  });

  it('ends the wait for settling by its signal', async () => {
    const { troupe, clock } = make({
      startGateMs: 1_000,
      servers: { mute: inProcess(new ScriptedServer({ on: { initialize: silent } })) },
    });
    await passTime(clock, troupe.start());
    const controller = new AbortController();
    const settling = troupe.settled({ signal: controller.signal });
    controller.abort(new Error('never mind'));
    await expect(settling).rejects.toThrow('never mind');
  });
});

describe('start with configuration files', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('does not reject for files that are missing, broken or empty, and tells of each', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-start-'));
    const broken = join(folder, 'broken.json');
    const wrongEntry = join(folder, 'wrong-entry.json');
    writeFileSync(broken, '{ "mcpServers": ');
    writeFileSync(wrongEntry, JSON.stringify({ mcpServers: { odd: { command: 7 } } }));
    try {
      const { troupe, events } = make({
        servers: { good: inProcess(new ScriptedServer()) },
        config: [join(folder, 'missing.json'), broken, wrongEntry],
      });
      const report = await troupe.start();
      expect(report.ready).toEqual(['good']);
      expect(report.failed).toMatchObject([{ server: 'odd', failure: { code: 'config-invalid' } }]);
      expect(report.sources.map(({ ok }) => ok)).toEqual([true, false, false, true]);
      expect(events.of('diagnostic').map(({ kind }) => kind)).toEqual([
        'config-problem',
        'config-problem',
        'config-problem',
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
