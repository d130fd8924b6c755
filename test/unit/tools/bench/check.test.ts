import { describe, expect, it } from 'vitest';
import { figures, loadScript, measured, type Results } from '../../../support/tools/bench.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const { compare } = await loadScript<{
  compare(
    now: Results,
    committed: Results,
  ): readonly { what: string; where: string; before: number; now: number; isLost: boolean }[];
}>('check.mjs');
const { judge, TARGETS } = await loadScript<{
  judge(results: Results): readonly { what: string; target: string; measured: string; verdict: string }[];
  TARGETS: readonly { what: string }[];
}>('targets.mjs');

/** Results in which a call of Troupe takes that many times as long as one of the SDK client. */
const calls = (times: number, closeMs = 4_000): Results => ({
  scenarios: {
    calls: measured({
      'stdio, 1': { troupe: figures({ callUs: 10 * times }), sdk: figures({ callUs: 10 }) },
    }),
    close: measured({ '50 that ignore SIGTERM, under sh -c': { troupe: figures({ closeMs, later: 0 }) } }),
  },
});
const STDIO = '`callTool` over stdio, one after another';

describe('the check of the benchmarks', () => {
  it('fails a ratio that is more than 30 % worse than the committed one, and no other.', () => {
    const row = { what: STDIO, where: 'calls/stdio, 1', before: 1 };
    expect(compare(calls(1.2), calls(1))).toEqual([{ ...row, now: 1.2, isLost: false }]);
    expect(compare(calls(1.31), calls(1))).toEqual([{ ...row, now: 1.31, isLost: true }]);
    expect(compare(calls(0.5), calls(1))[0]?.isLost).toBe(false);
  });

  it('compares neither what only one side has measured, nor milliseconds of different machines.', () => {
    expect(compare({ scenarios: {} }, calls(1))).toEqual([]);
    expect(compare(calls(1, 40_000), calls(1, 4_000)).map(({ what }) => what)).toEqual([STDIO]);
  });
});

describe('the targets of the benchmarks', () => {
  const row = (results: Results, what: string) => judge(results).find((one) => one.what === what);

  it('are met up to their limit, missed above it, and not measured without figures.', () => {
    expect(row(calls(1), STDIO)).toMatchObject({
      target: '≤ 1.00 × SDK client',
      measured: '1.00 ×',
      verdict: 'met',
    });
    expect(row(calls(1.01), STDIO)?.verdict).toBe('not met');
    expect(row({ scenarios: {} }, STDIO)).toMatchObject({ measured: '–', verdict: 'not measured' });
  });

  it('may be times of this machine, judged by the worst run.', () => {
    const what = 'close of 50 servers that ignore SIGTERM, under `sh -c`';
    expect(row(calls(1, 4_400), what)).toMatchObject({
      target: '≤ 4.5 s',
      measured: '4.4 s',
      verdict: 'met',
    });
    expect(row(calls(1, 4_600), what)?.verdict).toBe('not met');
    expect(row(calls(1), 'left alive after that')).toMatchObject({ measured: '0', verdict: 'met' });
  });

  it('have distinct descriptions.', () => {
    expect(new Set(TARGETS.map(({ what }) => what)).size).toBe(TARGETS.length);
  });
});
