/** Fails a suite that leaves something behind, with the leak tracker of `mcp-troupe/testing`. */
import { afterAll, beforeAll } from 'vitest';
import { trackLeaks, type LeakCheckOptions, type LeakTracker } from '../../src/testing/leaks.js';

export { trackLeaks, type LeakCheckOptions, type LeakTracker };

/** Checks the suite of the calling file after its last test and hook. */
export function useLeakCheck(options: LeakCheckOptions = {}): void {
  let leaks: LeakTracker | undefined;
  beforeAll(() => {
    leaks = trackLeaks(options);
  });
  afterAll(() => leaks?.expectNone());
}
