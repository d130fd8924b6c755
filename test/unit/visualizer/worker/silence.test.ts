/** When a quiet stream counts as silent, and when it is abandoned. */
import { describe, expect, it } from 'vitest';
import { Silence } from '../../../../visualizer/src/worker/silence.js';
import { createControlledClock } from '../../../../src/testing/controlled-clock.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const EVERY = 5_000;

/** A watched stream on a controlled clock. */
function watched(answers: () => Promise<boolean>) {
  const clock = createControlledClock(0);
  const calls: string[] = [];
  const watching = new AbortController();
  const wait = async (ms: number): Promise<void> =>
    new Promise((resolve) => void clock.setTimeout(resolve, ms));
  const silence = new Silence({
    everyMs: EVERY,
    wait,
    now: () => clock.now(),
    ask: async (ms) => {
      calls.push(`asked for ${ms}`);
      return Promise.race([answers(), wait(ms).then(() => false)]);
    },
    begun: (since) => calls.push(`silent since ${since}`),
    over: () => calls.push('over'),
  });
  void silence.watch(watching.signal).then(() => calls.push('abandoned'));
  return { clock, calls, silence, watching };
}

const never = async (): Promise<boolean> => new Promise(() => {});

describe('a watched stream', () => {
  it('is not silent while it has data.', async () => {
    const { clock, calls, silence } = watched(never);
    for (let turn = 0; turn < 20; turn += 1) {
      await clock.advance(EVERY);
      silence.heard();
    }
    expect(calls).toEqual([]);
  });

  it('is silent after three periods while no probe is answered, and continues when it has data.', async () => {
    const { clock, calls, silence } = watched(never);
    await clock.advance(2 * EVERY);
    expect(calls).toEqual([]);
    await clock.advance(EVERY);
    expect(calls).toEqual(['silent since 0', 'asked for 20000']);
    await clock.advance(3_600_000);
    expect(new Set(calls)).toEqual(new Set(['silent since 0', 'asked for 20000']));
    silence.heard();
    expect(calls.at(-1)).toBe('over');
    calls.splice(0);
    silence.heard();
    await clock.advance(EVERY);
    expect(calls).toEqual([]);
  });

  it('is not silent before three whole periods, whenever it last had data.', async () => {
    const { clock, calls, silence } = watched(never);
    await clock.advance(EVERY - 1);
    silence.heard();
    await clock.advance(3 * EVERY);
    expect(calls).toEqual([]);
    await clock.advance(1);
    expect(calls).toEqual(['silent since 4999', 'asked for 20000']);
  });

  it('is abandoned if a probe is answered and it still has no data.', async () => {
    const { clock, calls } = watched(async () => true);
    await clock.advance(3 * EVERY);
    expect(calls).not.toContain('abandoned');
    await clock.advance(EVERY);
    expect(calls.at(-1)).toBe('abandoned');
  });

  it('is kept if it has data after a probe was answered.', async () => {
    const { clock, calls, silence } = watched(async () => true);
    await clock.advance(3 * EVERY);
    silence.heard();
    await clock.advance(2 * EVERY);
    expect(calls).toEqual(['silent since 0', 'asked for 20000', 'over']);
  });

  it('is not watched after it has ended.', async () => {
    const { clock, calls, watching } = watched(never);
    watching.abort();
    await clock.advance(10 * EVERY);
    expect(calls).toEqual(['abandoned']);
    expect(clock.pending).toEqual([]);
  });
});
