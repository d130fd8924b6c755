/** The log of a connection that crashes: the crash, its record and the replacement replay. */
import { describe, expect, it } from 'vitest';
import {
  type CauseEntry,
  type Delivery,
  type LogEntry,
  fromLogged,
  toLogged,
} from '../../../src/event-log/format/entry.js';
import { replayLog } from '../../../src/event-log/replay/replay-log.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, tool } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, whenState } from '../../support/test-troupe.js';
import { MemoryLog } from '../../support/memory-log.js';

useLeakCheck();
useCrashWatch();
const troupes = useTroupes();

/** Makes the machine of a connection throw: a reload of another kind of server, without a policy. */
const POISON = { type: 'connection.reload', transport: 'stdio' } as never;

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function crashed(): Promise<MemoryLog> {
  const record = new MemoryLog();
  const test = troupes.make({
    servers: { files: inProcess(new ScriptedServer({ tools: [tool('read')] })) },
    record,
  });
  const { troupe, clock } = test;
  await passTime(clock, troupe.start());
  troupe.connection('files')?.dispatch(POISON);
  await passTime(clock, whenState(test, 'files', 'failed'));
  await passTime(clock, Promise.resolve(troupe.connection('files')?.retry()));
  await passTime(clock, troupe.close());
  return record;
}

const deliveriesOf = (entries: readonly LogEntry[]): readonly Delivery[] =>
  entries.flatMap((entry) => (entry as Partial<CauseEntry>).derived ?? []);

describe('a crash in a log', () => {
  it('is a delivery to the manager, with the remains of the child as plain JSON, and the replacement follows', async () => {
    const { entries } = (await crashed()).read();
    const deliveries = deliveriesOf(entries);
    const death = deliveries.find(({ event }) => event.type === 'xstate.error.actor.files');
    expect(death).toMatchObject({
      to: '$',
      from: '$/files#1',
      event: {
        error: {
          $error: {
            name: 'ActorCrash',
            crash: {
              isStillborn: false,
              remains: {
                input: { name: 'files', transport: 'in-process', generation: 1, isAttempted: true },
              },
            },
          },
        },
      },
    });
    expect(Object.keys((death!.event['error'] as { $error: object }).$error)).toEqual([
      'name',
      'message',
      'crash',
    ]);
    const born = deliveries.filter(({ event }) => event.type === 'xstate.init').map(({ to }) => to);
    expect(born).toEqual(['$/files#1', '$/files#2']);
  });

  it('replays by the actors and by the fold, and the report counts the failure', async () => {
    const report = await replayLog(bytesOf((await crashed()).text));
    expect(report).toMatchObject({ problem: undefined, divergences: [], whyNoRerun: undefined });
    expect(report.connections.get('files')).toMatchObject({
      state: 'stopped',
      generation: 2,
      failureCodes: { internal: 1 },
    });
  });
});

describe('an error in a log', () => {
  it('keeps its crash record if it has one', () => {
    const crash = { message: 'on purpose', isStillborn: true };
    const error = Object.assign(new Error('on purpose', { cause: new Error('not logged') }), {
      crash,
    });
    const logged = toLogged({ type: 'xstate.error.actor.a', actorId: 'a', error });
    expect(JSON.parse(JSON.stringify(logged))).toEqual({
      type: 'xstate.error.actor.a',
      actorId: 'a',
      error: { $error: { name: 'Error', message: 'on purpose', crash } },
    });
    expect(fromLogged(logged)).toMatchObject({ error: { message: 'on purpose', crash } });
    const plain = fromLogged(toLogged({ type: 'xstate.error.actor.a', error: new Error('plain') }));
    expect('crash' in (plain as unknown as { error: Error }).error).toBe(false);
  });
});
