/**
 * Tests the runner with a kit that it was not written for: correct cases pass, and it reports every fault and every wrong
 * expectation. This proves that each check can fail.
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import {
  CHECK_NAMES,
  readCaseFile,
  runCase,
  STEP_NAMES,
  type FaultCase,
} from '../../support/tools/faults.js';

const LIMIT_MS = 120_000;

interface JudgedCase extends FaultCase {
  readonly about: string;
  /** A pattern for each expected difference, in order. */
  readonly differs: readonly string[];
}

const kit = readCaseFile(fileURLToPath(new URL('../../../tools/faults/second-kit', import.meta.url)));
const cases = kit.cases as readonly JudgedCase[];

const namesIn = (some: readonly JudgedCase[]) => new Set(some.flatMap(({ checks }) => Object.keys(checks)));

useLeakCheck();

describe('The second kit', { concurrent: true, timeout: LIMIT_MS }, () => {
  it('has every step, and every check in a passing and in a failing case.', () => {
    const steps = new Set(cases.flatMap((kase) => kase.steps.map((step) => String(step['do']))));
    const passing = namesIn(cases.filter(({ differs }) => differs.length === 0));
    const failing = namesIn(cases.filter(({ differs }) => differs.length > 0));
    expect([...steps].toSorted()).toEqual(STEP_NAMES.toSorted());
    expect([...passing].toSorted()).toEqual(CHECK_NAMES.toSorted());
    expect([...failing].toSorted()).toEqual(CHECK_NAMES.toSorted());
  });

  for (const kase of cases) {
    it(`${kase.id}: ${kase.about}`, async () => {
      const { differences, passed } = await runCase(kase, kit.folder);
      expect(differences).toEqual(
        kase.differs.map((pattern): unknown => expect.stringMatching(new RegExp(pattern, 's'))),
      );
      expect(passed).toBe(kase.differs.length === 0);
    });
  }
});
