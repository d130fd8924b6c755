import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { keepExitCode, listenForStop } from '../../../src/cli/exit.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { FakeProcess } from '../../support/fake-process.js';

function listen() {
  const source = new EventEmitter();
  const clock = createControlledClock(0);
  const presses: number[] = [];
  const stop = listenForStop(source, clock, (press) => presses.push(press));
  return { source, clock, presses, stop };
}

describe('Ctrl-C', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('and %s have the same effect.', (signal) => {
    const { source, presses } = listen();
    source.emit(signal);
    expect(presses).toEqual([1]);
  });

  it('counts once if a task runner forwards a signal that the terminal has already sent.', async () => {
    const { source, clock, presses } = listen();
    source.emit('SIGINT');
    source.emit('SIGINT');
    await clock.advance(100);
    source.emit('SIGINT');
    expect(presses).toEqual([1]);
  });

  it('counts again if it is pressed again or held down.', async () => {
    const { source, clock, presses } = listen();
    for (let ms = 0; ms < 1_200; ms += 30) {
      source.emit('SIGINT');
      await clock.advance(30);
    }
    expect(presses).toEqual([1, 2, 3]);
  });

  it('has no listener left afterwards.', () => {
    const { source, stop } = listen();
    stop();
    expect(source.eventNames()).toEqual([]);
  });
});

describe('Ctrl-C at the end of the process', () => {
  it('only hurries the end and leaves the exit code unchanged.', () => {
    const host = new FakeProcess();
    const endBegins = keepExitCode(host);
    endBegins();
    host.emit('SIGINT');
    host.emit('SIGTERM');
    expect(host.actions).toEqual(['exit', 'exit']);
  });

  it('is left to other listeners while there are any.', () => {
    const host = new FakeProcess();
    keepExitCode(host);
    host.on('SIGINT', () => host.actions.push('heard'));
    host.emit('SIGINT');
    expect(host.actions).toEqual(['heard']);
  });

  it('ends the process as usual if there are no other listeners.', () => {
    const host = new FakeProcess();
    keepExitCode(host);
    host.emit('SIGINT');
    expect(host.actions).toEqual(['SIGINT to 7, heard by 0']);
  });
});
