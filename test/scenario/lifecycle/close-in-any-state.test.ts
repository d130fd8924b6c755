/** `close()` and `stop()` end a connection in every state, even if its transport does not cooperate. */
import { describe, expect, it } from 'vitest';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fake, fakeProgram, FakeServer } from '../../support/fake-server.js';
import type { FakeTransport } from '../../support/fake-transport.js';
import { never } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { passTime, useTroupes, whenEmits, type TestTroupe } from '../../support/test-troupe.js';
import { SITUATIONS, type Situation } from './situations.js';

/** A session that never ends. */
const HOSTILE = { close: never, kill: never };

describe.each(SITUATIONS)('in $state, because $because,', (situation) => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('close() ends it and leaves nothing', async () => {
    const { test, left } = await reach(situation, make);
    await passTime(test.clock, test.troupe.close(), 12_000);
    expect(left()).toEqual([]);
    expect(test.troupe.status.every(({ state }) => state === 'stopped')).toBe(true);
    expect(test.clock.pending).toEqual([]);
    expect(test.events.of('manager.stopped')).toHaveLength(1);
  });

  it('kill() ends it and leaves nothing', async () => {
    const { test, left } = await reach(situation, make);
    await passTime(test.clock, test.troupe.kill(), 12_000);
    expect(left()).toEqual([]);
    expect(test.clock.pending).toEqual([]);
  });

  it('stop() twice ends it, and both promises resolve', async () => {
    const { test, left } = await reach(situation, make);
    const connection = test.troupe.connection('a');
    await passTime(test.clock, Promise.all([connection?.stop(), connection?.stop()]), 15_000);
    expect(connection?.status).toMatchObject({ state: 'stopped', substate: '' });
    expect(left()).toEqual([]);
    expect(test.events.of('connection.stopped')).toMatchObject([{ server: 'a', reason: 'stop' }]);
  });
});

describe.each(SITUATIONS.filter(({ afterRelease }) => afterRelease !== true))(
  'in $state, because $because, if no session ever ends,',
  (situation) => {
    useLeakCheck();
    useCrashWatch();
    const { make } = useTroupes();
    const hostile = { ...situation, transport: { ...situation.transport, ...HOSTILE } };

    it('close() is bounded and leaves no timer', async () => {
      const { test } = await reach(hostile, make);
      const startedAt = test.clock.now();
      await passTime(test.clock, test.troupe.close(), 15_000);
      expect(test.clock.now() - startedAt).toBeLessThanOrEqual(13_000);
      expect(test.clock.pending).toEqual([]);
    });

    it('stop() is bounded', async () => {
      const { test } = await reach(hostile, make);
      const connection = test.troupe.connection('a');
      await passTime(test.clock, Promise.resolve(connection?.stop()), 15_000);
      expect(connection?.state).toBe('stopped');
    });
  },
);

/** A troupe with one connection, `a`, in the situation. */
async function reach(
  { state, transport, script, settings, createHangs = false, needsSlot = false, arrive }: Situation,
  make: ReturnType<typeof useTroupes>['make'],
): Promise<{ test: TestTroupe; left: () => FakeTransport[] }> {
  const server = new FakeServer(() => transport ?? {}, script);
  if (createHangs) server.beforeCreate = never;
  const blocker = new FakeServer(() => ({ start: never }));
  const test = make({
    maxConcurrentStarts: 1,
    servers: needsSlot
      ? { blocker: fakeProgram(blocker), a: fakeProgram(server, settings) }
      : { a: fake(server, settings) },
  });
  void test.troupe.start();
  const isThere = whenEmits(test.troupe.status$, (rows) =>
    rows.some(({ server, state: top, substate }) => server === 'a' && [top, substate].join('.') === state),
  );
  await test.events.when('connection.added');
  await arrive?.(test, server);
  await isThere;
  const canDie = transport?.kill !== never;
  return { test, left: () => server.transports.filter(({ isOpen }) => canDie && isOpen) };
}
