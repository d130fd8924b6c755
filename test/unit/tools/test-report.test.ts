import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

interface Report {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly string[];
  readonly leftOut: readonly string[];
}

const { readTestReport } = (await import(
  new URL('../../../tools/test-report.mjs', import.meta.url).href
)) as {
  readTestReport(path: string, hasPassed: boolean, project: string, missing: readonly unknown[]): Report;
};
interface Missing {
  readonly name: string;
  readonly reason: string;
  matches(test: string): boolean;
}

const { adviceFor, missingPrograms } = (await import(
  new URL('../../../tools/optional-programs.mjs', import.meta.url).href
)) as {
  missingPrograms(path: string, others: readonly string[]): readonly Missing[];
  adviceFor(leftOut: readonly string[], path: string, others: readonly string[]): readonly string[];
};

const folder = mkdtempSync(join(tmpdir(), 'troupe-report-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A report in which these tests of completion were skipped, beside one that passed. */
function reportOf(skipped: readonly string[]): Report {
  const test = (fullName: string, status: string) => ({ fullName, status, failureMessages: [] });
  const assertionResults = [
    test('completion works in bash.', 'passed'),
    ...skipped.map((shell) => test(`completion works in ${shell}.`, 'skipped')),
  ];
  const path = join(folder, 'report.json');
  const counts = { numPassedTests: 1, numFailedTests: 0, numPendingTests: skipped.length, numTodoTests: 0 };
  const name = join(folder, 'test/e2e/cli/completion.test.ts');
  writeFileSync(path, JSON.stringify({ ...counts, testResults: [{ name, assertionResults }] }));
  return readTestReport(path, true, folder, missingPrograms(folder, []));
}

describe('a skipped test', () => {
  it('is left out, with the reason, if its shell is not installed.', () => {
    expect(reportOf(['zsh', 'fish'])).toEqual({
      passed: 1,
      failed: 0,
      failures: [],
      leftOut: [
        'left out  test/e2e/cli/completion.test.ts > completion works in zsh.: zsh is not installed',
        'left out  test/e2e/cli/completion.test.ts > completion works in fish.: fish is not installed',
      ],
    });
  });

  it('has failed if it has no such reason.', () => {
    expect(reportOf(['bash'])).toMatchObject({ passed: 1, failed: 1, leftOut: [] });
    writeFileSync(join(folder, 'zsh'), '');
    expect(reportOf(['zsh'])).toMatchObject({
      failed: 1,
      failures: [expect.stringContaining('works in zsh.')],
    });
  });
});

describe('a suite', () => {
  const suite = 'test/scenario/fleet/engine-contract.test.ts > redis: ';

  it('is left out as a whole if its program is not installed, and the last line says what brings it.', () => {
    const [redis] = missingPrograms('', []).filter(({ name }) => name === suite);
    expect(redis).toMatchObject({ reason: 'redis-server is not installed' });
    const matches = (test: string): boolean => redis?.matches(test) === true;
    expect([matches(`${suite}a fault E1.`), matches('test/x.test.ts > redis: E1.')]).toEqual([true, false]);
    const [advice] = adviceFor([`left out  ${suite}E1.: redis-server is not installed`], '', []);
    expect(advice).toMatch(/apt-get install .* redis-server$/);
    expect(adviceFor([], '', [])).toEqual([]);
  });
});
