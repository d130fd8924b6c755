/** Invariants of a connection that no chart states. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { ConnectionDriver } from '../../support/connection-driver.js';
import { legalMoves } from './lifecycle-model.js';
import { readLifecyclePage } from './lifecycle-page.js';

/** A real connection, and what has been observed of it so far. */
export interface Observed {
  readonly driver: ConnectionDriver;
  /** Generations of the sessions that may be alive. */
  readonly alive: Set<number>;
  /** Positions up to which the lists of the driver have been checked. */
  startedSeen: number;
  endedSeen: number;
  movesSeen: number;
}

/** A connection that replaces a crashed one may have inherited its session. */
export function observe(driver: ConnectionDriver): Observed {
  const { failure, generation } = driver.context;
  const inherited = failure === null ? [] : [generation];
  return { driver, alive: new Set(inherited), startedSeen: 0, endedSeen: 0, movesSeen: 0 };
}

/** Effects that end a session. Beside a current session, they end only its successor. */
const ENDINGS: readonly string[] = ['releaseSession', 'closeSession', 'killSession'];

const LEGAL = legalMoves(readLifecyclePage());

const topOf = (path: string): string => path.split('.')[0]!;

/** Call this after every event: it checks only what is new since the previous call. */
export function expectInvariants(observed: Observed): void {
  const { driver } = observed;
  expectLegalMoves(observed);
  expectNoSecondSession(observed);
  expectOrderlyReports(driver);
  expect(driver.context.attempt).toBeLessThanOrEqual(driver.context.policy.maxAttempts);
  expectPlain([driver.context, driver.emitted.at(-1), driver.started.at(-1)]);
}

/** Expects plain JSON values, which can be recorded. */
function expectPlain(seen: readonly unknown[]): void {
  const values = seen.filter((one) => one !== undefined);
  if (!isDeepStrictEqual(JSON.parse(JSON.stringify(values)), values)) {
    expect(JSON.parse(JSON.stringify(values))).toStrictEqual(values);
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

/**
 * A session is opened only if no other may be alive, or as a successor beside the current one. Ending a session beside
 * the current one is best effort and counts as done.
 */
function expectNoSecondSession(observed: Observed): void {
  const { driver, alive } = observed;
  for (const { slot, input, how } of driver.ended.slice(observed.endedSeen)) {
    if (!('generation' in input)) continue;
    const { generation } = input;
    if (slot === 'retireSession') alive.delete(generation);
    if (!ENDINGS.includes(slot)) continue;
    if (generation !== driver.context.generation) alive.delete(generation);
    else if (how === 'succeeded') alive.clear();
  }
  observed.endedSeen = driver.ended.length;
  for (const { slot, input } of driver.started.slice(observed.startedSeen)) {
    if (slot !== 'openTransport' || !('generation' in input)) continue;
    const inUse = driver.context.generation;
    expect([...alive]).toEqual(input.generation === inUse ? [] : [inUse]);
    alive.add(input.generation);
  }
  observed.startedSeen = driver.started.length;
}

/** A connection requests a start slot only once until it has given it back. */
function expectOrderlyReports({ reports }: ConnectionDriver): void {
  let isInStart = false;
  for (const report of reports) {
    if (report === 'child.wantsSlot') expect(isInStart).toBe(false);
    if (report !== 'child.settled') isInStart = report === 'child.wantsSlot';
  }
  expect(reports.filter((report) => report === 'child.settled').length).toBeLessThan(2);
}
