/** An incident, replayed with changed machines and policies. */
import { describe, expect, it } from 'vitest';
import { connectionMachine } from '../../../machines/connection/connection.machine.js';
import { managerMachine } from '../../../machines/manager/manager.machine.js';
import { replayLog } from '../../../src/event-log/replay/replay-log.js';
import type { ReplayAgainst } from '../../../src/event-log/replay/replay-machines.js';
import { expectReplays } from '../../../src/event-log/replay/expect-replays.js';
import { MemoryLog } from '../../support/memory-log.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { refuse, ScriptedServer } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, whenState } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
const troupes = useTroupes();

/** Both servers are lost and come back; that of `files` refuses twice, so its connection waits one and then two seconds. */
async function incident(): Promise<string> {
  const log = new MemoryLog();
  const files = new ScriptedServer();
  const docs = new ScriptedServer();
  const backoff = { kind: 'exponential', firstMs: 1_000, factor: 2, maxMs: 30_000, jitter: 0 } as const;
  const test = troupes.make({
    servers: {
      files: inProcess(files, { policy: { backoff } }),
      docs: inProcess(docs, { policy: { backoff: [700] } }),
    },
    record: log,
  });
  await passTime(test.clock, test.troupe.start());
  const refusal = refuse(-32_001, 'not today');
  files.script = { on: { initialize: [refusal, refusal, {}] } };
  await files.die();
  await docs.die();
  await passTime(test.clock, whenState(test, 'files', 'reconnecting'));
  await passTime(test.clock, whenState(test, 'files', 'ready'));
  await passTime(test.clock, whenState(test, 'docs', 'ready'));
  await passTime(test.clock, test.troupe.close());
  return log.text;
}

const actors = (divergences: readonly { readonly actor: string }[]): readonly string[] => [
  ...new Set(divergences.map(({ actor }) => actor)),
];

describe('an incident', () => {
  it('replays with the machines that recorded it, and with equal ones.', async () => {
    const log = await incident();
    expect((await expectReplays(log)).divergenceCount).toBe(0);
    const same = { connectionMachine: connectionMachine.provide({}), managerMachine };
    expect((await expectReplays(log, { against: same })).divergenceCount).toBe(0);
  });

  it('diverges by its times if a delay is another one, and only in the connections that wait.', async () => {
    const log = await incident();
    const longer = connectionMachine.provide({
      delays: { backoffDelay: ({ context }) => (context.delayMs === 700 ? 700 : context.delayMs * 9) },
    });
    const { divergences } = await replayLog(log, { against: { connectionMachine: longer } });
    expect(actors(divergences)).toEqual(['$/files#1']);
    expect(divergences[0]).toMatchObject({ method: 'rerun', cause: null });
    expect(divergences[0]!.message).toMatch(/backoffDelay.* 18000 ms .* 2000 ms/);
  });

  it('diverges by its times if a policy is another one.', async () => {
    const log = await incident();
    const backoff = { kind: 'fixed', delaysMs: [20_000] } as never;
    const { divergences } = await replayLog(log, { against: { policy: { backoff } } });
    expect(actors(divergences)).toContain('$/files#1');
  });

  it('diverges by its states in each connection that gives up earlier.', async () => {
    const log = await incident();
    const report = await replayLog(log, { against: { policy: { maxAttempts: 1, maxAttemptsOnceReady: 1 } } });
    const own = report.divergences.filter(({ cause }) => cause === null);
    expect(actors(own)).toEqual(['$/files#1', '$/docs#1']);
    expect(own[0]!.found).toMatchObject({ failed: expect.anything() });
  });

  it('is an error in a test that names the states.', async () => {
    const log = await incident();
    const against: ReplayAgainst = { policy: { maxAttempts: 1, maxAttemptsOnceReady: 1 } };
    await expect(expectReplays(log, { against })).rejects.toThrow(
      /files.*\n\s+- reconnecting.*\n\s+\+ failed/,
    );
    await expect(expectReplays(log.split('\n', 1)[0]! + '\n')).rejects.toThrow(/no entry/);
    await expect(expectReplays('nowhere.jsonl')).rejects.toThrow(/ENOENT/);
    await expect(expectReplays(log.replace('"seq":9', '"seq":8'))).rejects.toThrow(/Line \d+/);
  });

  it.each([
    ['nothing', {}],
    ['an unknown name', { machine: connectionMachine }],
    ['what is no machine', { connectionMachine: {} }],
    ['null', null],
    ['a word', 'current'],
  ])('is not replayed against %s.', async (_, against) => {
    await expect(replayLog('', { against } as never)).rejects.toThrow(TypeError);
  });
});
