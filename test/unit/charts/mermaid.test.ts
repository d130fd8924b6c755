import { createMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { connectionMachine } from '../../../machines/connection/connection.machine.js';
import { managerMachine } from '../../../machines/manager/manager.machine.js';
import { allStates, chartModel, toMermaid } from '../../../src/charts/index.js';
import { elevatorMachine } from '../../support/elevator.machine.js';

const LINE =
  /^(?:stateDiagram-v2| +(?:state "[^":;]+" as \w+(?: \{)?|\}|--|\[\*\] --> \w+|\w+ --> (?:\[\*\]|\w+ : (?:[^:;#]|#\d+;)+)))$/;

describe('a Mermaid diagram', () => {
  it.each([connectionMachine, managerMachine, elevatorMachine])(
    'of machine %# contains only valid lines, and every state once.',
    (machine) => {
      const model = chartModel(machine);
      const lines = toMermaid(model).trimEnd().split('\n');
      expect(lines.filter((line) => !LINE.test(line))).toEqual([]);
      const declared = lines.flatMap((line) => /^ +state ".*" as (s_\w+)/.exec(line)?.[1] ?? []);
      expect(new Set(declared).size).toBe(declared.length);
      expect(declared).toHaveLength(allStates(model).length - 1);
      const used = lines.flatMap((line) => [...line.split(' : ')[0]!.matchAll(/\bs_\w+/g)].map(([id]) => id));
      expect(used.filter((id) => !declared.includes(id))).toEqual([]);
    },
  );

  it('nests states, separates regions and shows their starts and ends.', () => {
    expect(toMermaid(chartModel(elevatorMachine))).toContain(`  state "moving" as s_elevator_moving {
    state "cabin" as s_elevator_moving_cabin {
      [*] --> s_elevator_moving_cabin_up
      state "up" as s_elevator_moving_cabin_up
      state "down" as s_elevator_moving_cabin_down
      state "over" as s_elevator_moving_cabin_over
      s_elevator_moving_cabin_over --> [*]
    }
    --
    state "shaft" as s_elevator_moving_shaft {
`);
  });

  it('combines the labels of edges between the same two states, and starts edges of the machine itself at any state.', () => {
    const text = toMermaid(chartModel(elevatorMachine));
    expect(text).toContain(
      's_elevator_idle --> s_elevator_moving : floor.called [isNear]<br/>floor.called [isUp and (not isFull or in idle)]\n',
    );
    expect(text).toContain('  any_state --> s_elevator_halted : power.lost\n');
  });

  it('keeps ids distinct, and writes special characters as entities.', () => {
    const machine = createMachine({
      id: 'm',
      initial: 'a-b',
      states: { 'a-b': { on: { 'x:y;"z"': 'a_b' } }, a_b: {}, end: {} },
    });
    const text = toMermaid(chartModel(machine));
    expect(text).toContain('s_m_a_b --> s_m_a_b_2 : x#58;y#59;#34;z#34;\n');
    expect(text).toContain('state "end" as s_m_end\n');
  });
});
