import { describe, expect, it } from 'vitest';
import { openHelperHeaders, type ChangingHeaders } from '../../../../src/transports/http/helper-headers.js';
import { createGate, type Gate } from '../../../support/gate.js';
import { useLeakCheck } from '../../../support/leak-check.js';

const NEVER = new AbortController().signal;

describe('the headers of a program', () => {
  useLeakCheck();

  /** Every run after the first waits for its gate, and ignores its signal as a slow program does. */
  async function opened(): Promise<{
    readonly headers: ChangingHeaders;
    readonly runs: { readonly gate: Gate; readonly signal: AbortSignal }[];
  }> {
    const runs: { gate: Gate; signal: AbortSignal }[] = [];
    let count = 0;
    const run = async (signal: AbortSignal): Promise<string> => {
      count += 1;
      const output = JSON.stringify({ 'X-Run': count });
      if (count === 1) return output;
      const gate = createGate();
      runs.push({ gate, signal });
      await gate.promise;
      signal.throwIfAborted();
      return output;
    };
    const headers = await openHelperHeaders({ run, remember: () => {} }, NEVER);
    return { headers, runs };
  }

  it('are renewed by one run for requests that were refused at the same time', async () => {
    const { headers, runs } = await opened();
    const refused = headers.current;
    const renewals = [headers.renewed(refused, NEVER), headers.renewed(refused, NEVER)];
    runs[0]?.gate.open();
    expect(await Promise.all(renewals)).toEqual([true, true]);
    expect(runs).toHaveLength(1);
    expect(headers.current).toEqual({ 'x-run': '2' });
    expect(await headers.renewed(refused, NEVER)).toBe(true);
    expect(runs).toHaveLength(1);
  });

  it('are renewed by another run while one that nobody waits for is still ending', async () => {
    const { headers, runs } = await opened();
    const refused = headers.current;
    const caller = new AbortController();
    const given = headers.renewed(refused, caller.signal);
    caller.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    expect(runs[0]?.signal.aborted).toBe(true);
    const renewal = headers.renewed(refused, NEVER);
    expect(runs).toHaveLength(2);
    runs[0]?.gate.open();
    runs[1]?.gate.open();
    expect(await renewal).toBe(true);
    expect(headers.current).toEqual({ 'x-run': '3' });
  });
});
