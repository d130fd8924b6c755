/**
 * The connection chart against its table: every state, every event, every way in which an effect can end, every
 * timer. At the end every transition that the chart has must have been taken by the rows above.
 */
import { describe, expect, it } from 'vitest';
import {
  CONNECTION_COMMANDS,
  type ConnectionCommand,
} from '../../../../machines/connection/connection.events.js';
import type { ConnectionTag } from '../../../../machines/connection/connection.states.js';
import { connectionMachine } from '../../../../machines/connection/connection.machine.js';
import type { Verdict } from '../../../../machines/policy/failure.js';
import type { TransitionVerdict } from '../../../../machines/verdict.js';
import { ChartEdges } from '../../../support/chart-edges.js';
import { leafNodes, REFUSALS, stateOf } from '../../../support/chart-table.js';
import { ConnectionDriver, leavesOf } from '../../../support/connection-driver.js';
import type { OutputOf, Slot } from '../../../support/held-effects.js';
import { sampleFailure, VERDICTS } from '../../../support/sample-failures.js';
import type { Row } from '../../../support/text-table.js';
import { SITUATIONS } from '../connection.situations.js';
import { COMMANDS, EFFECTS, FACTS, TIMERS } from '../connection.table.js';

const edges = new ChartEdges(connectionMachine);

async function reach(situation: string): Promise<ConnectionDriver> {
  const { options, reach: walk } = SITUATIONS[situation]!;
  const driver = new ConnectionDriver({ ...options, inspect: edges.count });
  await walk(driver);
  expect(driver.path).toBe(stateOf(situation));
  return driver;
}

/** The outcome of an event, as a cell of the table. An event that was not accepted must have changed nothing. */
async function outcome(
  driver: ConnectionDriver,
  send: (driver: ConnectionDriver) => Promise<TransitionVerdict>,
): Promise<string> {
  const { path, snapshot } = driver;
  const answer = await send(driver);
  if (answer === 'accepted') return driver.path === path ? 'stays' : driver.path;
  expect(driver.snapshot).toBe(snapshot);
  return REFUSALS[answer]!;
}

function toCommand(column: string): ConnectionCommand['type'] {
  const type = column.includes('.') ? column : `connection.${column}`;
  return CONNECTION_COMMANDS.find((command) => command === type)!;
}

function toFact(column: string): (driver: ConnectionDriver) => Promise<TransitionVerdict> {
  switch (column) {
    case 'slot.granted':
    case 'network.online':
    case 'call.waiting':
      return (driver) => driver.fact({ type: column, at: driver.clock.now() });
    case 'network.offline':
    case 'clock.jumped':
      return (driver) => driver.fact({ type: column });
    case 'policy.changed':
      return (driver) => driver.fact({ type: column, policy: driver.context.policy });
    case 'session.stable':
    case 'session.idle':
    case 'session.quiet':
      return (driver) => driver.watcher(column);
    case 'subscription.ended':
    case 'subscription.wanted':
      return (driver) => driver.subscription(column);
    case 'catalog.listChanged':
      return (driver) => driver.listChanged();
    case 'catalog.extrasChanged':
      return (driver) => driver.extrasChanged('resources');
    default:
      if (column.startsWith('unreachable: ')) {
        return (driver) => driver.unreachable(Number(column.replace('unreachable: ', '')));
      }
      return (driver) => driver.lose(column.replace('lost: ', '') as Verdict);
  }
}

/** Fills a row with what the chart does, column by column, each with an actor of its own. */
async function actual(row: Row, fill: (situation: string, column: string) => Promise<string>): Promise<Row> {
  const { situation, ...columns } = row;
  const filled: Record<string, string> = { situation: situation! };
  for (const column of Object.keys(columns)) filled[column] = await fill(situation!, column);
  return filled;
}

/** Rows with the titles of their tests. */
function titled(rows: readonly Row[], ...columns: string[]): [string, Row][] {
  return rows.map((row) => [columns.map((column) => row[column]!).join(' after '), row]);
}

/** `resolveConfig (untrusted)` is that effect with that kind of output. */
function toSettle(effect: string): [Slot, Partial<OutputOf<Slot>>] {
  const [, slot, kind] = /^(\w+)(?: \((\w+)\))?$/.exec(effect)!;
  if (kind === 'silent') return ['subscribe', { isOpen: false }];
  return [slot as Slot, kind === undefined ? {} : { kind }];
}

