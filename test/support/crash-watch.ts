/** Fails a test that would have crashed the process of a host: an uncaught error or an unhandled rejection. */
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';

export function useCrashWatch(): void {
  const crashes: unknown[] = [];
  const onCrash = (error: unknown): void => {
    crashes.push(error);
  };
  beforeAll(() => {
    process.on('uncaughtException', onCrash);
    process.on('unhandledRejection', onCrash);
  });
  afterEach(async () => {
    // RxJS rethrows from a timer of 0 ms: it has fired after two turns of the event loop.
    for (let turns = 0; turns < 3; turns += 1) await turn();
    expect(crashes.splice(0)).toEqual([]);
  });
  afterAll(() => {
    process.off('uncaughtException', onCrash);
    process.off('unhandledRejection', onCrash);
  });
}
