/**
 * The connection chart against its table: every state, every event, every way in which an effect can end, every
 * timer. At the end every transition that the chart has must have been taken by the rows above.
 */
import { describe, expect, it } from 'vitest';
import type { AnyStateNode } from 'xstate';
import { CONNECTION_COMMANDS, type ConnectionCommand } from '../../machines/connection.events.js';
import { connectionMachine } from '../../machines/connection.machine.js';
import type { Verdict } from '../../machines/policy/failure.js';
import type { TransitionVerdict } from '../../machines/verdict.js';
import { ChartEdges } from '../support/chart-edges.js';
import { ConnectionDriver } from '../support/connection-driver.js';
import type { OutputOf, Slot } from '../support/held-effects.js';
import { VERDICTS } from '../support/sample-failures.js';
import type { Row } from '../support/text-table.js';
import { SITUATIONS } from './connection.situations.js';
import { COMMANDS, EFFECTS, FACTS, TIMERS } from './connection.table.js';

const edges = new ChartEdges(connectionMachine);

const SAYS: Partial<Record<TransitionVerdict, string>> = {
  unhandled: '-',
  guarded: 'guarded',
  ignored: 'ignored',
  stopped: 'stopped',
};

async function reach(situation: string): Promise<ConnectionDriver> {
  const { options, reach: walk } = SITUATIONS[situation]!;
  const driver = new ConnectionDriver({ ...options, inspect: edges.count });
  await walk(driver);
  expect(driver.path).toBe(situation.replace(/ \(.*/, ''));
  return driver;
}

/** What became of an event, as the table says it. One that was not obeyed must have left everything as it was. */
async function outcome(
  driver: ConnectionDriver,
  send: (driver: ConnectionDriver) => Promise<TransitionVerdict>,
): Promise<string> {
  const { path, snapshot } = driver;
  const answer = await send(driver);
  if (answer === 'accepted') return driver.path === path ? 'stays' : driver.path;
  expect(driver.snapshot).toBe(snapshot);
  return SAYS[answer]!;
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
    case 'catalog.listChanged':
      return (driver) => driver.listChanged();
    case 'catalog.extrasChanged':
      return (driver) => driver.extrasChanged('resources');
    default:
      return (driver) => driver.lose(column.replace('lost: ', '') as Verdict);
  }
}

/** Fills a row with what the chart really does, column by column, each in a life of its own. */
async function actual(row: Row, fill: (situation: string, column: string) => Promise<string>): Promise<Row> {
  const { situation, ...columns } = row;
  const filled: Record<string, string> = { situation: situation! };
  for (const column of Object.keys(columns)) filled[column] = await fill(situation!, column);
  return filled;
}

function leavesOf(node: AnyStateNode): AnyStateNode[] {
  const states = Object.values(node.states);
  return states.length === 0 ? [node] : states.flatMap(leavesOf);
}

/** Rows with what their tests are called by. */
function titled(rows: readonly Row[], ...columns: string[]): [string, Row][] {
  return rows.map((row) => [columns.map((column) => row[column]!).join(' after '), row]);
}

/** `resolveConfig (untrusted)` is that effect with that kind of output. */
function toSettle(effect: string): [Slot, Partial<OutputOf<Slot>>] {
  const [, slot, kind] = /^(\w+)(?: \((\w+)\))?$/.exec(effect)!;
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

  it.each(titled(EFFECTS, 'situation', 'effect'))('goes on from %s as the table says.', async (_, row) => {
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
  const TAGGED: Readonly<Record<string, readonly string[]>> = {
    'configuring.awaitingTrust': ['settled', 'waitingForPerson'],
    'configuring.dormant': ['settled'],
    'handshaking.authorizing': ['settled', 'waitingForPerson'],
    ready: ['settled', 'usable'],
    'failed.settled': ['settled'],
    'failed.resting': ['settled'],
    'failed.retryingSlowly': ['settled'],
    stopped: ['settled'],
  };

  it.each(Object.keys(SITUATIONS))('say of %s what others may rely on.', async (situation) => {
    const driver = await reach(situation);
    const path = driver.path.startsWith('ready.') ? 'ready' : driver.path;
    expect([...driver.snapshot.tags].toSorted()).toEqual(TAGGED[path] ?? []);
  });
});

describe('the table of the connection chart', () => {
  const situations = Object.keys(SITUATIONS);

  it('has every state of the chart.', () => {
    const named = situations.flatMap((situation) => situation.replace(/ \(.*/, '').split(/[.+]/));
    // A region at rest is left out of the path.
    const told = new Set([...named, 'none']);
    const leaves = leavesOf(connectionMachine.root);
    expect(leaves.map(({ key }) => key).filter((key) => !told.has(key))).toEqual([]);
    expect(leaves.length).toBeGreaterThan(20);
  });

  it('has every event type of the chart.', () => {
    const columns = Object.keys({ ...COMMANDS[0], ...FACTS[0] }).filter((column) => column !== 'situation');
    const told = columns.map((column) => {
      if (column.startsWith('lost: ')) return 'session.lost';
      return column.includes('.') ? column : `connection.${column}`;
    });
    const own = connectionMachine.events.filter((type) => !type.startsWith('xstate.'));
    expect([...new Set(told)].toSorted()).toEqual([...own].toSorted());
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

describe('the transitions of the connection chart', () => {
  it('have all been taken by the rows of the table.', () => {
    process.stdout.write(`${edges.summary}\n`);
    expect(edges.total).toBeGreaterThan(100);
    expect(edges.missing).toEqual([]);
  });
});