describe('the connection chart', () => {
  it.each(titled(COMMANDS, 'situation'))('answers every command in %s as the table says.', async (_, row) => {
    const filled = await actual(row, async (situation, column) =>
      outcome(await reach(situation), (driver) => driver.command(toCommand(column))),
    );
    expect(filled).toEqual(row);
  });

  it.each(titled(FACTS, 'situation'))('takes every fact in %s as the table says.', async (_, row) => {
    const filled = await actual(row, async (situation, column) =>
      outcome(await reach(situation), toFact(column)),
    );
    expect(filled).toEqual(row);
  });

  it.each(titled(EFFECTS, 'situation', 'effect'))('continues from %s as the table says.', async (_, row) => {
    const filled = await actual(row, async (situation, column) => {
      if (column === 'effect' || row[column] === '') return row[column]!;
      const [slot, output] = toSettle(row['effect']!);
      return outcome(await reach(situation), async (driver) => {
        if (column === 'done') await driver.settle(slot, output);
        else await driver.fail(slot, column as Verdict);
        return 'accepted';
      });
    });
    expect(filled).toEqual(row);
  });

  it.each(titled(TIMERS, 'situation', 'timer'))('leaves %s as the table says.', async (_, row) => {
    const driver = await reach(row['situation']!);
    const ms = Number(row['ms']);
    await driver.advance(ms - 1);
    expect(driver.path).toBe(row['situation']!.replace(/ \(.*/, ''));
    await driver.advance(1);
    expect(driver.path).toBe(row['next']);
  });
});

describe('the tags of the connection chart', () => {
  /** Those of every active state and of the states around it. */
  const TAGGED: Readonly<Record<string, readonly ConnectionTag[]>> = {
    'configuring.awaitingTrust': ['settled', 'attempted', 'waitingForPerson', 'awaitingTrust'],
    'configuring.dormant': ['settled', 'attempted', 'dormant'],
    'configuring.authorizing': ['attempted', 'waitingForPerson', 'authorizing'],
    'configuring.authorizing.signingIn': ['settled'],
    'launching.opening': ['opening'],
    ready: ['settled', 'attempted', 'usable'],
    'ready.liveness.probing': ['probing'],
    'ready.liveness.suspect': ['suspect'],
    'ready.catalog.refreshing': ['refreshing'],
    'ready.catalog.adopting': ['refreshing'],
    'ready.catalog.stale': ['stale'],
    'ready.extras.listing': ['enriching'],
    'ready.succession.preparing': ['preparing'],
    reconnecting: ['attempted'],
    'reconnecting.backingOff': ['backingOff'],
    'reconnecting.offline': ['offline'],
    failed: ['attempted'],
    'failed.permanent.waiting': ['settled'],
    'failed.exhausted.resting': ['settled', 'exhausted'],
    'failed.exhausted.retryingSlowly': ['settled', 'exhausted', 'retryingSlowly'],
    'failed.unreleased.waiting': ['settled'],
    'shuttingDown.purpose.ending': ['ending'],
    'shuttingDown.purpose.restarting': ['returning'],
    'shuttingDown.purpose.reloading': ['returning'],
    'shuttingDown.purpose.resting': ['returning'],
    stopped: ['settled', 'attempted'],
  };

  function prefixesOf(leaf: string): string[] {
    const steps = leaf.split('.');
    return steps.map((_, index) => steps.slice(0, index + 1).join('.'));
  }

  it.each(Object.keys(SITUATIONS))('are as specified in %s.', async (situation) => {
    const { snapshot } = await reach(situation);
    const states = new Set(leavesOf(snapshot.value).flatMap(prefixesOf));
    const tags = new Set([...states].flatMap((state) => TAGGED[state] ?? []));
    expect([...snapshot.tags].toSorted()).toEqual([...tags].toSorted());
  });
});

describe('the table of the connection chart', () => {
  const situations = Object.keys(SITUATIONS);

  it('has every state of the chart.', () => {
    const named = situations.flatMap((situation) => stateOf(situation).split(/[.+]/));
    // A region at rest is left out of the path, and nothing stays in a state that is left at once.
    const known = new Set([...named, 'none', 'beginning', 'closed']);
    const leaves = leafNodes(connectionMachine.root);
    expect(leaves.map(({ key }) => key).filter((key) => !known.has(key))).toEqual([]);
    expect(leaves.length).toBeGreaterThan(20);
  });

  /** Events that the chart raises. */
  const SIGNALS = /^(xstate|shutdown)\.|^catalog\.listed$/;

  it('has every event type of the chart.', () => {
    const columns = Object.keys({ ...COMMANDS[0], ...FACTS[0] }).filter((column) => column !== 'situation');
    const types = columns.map((column) => {
      if (column.startsWith('lost: ')) return 'session.lost';
      if (column.startsWith('unreachable: ')) return 'session.unreachable';
      return column.includes('.') ? column : `connection.${column}`;
    });
    const own = connectionMachine.events.filter((type) => !SIGNALS.test(type));
    expect([...new Set(types)].toSorted()).toEqual([...own].toSorted());
    expect(columns.filter((column) => column.startsWith('lost: '))).toEqual(
      VERDICTS.map((how) => `lost: ${how}`),
    );
  });

  it('has a row of commands and a row of facts for every situation.', () => {
    expect(COMMANDS.map((row) => row['situation'])).toEqual(situations);
    expect(FACTS.map((row) => row['situation'])).toEqual(situations);
  });

  it.each(situations)(
    'has every effect and every timer that runs in %s, and nothing runs unseen.',
    async (situation) => {
      const driver = await reach(situation);
      const effects = EFFECTS.filter((row) => row['situation'] === situation).map(
        (row) => toSettle(row['effect']!)[0],
      );
      const settling = driver.running().filter((slot) => slot !== 'watchSession');
      expect([...new Set(effects)].toSorted()).toEqual(settling);
      expect(driver.running().includes('watchSession')).toBe(situation.startsWith('ready.'));
      const timers = TIMERS.filter((row) => row['situation'] === situation).map((row) => Number(row['ms']));
      expect([...driver.clock.pending]).toEqual(timers);
    },
  );
});

describe('the replacement of a crashed connection', () => {
  it.each([false, true])(
    'has failed with the cause, and reports it once (attempted: %s).',
    async (isAttempted) => {
      const crash = sampleFailure('permanent', 'session', 1_000);
      const driver = new ConnectionDriver({ crash, isAttempted, inspect: edges.count });
      expect(driver.path).toBe('failed.permanent.releasing');
      expect(driver.context).toMatchObject({ failure: crash, isAttempted: true });
      expect(driver.reports.includes('child.settled')).toBe(!isAttempted);
    },
  );
});

describe('the transitions of the connection chart', () => {
  it('have all been taken by the rows of the table.', () => {
    process.stdout.write(`${edges.summary}\n`);
    expect(edges.total).toBeGreaterThan(100);
    expect(edges.missing).toEqual([]);
  });
});
