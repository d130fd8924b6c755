/** What the tests of a chart against its table share. */
import type { AnyStateNode } from 'xstate';
import type { TransitionVerdict } from '../../machines/verdict.js';
import type { Row } from './text-table.js';

/** Brings a chart somewhere. */
export type Walk<Driver> = (driver: Driver) => Promise<unknown>;

export function inOrder<Driver>(...walks: readonly Walk<Driver>[]): Walk<Driver> {
  return async (driver) => {
    for (const walk of walks) await walk(driver);
  };
}

/** The state in the name of a situation: `ready` in `ready (asked)`. */
export const stateOf = (situation: string): string => situation.replace(/ \(.*/, '');

/** The cell of an event that was not accepted. */
export const REFUSALS: Readonly<Partial<Record<TransitionVerdict, string>>> = {
  unhandled: '-',
  guarded: 'guarded',
  ignored: 'ignored',
  stopped: 'stopped',
};

/** A row as the chart has it; `.` stands for what cannot happen and is copied. */
export async function fillRow<Column extends string>(
  row: Row,
  columns: readonly Column[],
  outcome: (column: Column) => Promise<string>,
): Promise<Record<string, string>> {
  const filled: Record<string, string> = {};
  for (const column of columns) filled[column] = row[column] === '.' ? '.' : await outcome(column);
  return filled;
}

/** The states without states inside them, in document order. */
export function leafNodes(node: AnyStateNode): AnyStateNode[] {
  const states = Object.values(node.states);
  return states.length === 0 ? [node] : states.flatMap(leafNodes);
}
