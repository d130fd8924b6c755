/** When a stream that says nothing is taken for silent, and when it is given up. */
import { describe, expect, it } from 'vitest';
import { Silence } from '../../../../visualizer/src/worker/silence.js';
import { createControlledClock } from '../../../../src/testing/controlled-clock.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const EVERY = 5_000;

/** A stream that is watched, on a clock that stands still. */
function watched(answers: () => Promise<boolean>) {
  const clock = createControlledClock(0);
  const told: string[] = [];
  const watching = new AbortController();
  const wait = async (ms: number): Promise<void> =>
    new Promise((resolve) => void clock.setTimeout(resolve, ms));
  const silence = new Silence({
    everyMs: EVERY,
    wait,
    now: () => clock.now(),
    ask: async (ms) => {
      told.push(`asked for ${ms}`);
      return Promise.race([answers(), wait(ms).then(() => false)]);
    },
    begun: (since) => told.push(`silent since ${since}`),
    over: () => told.push('heard'),
  });
  void silence.watch(watching.signal).then(() => told.push('given up'));
  return { clock, told, silence, watching };
}

const never = async (): Promise<boolean> => new Promise(() => {});

describe('a stream that is watched for silence', () => {
  it('is not silent while it says something.', async () => {
    const { clock, told, silence } = watched(never);
    for (let turn = 0; turn < 20; turn += 1) {
      await clock.advance(EVERY);
      silence.heard();
    }
    expect(told).toEqual([]);
  });

  it('is silent after three turns, for as long as nobody answers, and goes on when it says something.', async () => {
    const { clock, told, silence } = watched(never);
    await clock.advance(2 * EVERY);
    expect(told).toEqual([]);
    await clock.advance(EVERY);
    expect(told).toEqual(['silent since 0', 'asked for 20000']);
    await clock.advance(3_600_000);
    expect(new Set(told)).toEqual(new Set(['silent since 0', 'asked for 20000']));
    silence.heard();
    expect(told.at(-1)).toBe('heard');
    told.splice(0);
    silence.heard();
    await clock.advance(EVERY);
    expect(told).toEqual([]);
  });

  it('is not silent before three whole turns, whenever something was heard last.', async () => {
    const { clock, told, silence } = watched(never);
    await clock.advance(EVERY - 1);
    silence.heard();
    await clock.advance(3 * EVERY);
    expect(told).toEqual([]);
    await clock.advance(1);
    expect(told).toEqual(['silent since 4999', 'asked for 20000']);
  });

  it('is given up where another question is answered and it still says nothing.', async () => {
    const { clock, told } = watched(async () => true);
    await clock.advance(3 * EVERY);
    expect(told).not.toContain('given up');
    await clock.advance(EVERY);
    expect(told.at(-1)).toBe('given up');
  });

  it('is kept where it speaks after another question was answered.', async () => {
    const { clock, told, silence } = watched(async () => true);
    await clock.advance(3 * EVERY);
    silence.heard();
    await clock.advance(2 * EVERY);
    expect(told).toEqual(['silent since 0', 'asked for 20000', 'heard']);
  });

  it('is watched no more when it has ended.', async () => {
    const { clock, told, watching } = watched(never);
    watching.abort();
    await clock.advance(10 * EVERY);
    expect(told).toEqual(['given up']);
    expect(clock.pending).toEqual([]);
  });
});
