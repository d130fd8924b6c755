import { describe, expect, it } from 'vitest';
import { connectionMachine } from '../../../machines/connection/connection.machine.js';
import { managerMachine } from '../../../machines/manager/manager.machine.js';
import { allStates, chartModel, toScxml } from '../../../src/charts/index.js';
import { elevatorMachine } from '../../support/elevator.machine.js';

/** Tags that are not closed in their place, and attributes that are not quoted or not escaped. */
function faultsOf(xml: string): string[] {
  const open: string[] = [];
  const faults: string[] = [];
  for (const line of xml.trimEnd().split('\n').slice(1)) {
    const tag = /^ *<(\/?)([a-z]+)((?: [a-z]+="[^"<>]*")*)(\/?)>$/.exec(line);
    if (tag === null || /&(?!#\d+;)/.test(line)) faults.push(line);
    else if (tag[1] === '/' && open.pop() !== tag[2]) faults.push(line);
    else if (tag[1] === '' && tag[4] === '') open.push(tag[2]!);
  }
  return [...faults, ...open];
}

const elevator = toScxml(chartModel(elevatorMachine));

describe('an SCXML document', () => {
  it.each([connectionMachine, managerMachine, elevatorMachine])(
    'of machine %# is well-formed, contains every state and has only valid targets.',
    (machine) => {
      const model = chartModel(machine);
      const xml = toScxml(model);
      expect(faultsOf(xml)).toEqual([]);
      const ids = [...xml.matchAll(/<(?:state|parallel|final|history) id="([^"]+)"/g)].map(([, id]) => id);
      expect(ids).toEqual(allStates(model).map(({ id }) => id));
      const targets = [...xml.matchAll(/ (?:target|initial)="([^"]+)"/g)].flatMap(([, list]) =>
        list!.split(' '),
      );
      expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
    },
  );

  it('makes the machine the outermost state, so that it can have transitions of its own.', () => {
    expect(elevator)
      .toContain(`<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" name="elevator" initial="elevator">
  <state id="elevator" initial="elevator.idle">
    <transition event="power.lost" target="elevator.halted" type="internal"/>
    <transition event="light.toggled">
      <log label="toggleLight"/>
    </transition>
`);
  });

  it('starts the timers of a state on entry and cancels them on exit.', () => {
    expect(elevator).toContain(`      <onentry>
        <log label="closeDoor"/>
        <log label="assign"/>
        <send id="after.doorTimeout.elevator.idle" event="after.doorTimeout.elevator.idle" delayexpr="doorTimeout"/>
        <send id="after.2000.elevator.idle" event="after.2000.elevator.idle" delay="2000ms"/>
      </onentry>
      <onexit>
        <log label="raise bell.rung"/>
        <cancel sendid="after.doorTimeout.elevator.idle"/>
        <cancel sendid="after.2000.elevator.idle"/>
      </onexit>
`);
  });

  it('keeps the branches of an event in order, even if one of them has no target.', () => {
    const called = [...elevator.matchAll(/event="floor.called" cond="([^"]+)"/g)].map(([, guard]) => guard);
    expect(called).toEqual(['isHere', 'isNear', 'isUp and (not isFull or in idle)', 'not (isUp and inline)']);
  });

  it('names the completion events of actors and states as the recommendation does.', () => {
    expect(elevator).toContain('<invoke id="_0.elevator.sleeping" type="xstate" src="listen"/>');
    expect(elevator).toContain('event="done.invoke._0.elevator.sleeping"');
    expect(elevator).toContain('event="error.invoke._0.elevator.sleeping"');
    expect(elevator).toContain('event="done.state.elevator.moving"');
    expect(elevator).toContain('event="done.invoke.*"');
  });

  it('has all targets of a transition, and the default of a history state.', () => {
    expect(elevator).toContain('target="elevator.moving.cabin.down elevator.moving.shaft.blocked"');
    expect(elevator).toMatch(
      /<history id="elevator.moving.shaft.last" type="deep">\s+<transition target="elevator.moving.shaft.clear"\/>/,
    );
  });
});
