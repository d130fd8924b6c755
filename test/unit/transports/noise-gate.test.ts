import { describe, expect, it } from 'vitest';
import { NoiseGate, type NoiseBurst } from '../../../src/transports/noise-gate.js';
import { HandClock } from '../../support/hand-clock.js';

function gate(): { gate: NoiseGate; clock: HandClock; bursts: NoiseBurst[] } {
  const clock = new HandClock();
  const bursts: NoiseBurst[] = [];
  return { gate: new NoiseGate(clock, (burst) => void bursts.push(burst)), clock, bursts };
}

describe('the noise gate', () => {
  it('reports a burst once, with the count and the first line', async () => {
    const { gate: noise, clock, bursts } = gate();
    for (let line = 1; line <= 500; line += 1) noise.add(`line ${line}`);
    expect(bursts).toEqual([]);
    await clock.advance(1_000);
    expect(bursts).toEqual([{ count: 500, sample: 'line 1' }]);
  });

  it('reports continuous noise less and less often, and counts every line', async () => {
    const { gate: noise, clock, bursts } = gate();
    for (let second = 0; second < 3_600; second += 1) {
      noise.add('tick');
      await clock.advance(1_000);
    }
    noise.flush();
    expect(bursts.length).toBeLessThan(70);
    expect(bursts.reduce((sum, { count }) => sum + count, 0)).toBe(3_600);
  });

  it('reports promptly again after a quiet period, and has no timer in the meantime', async () => {
    const { gate: noise, clock, bursts } = gate();
    noise.add('first');
    await clock.advance(10_000);
    expect(clock.pending).toBe(0);
    noise.add('second');
    await clock.advance(1_000);
    expect(bursts.map(({ sample }) => sample)).toEqual(['first', 'second']);
  });

  it('reports pending noise at once when it is flushed', () => {
    const { gate: noise, clock, bursts } = gate();
    noise.add('last words');
    noise.flush();
    noise.flush();
    expect(bursts).toEqual([{ count: 1, sample: 'last words' }]);
    expect(clock.pending).toBe(0);
  });
});
