import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { listenForStop } from '../../src/cli/signals.js';
import { createControlledClock } from '../support/controlled-clock.js';

function listen() {
  const source = new EventEmitter();
  const clock = createControlledClock(0);
  const presses: number[] = [];
  const stop = listenForStop(source, clock, (press) => presses.push(press));
  return { source, clock, presses, stop };
}

describe('Ctrl-C', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('and %s are the same wish.', (signal) => {
    const { source, presses } = listen();
    source.emit(signal);
    expect(presses).toEqual([1]);
  });

  it('counts once where a runner passes on what the terminal has already sent.', async () => {
    const { source, clock, presses } = listen();
    source.emit('SIGINT');
    source.emit('SIGINT');
    await clock.advance(100);
    source.emit('SIGINT');
    expect(presses).toEqual([1]);
  });

  it('counts again when it is pressed again, or held.', async () => {
    const { source, clock, presses } = listen();
    for (let ms = 0; ms < 1_200; ms += 30) {
      source.emit('SIGINT');
      await clock.advance(30);
    }
    expect(presses).toEqual([1, 2, 3]);
  });

  it('is no longer listened for afterwards.', () => {
    const { source, stop } = listen();
    stop();
    expect(source.eventNames()).toEqual([]);
  });
});
