/** What holds of a connection whatever happens to it, and no chart states. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { ConnectionDriver } from '../support/connection-driver.js';
import { legalMoves } from './lifecycle-model.js';
import { readLifecyclePage } from './lifecycle-page.js';

/** A real connection, and what has been seen of it so far. */
export interface Observed {
  readonly driver: ConnectionDriver;
  /** A session may be alive. */
  mayBeAlive: boolean;
  /** What was looked at already. */
  startedSeen: number;
  settledSeen: number;
  movesSeen: number;
}

export function observe(driver: ConnectionDriver): Observed {
  return { driver, mayBeAlive: false, startedSeen: 0, settledSeen: 0, movesSeen: 0 };
}

/** Effects whose success proves that nothing of a session is alive. */
const PROOFS: readonly string[] = ['releaseSession', 'closeSession', 'killSession', 'authorize'];

const LEGAL = legalMoves(readLifecyclePage());

const topOf = (path: string): string => path.split('.')[0]!;

/** To be asked after everything that happens, since what happened before is judged once. */
export function expectInvariants(observed: Observed): void {
  const { driver } = observed;
  expectLegalMoves(observed);
  expectNoSecondSession(observed);
  expectOrderlyReports(driver);
  expect(driver.context.attempt).toBeLessThanOrEqual(driver.context.policy.maxAttempts);
  expectPlain([driver.context, driver.emitted.at(-1), driver.started.at(-1)]);
}

/** JSON and nothing else, so that it can be recorded. */
function expectPlain(seen: readonly unknown[]): void {
  const told = seen.filter((one) => one !== undefined);
  if (!isDeepStrictEqual(JSON.parse(JSON.stringify(told)), told)) {
    expect(JSON.parse(JSON.stringify(told))).toStrictEqual(told);
  }
}

function expectLegalMoves(observed: Observed): void {
  const { history } = observed.driver;
  for (const [index, path] of history.entries()) {
    const before = history[index - 1];
    if (index < observed.movesSeen || before === undefined || topOf(before) === topOf(path)) continue;
    expect([...LEGAL.get(topOf(before))!]).toContain(topOf(path));
  }
  observed.movesSeen = history.length;
}

/** None is opened unless nothing of the one before is alive; a successor is prepared beside one only. */
function expectNoSecondSession(observed: Observed): void {
  const { started, settled } = observed.driver;
  const proofs = settled.slice(observed.settledSeen);
  if (proofs.some((slot) => PROOFS.includes(slot))) observed.mayBeAlive = false;
  observed.settledSeen = settled.length;
  for (const { slot, input } of started.slice(observed.startedSeen)) {
    if (slot === 'prepareSession' || slot === 'retireSession') {
      expect(observed.mayBeAlive).toBe(true);
      expect(input).toHaveProperty('besides');
    }
    if (slot !== 'openTransport') continue;
    expect(observed.mayBeAlive).toBe(false);
    observed.mayBeAlive = true;
  }
  observed.startedSeen = started.length;
}

/** A start slot is asked for, given back, asked for again: never twice in a row. */
function expectOrderlyReports({ reports }: ConnectionDriver): void {
  let isInStart = false;
  for (const report of reports) {
    if (report === 'child.wantsSlot') expect(isInStart).toBe(false);
    if (report !== 'child.settled') isInStart = report === 'child.wantsSlot';
  }
  expect(reports.filter((report) => report === 'child.settled').length).toBeLessThan(2);
}
