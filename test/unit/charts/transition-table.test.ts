import { createMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { connectionMachine } from '../../../machines/connection/connection.machine.js';
import { managerMachine } from '../../../machines/manager/manager.machine.js';
import { allStates, chartModel, toTransitionTable, transitionsOf } from '../../../src/charts/index.js';
import { elevatorMachine } from '../../support/elevator.machine.js';

describe('a transition table', () => {
  it.each([connectionMachine, managerMachine, elevatorMachine])(
    'of machine %# has a row for every transition.',
    (machine) => {
      const model = chartModel(machine);
      const transitions = allStates(model).flatMap((state) => transitionsOf(model, state));
      const rows = toTransitionTable(model).trimEnd().split('\n').slice(2);
      expect(rows).toHaveLength(transitions.length);
      expect(rows.filter((row) => row.split(' | ').length !== 5)).toEqual([]);
    },
  );

  it('gives the guard, target, actions and description of each.', () => {
    const rows = toTransitionTable(chartModel(elevatorMachine)).split('\n');
    expect(rows).toContain('| any | `power.lost` |  | `halted` |  |');
    expect(rows).toContain('| `idle` | `floor.called` | `isHere` |  | `openInspection` |');
    expect(rows).toContain('| `idle` | `floor.called` | `isNear` | `moving` (re-entered) |  |');
    expect(rows).toContain(
      '| `idle` | `floor.called`<br>Far away. | `isUp and (not isFull or in idle)` | `moving` |  |',
    );
    expect(rows).toContain(
      '| `halted` | `power.back` | `wasMoving` | `moving.cabin.down`, `moving.shaft.blocked` |  |',
    );
  });

  it('escapes a bar in a name.', () => {
    const machine = createMachine({
      id: 'm',
      initial: 'a',
      states: { a: { on: { 'x|y': { actions: 'p|q' } } } },
    });
    expect(toTransitionTable(chartModel(machine))).toContain('| `a` | `x\\|y` |  |  | `p\\|q` |');
  });
});
