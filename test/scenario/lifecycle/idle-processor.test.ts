/** Start slots limit the load of the processor: a server that holds one while the processor is idle must not block others. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { busyCores } from '../../../src/supervision/capacity-watch.js';
import { SLOT_HOLD_MS } from '../../../src/runtime/manager-input.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fakeProgram, FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent } from '../../support/scripted-server.js';
import { useTroupes, type TestTroupe } from '../../support/test-troupe.js';

const machine = vi.hoisted(() => ({ at: 0, busy: 0 }));

/**
 * Two cores; each reading is 50 ms after the last, and `busy` of the cores had work. Mocked because the troupe creates
 * the watch itself, and a test must not depend on the load of the real cores.
 */
vi.mock('node:os', async (original) => ({
  ...(await original<typeof import('node:os')>()),
  cpus: () => {
    machine.at += 50;
    return [0, 1].map((core) => {
      const user = core < machine.busy ? machine.at : 0;
      return { times: { user, nice: 0, sys: 0, irq: 0, idle: machine.at - user } };
    });
  },
}));

describe('a server that does not answer', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();
  beforeEach(() => {
    machine.at = 0;
  });

  const begin = (): TestTroupe => {
    const mute = new FakeServer(() => ({}), { on: { initialize: silent } });
    const test = make({
      maxConcurrentStarts: 1,
      servers: { mute: fakeProgram(mute), good: fakeProgram(new FakeServer()) },
    });
    void test.troupe.start();
    return test;
  };

  const stateOfGood = ({ troupe }: TestTroupe) => troupe.connection('good')?.status.substate;

  it('loses its start slot as soon as the processor is idle', async () => {
    machine.busy = 0;
    const test = begin();
    await test.clock.advance(0);
    expect(stateOfGood(test)).toBe('waitingForSlot');
    await test.clock.advance(50);
    expect(test.troupe.connection('good')?.state).toBe('ready');
    expect(test.troupe.connection('mute')?.state).toBe('handshaking');
  });

  it.each([1, 2])('keeps it while %i of two cores are busy, up to a limit', async (busy) => {
    machine.busy = busy;
    const test = begin();
    await test.clock.advance(SLOT_HOLD_MS - 1);
    expect(stateOfGood(test)).toBe('waitingForSlot');
    await test.clock.advance(1);
    expect(test.troupe.connection('good')?.state).toBe('ready');
  });

  it('is watched only while another server waits', async () => {
    machine.busy = 0;
    const test = begin();
    await test.clock.advance(100);
    const readings = machine.at;
    await test.clock.advance(1_000);
    expect(machine.at).toBe(readings);
  });
});

describe('the number of busy cores', () => {
  const reading = (idle: number, total: number, cores = 2) => ({ idle, total, cores });

  it.each([
    ['no core was idle', reading(0, 100), 2],
    ['all cores were idle', reading(100, 100), 0],
    ['half of them were idle', reading(50, 100), 1],
    ['one had very little work', reading(88, 100), 0],
    ['one was busy most of the time', reading(70, 100), 1],
    ['a little more than one was busy', reading(30, 100), 2],
    ['no time has passed', reading(0, 0), 2],
    ['the counters went back', reading(-5, -10), 2],
  ])('is right if %s', (_, now, busy) => {
    expect(busyCores(reading(0, 0), now)).toBe(busy);
  });
});
