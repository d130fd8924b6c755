/** A host process that does not end does not block the runner. */
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { longestOf, readCaseFile, runCase, type FaultCase } from '../../support/tools/faults.js';

const LIMIT_MS = 60_000;
const MOMENT_MS = 10_000;

const kit = readCaseFile(fileURLToPath(new URL('../../../tools/faults/second-kit', import.meta.url)));
const mutteredCase = kit.cases.find(({ id }) => id === 'muttered') as FaultCase;
const endless: FaultCase = { ...mutteredCase, steps: [{ do: 'load' }, { do: 'wait', ms: 600_000 }] };

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

useLeakCheck();

describe('A host process that does not end', { timeout: LIMIT_MS }, () => {
  it('is killed after the longest time that its case can take.', async () => {
    const over = runCase(endless, kit.folder);
    await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0), { timeout: MOMENT_MS });
    vi.advanceTimersByTime(longestOf(endless) - MOMENT_MS);
    expect(vi.getTimerCount()).toBeGreaterThan(0);
    vi.advanceTimersByTime(MOMENT_MS);
    const { passed, differences } = await over;
    expect(passed).toBe(false);
    expect(differences).toEqual([expect.stringMatching(/the host did not finish .* within \d+ ms/)]);
  });

  it('has at least the time limits of its steps.', () => {
    const steps = [
      { do: 'connect', timeoutMs: 10_000 },
      { do: 'call', tool: 'a', timeoutMs: 20_000 },
      { do: 'wait', ms: 40_000 },
      { do: 'ping', count: 8, everyMs: 10_000 },
    ];
    expect(longestOf({ steps })).toBeGreaterThan(150_000);
    const client = { callTimeoutMs: 500_000 };
    expect(longestOf({ steps: [{ do: 'call', tool: 'a' }], client })).toBeGreaterThan(500_000);
  });

  it('is killed when the run is aborted.', async () => {
    const ending = new AbortController();
    const over = runCase(endless, kit.folder, ending.signal);
    ending.abort();
    expect((await over).differences).toEqual([expect.stringMatching(/interrupted|aborted/)]);
  });
});
