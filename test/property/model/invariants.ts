/** What holds of a connection whatever happens to it, and no chart states. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { ConnectionDriver } from '../../support/connection-driver.js';
import { legalMoves } from './lifecycle-model.js';
import { readLifecyclePage } from './lifecycle-page.js';

/** A real connection, and what has been seen of it so far. */
export interface Observed {
  readonly driver: ConnectionDriver;
  /** Generations of the sessions that may be alive. */
  readonly alive: Set<number>;
  /** What was looked at already. */
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

/** Effects that end a session; beside another session in use, they end only a successor. */
const ENDINGS: readonly string[] = ['releaseSession', 'closeSession', 'killSession'];

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

/**
 * None is opened while another may be alive; a successor is opened beside the one in use only. Ending one beside the one
 * in use is best effort: it counts as ended.
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

/** A start slot is asked for, given back, asked for again: never twice in a row. */
function expectOrderlyReports({ reports }: ConnectionDriver): void {
  let isInStart = false;
  for (const report of reports) {
    if (report === 'child.wantsSlot') expect(isInStart).toBe(false);
    if (report !== 'child.settled') isInStart = report === 'child.wantsSlot';
  }
  expect(reports.filter((report) => report === 'child.settled').length).toBeLessThan(2);
}
