/** Fails a suite that leaves something behind. What that is, the testing kit knows. */
import { afterAll, beforeAll } from 'vitest';
import { trackLeaks, type LeakCheckOptions, type LeakTracker } from '../../src/testing/leaks.js';

export { trackLeaks, type LeakCheckOptions, type LeakTracker };

/** Checks the whole suite of the file that calls it, after its last test and hook. */
export function useLeakCheck(options: LeakCheckOptions = {}): void {
  let leaks: LeakTracker | undefined;
  beforeAll(() => {
    leaks = trackLeaks(options);
  });
  afterAll(() => leaks?.expectNone());
}
