import { describe, expect, it } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import { backgroundMachine, type Claim } from '../../../../src/cli/background/background.machine.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { createControlledClock } from '../../../support/controlled-clock.js';

useLeakCheck();

const IDLE_MS = 1_000;
const GRACE_MS = 100;

function begin(claim: () => Promise<Claim> = async () => undefined, idleMs = IDLE_MS) {
  const clock = createControlledClock();
  const closed: number[] = [];
  const actors = {
    claim: fromPromise(claim),
    close: fromPromise<void>(async () => void closed.push(clock.now())),
  };
  const actor = createActor(backgroundMachine.provide({ actors }), {
    input: { idleMs, graceMs: GRACE_MS },
    clock,
  });
  actor.start();
  return { actor, clock, closed, life: () => actor.getSnapshot() };
}

async function serving(idleMs?: number) {
  const begun = begin(undefined, idleMs);
  await begun.clock.advance(0);
  expect(begun.life().hasTag('accepting')).toBe(true);
  return begun;
}

describe('the life of the background process', () => {
  it('waits for its start, and ends when it is idle after the last command.', async () => {
    const { actor, clock, life, closed } = await serving();
    await clock.advance(2 * IDLE_MS);
    actor.send({ type: 'started' });
    await clock.advance(IDLE_MS - 1);
    actor.send({ type: 'command.began' });
    actor.send({ type: 'command.began' });
    await clock.advance(10 * IDLE_MS);
    actor.send({ type: 'command.ended' });
    await clock.advance(10 * IDLE_MS);
    actor.send({ type: 'command.ended' });
    await clock.advance(IDLE_MS - 1);
    expect([life().status, closed]).toEqual(['active', []]);
    await clock.advance(1);
    expect([life().status, life().context.reason, closed.length]).toEqual(['done', 'idle', 1]);
  });

  it('never ends by itself if it has no limit.', async () => {
    const { actor, clock, life } = await serving(0);
    actor.send({ type: 'started' });
    await clock.advance(1_000 * IDLE_MS);
    expect(life().hasTag('accepting')).toBe(true);
    actor.send({ type: 'stop' });
    await clock.advance(0);
    expect(life().status).toBe('done');
  });

  it('lets commands finish when it is asked to end, for a while or until it is asked again.', async () => {
    for (const end of ['finished', 'over time', 'asked again'] as const) {
      const { actor, clock, life, closed } = await serving();
      actor.send({ type: 'command.began' });
      actor.send({ type: 'stop' });
      await clock.advance(GRACE_MS - 1);
      expect([life().hasTag('accepting'), closed]).toEqual([false, []]);
      if (end === 'finished') actor.send({ type: 'command.ended' });
      if (end === 'asked again') actor.send({ type: 'stop' });
      await clock.advance(end === 'over time' ? 1 : 0);
      expect([life().status, closed.length]).toEqual(['done', 1]);
    }
  });

  it('closes nothing if another process has the address, or if it cannot be claimed.', async () => {
    const taken = begin(async () => 7);
    const failed = begin(() => Promise.reject(new Error('no folder')));
    for (const { clock } of [taken, failed]) await clock.advance(0);
    expect([taken.life().status, taken.life().context]).toMatchObject([
      'done',
      { reason: 'taken', owner: 7 },
    ]);
    expect([failed.life().status, failed.life().context]).toMatchObject([
      'done',
      { reason: 'failed', error: 'no folder' },
    ]);
    expect([...taken.closed, ...failed.closed]).toEqual([]);
  });
});
