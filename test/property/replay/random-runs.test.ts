/**
 * Random runs of a manager and its connections replay to the same end with both methods. They include all faults,
 * recordings that start late, rotation, and secrets that have to be masked. `FUZZ_RUNS` multiplies their number.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { replayLog, type ReplayReport } from '../../../src/event-log/replay/replay-log.js';
import { MemoryLog } from '../../support/memory-log.js';
import { recordRandomRun, step } from '../../support/random-run.js';
import { fuzz } from '../../support/fuzz.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fakeProgram, fakeRemote, FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { makeTroupe, passTime } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
/** Allows for a slow machine. */
vi.setConfig({ testTimeout: 180_000 });
// Loaded in advance, so that no run waits for a module while its clock advances.
beforeAll(() =>
  Promise.all([
    import('../../../src/servers/load-config.js'),
    import('../../../src/protocol/session-client.js'),
    import('../../../src/schemas/json-schema.js'),
  ]),
);

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

const play = (log: MemoryLog): Promise<ReplayReport> => replayLog(log.parts.map(bytesOf));

function expectSame(report: ReplayReport, isFromStart = true): void {
  expect(report.problem).toBeUndefined();
  expect(report.divergences).toEqual([]);
  if (isFromStart) expect(report.whyNoRerun).toBeUndefined();
}

const runs = fc.array(step, { maxLength: 30, size: 'max' });
const RUNS = 120;

/** Events that must occur in the runs, by their entry in a log. */
const EVENTS: Readonly<Record<string, RegExp>> = {
  successions: /"from":"[^"]*\/(?:openSuccessor|retireSession)#/,
  crashes: /"xstate\.error\.actor\./,
  'sign-ins': /"to":"\$:signIn:1#/,
  reloads: /"to":"\$:configuration#/,
};

describe('a random run', () => {
  it('replays to the same end with actors and with the fold', async () => {
    const seen = new Set<string>();
    await fuzz(
      2 * RUNS,
      fc.asyncProperty(runs, async (steps) => {
        const log = await recordRandomRun(steps);
        for (const [event, shown] of Object.entries(EVENTS)) if (shown.test(log.text)) seen.add(event);
        expectSame(await play(log));
      }),
    );
    expect([...seen].toSorted()).toEqual(Object.keys(EVENTS).toSorted());
  });

  it('replays from several parts, and from a recording that started late', () =>
    fuzz(
      RUNS,
      fc.asyncProperty(runs, fc.option(fc.nat(30)), fc.nat(20_000), async (steps, attach, partSize) => {
        const late = attach === null ? {} : { attachAfter: attach };
        expectSame(await play(await recordRandomRun(steps, { partSize, ...late })), attach === null);
      }),
    ));
});

const SECRET = 'Zq7-a-very-secret-value';
const action = fc.record({
  server: fc.nat(4),
  what: fc.constantFrom(
    'die',
    'say',
    'restart',
    'retry',
    'call',
    'list',
    'offline',
    'pass',
    'refuse',
    'heal',
  ),
});

/** Runs five servers that repeat a secret of their entry in every place. */
async function runWith(actions: readonly { readonly server: number; readonly what: string }[]) {
  const log = new MemoryLog(30_000);
  const clock = createControlledClock();
  const isRefusing = new Set<number>();
  const servers = Array.from({ length: 5 }, (_, index) => {
    const fault = async (): Promise<void> => {
      if (isRefusing.has(index)) throw new Error(`no entry with ${SECRET}`);
    };
    return new FakeServer((session) => ({
      kind: index < 3 ? 'stdio' : 'http',
      start: session % 3 === 2 ? fault : undefined,
      send: fault,
    }));
  });
  const troupe = makeTroupe({
    clock,
    seed: 1,
    policy: { maxAttempts: 2, backoff: [100] },
    env: { KEY: SECRET },
    servers: Object.fromEntries(
      servers.map((server, index) => [
        `s${index}`,
        index < 3
          ? { ...fakeProgram(server), env: { KEY: SECRET } }
          : { ...fakeRemote(server), headers: { Authorization: `Bearer ${SECRET}` } },
      ]),
    ),
    record: { target: log, wire: true, bodies: true },
  });
  await passTime(clock, troupe.start());
  for (const { server, what } of actions) {
    const connection = troupe.connection(`s${server}`);
    const fake = servers[server];
    if (what === 'die') await fake?.peer.die();
    else if (what === 'say') fake?.peer.notify('notifications/message', { data: `I know ${SECRET}` });
    else if (what === 'list') fake?.peer.notify('notifications/tools/list_changed');
    else if (what === 'restart') void connection?.restart().catch(() => {});
    else if (what === 'retry') void connection?.retry().catch(() => {});
    else if (what === 'call') void connection?.callTool('read', { password: 'hunter22' }).catch(() => {});
    else if (what === 'offline') troupe.setOnline(server % 2 === 0);
    else if (what === 'refuse') isRefusing.add(server);
    else if (what === 'heal') isRefusing.delete(server);
    else await clock.advance(1_000);
    await clock.advance(0);
  }
  await passTime(clock, troupe.close());
  return log;
}

describe('a random run of a troupe', () => {
  it('replays to the same end from several parts with messages, and contains no secret', () =>
    fuzz(
      50,
      fc.asyncProperty(fc.array(action, { maxLength: 15, size: 'max' }), async (actions) => {
        const log = await runWith(actions);
        expectSame(await play(log));
        expect(log.text).toContain('"type":"wire"');
        expect(log.text).not.toContain(SECRET);
        expect(log.text).not.toContain('hunter22');
      }),
    ));
});
