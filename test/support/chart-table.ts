/** Shared by the tests that compare a chart with its table. */
import type { AnyStateNode } from 'xstate';
import type { TransitionVerdict } from '../../machines/verdict.js';
import type { Row } from './text-table.js';

/** Brings a chart into a situation. */
export type Walk<Driver> = (driver: Driver) => Promise<unknown>;

export function inOrder<Driver>(...walks: readonly Walk<Driver>[]): Walk<Driver> {
  return async (driver) => {
    for (const walk of walks) await walk(driver);
  };
}

/** The state in the name of a situation: `ready` in `ready (asked)`. */
export const stateOf = (situation: string): string => situation.replace(/ \(.*/, '');

/** The table cell for an event that was not accepted. */
export const REFUSALS: Readonly<Partial<Record<TransitionVerdict, string>>> = {
  unhandled: '-',
  guarded: 'guarded',
  ignored: 'ignored',
  stopped: 'stopped',
};

/** A row as the chart produces it. `.` stands for an event that cannot happen and is copied. */
export async function fillRow<Column extends string>(
  row: Row,
  columns: readonly Column[],
  outcome: (column: Column) => Promise<string>,
): Promise<Record<string, string>> {
  const filled: Record<string, string> = {};
  for (const column of columns) filled[column] = row[column] === '.' ? '.' : await outcome(column);
  return filled;
}

/** The leaf states, in document order. */
export function leafNodes(node: AnyStateNode): AnyStateNode[] {
  const states = Object.values(node.states);
  return states.length === 0 ? [node] : states.flatMap(leafNodes);
}
