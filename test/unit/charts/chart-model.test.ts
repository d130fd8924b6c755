import { createActor } from 'xstate';
import { describe, expect, it } from 'vitest';
import { connectionMachine } from '../../../machines/connection/connection.machine.js';
import { managerMachine } from '../../../machines/manager/manager.machine.js';
import {
  activeStateIds,
  allStates,
  chartArrows,
  chartModel,
  shortId,
  stateIdsOf,
  transitionId,
  transitionsOf,
} from '../../../src/charts/index.js';
import { elevatorMachine } from '../../support/elevator.machine.js';

const model = chartModel(elevatorMachine);

function state(id: string) {
  const found = allStates(model).find((candidate) => shortId(model, candidate.id) === id);
  if (found === undefined) throw new Error(`no state ${id}`);
  return found;
}

const wordsOf = (id: string) =>
  transitionsOf(model, state(id)).map(({ text, kind, guard, targets }) => ({ text, kind, guard, targets }));

describe('the model of a chart', () => {
  it('is plain JSON that can be serialized without loss.', () => {
    expect(JSON.parse(JSON.stringify(model))).toEqual(model);
  });

  it('nests the states in document order, with their type and their first child.', () => {
    expect(allStates(model).map(({ id }) => shortId(model, id))).toEqual([
      'elevator',
      'idle',
      'sleeping',
      'moving',
      'moving.cabin',
      'moving.cabin.up',
      'moving.cabin.down',
      'moving.cabin.over',
      'moving.shaft',
      'moving.shaft.clear',
      'moving.shaft.blocked',
      'moving.shaft.last',
      'halted',
    ]);
    expect(state('elevator')).toMatchObject({ type: 'compound', initial: 'elevator.idle' });
    expect(state('moving')).toMatchObject({ type: 'parallel', initial: null });
    expect(state('moving.cabin.over')).toMatchObject({ type: 'final', initial: null });
    expect(state('moving.shaft.last')).toMatchObject({ type: 'history', history: 'deep' });
  });

  it('contains the descriptions of a state, without the hidden actions that run its timers.', () => {
    expect(state('idle')).toMatchObject({
      description: 'Waits for a call.',
      tags: ['free', 'resting'],
      entry: ['closeDoor', 'assign'],
      exit: ['raise bell.rung'],
    });
    expect(state('halted')).toMatchObject({ description: null, tags: [], entry: [], exit: [] });
  });

  it('names the actors that a state invokes.', () => {
    expect(state('moving').invokes).toEqual([
      { id: 'motor', src: 'drive' },
      { id: 'self-test', src: 'inline' },
    ]);
  });

  it('writes guards as expressions, in the order in which they are tried.', () => {
    const called = wordsOf('idle').filter(({ text }) => text === 'floor.called');
    expect(called.map(({ guard, targets }) => [guard, ...targets])).toEqual([
      ['isHere'],
      ['isNear', 'elevator.moving'],
      ['isUp and (not isFull or in idle)', 'elevator.moving'],
      ['not (isUp and inline)', 'elevator.halted'],
    ]);
  });

  it('distinguishes timers, ends of actors, snapshots and eventless transitions from events.', () => {
    const kinds = ['idle', 'sleeping', 'moving', 'halted']
      .flatMap(wordsOf)
      .map(({ kind, text }) => `${kind}: ${text}`);
    expect([...new Set(kinds)]).toEqual([
      'event: floor.called',
      'after: after doorTimeout',
      'event: key.turned',
      'after: after 2000 ms',
      'done: listen done',
      'error: listen error',
      'always: always',
      'snapshot: listen snapshot',
      'done: done',
      'done: motor done',
      'event: power.back',
      'done: any actor done',
    ]);
  });

  it('keeps transitions without a target within their state and makes the others edges.', () => {
    expect(state('elevator').internal).toMatchObject([{ text: 'light.toggled', actions: ['toggleLight'] }]);
    expect(model.edges.find(({ source }) => source === 'elevator')).toMatchObject({
      target: 'elevator.halted',
      text: 'power.lost',
      reenter: false,
    });
    expect(model.edges.find(({ guard }) => guard === 'isNear')).toMatchObject({ reenter: true, branch: 1 });
    expect(model.edges.find(({ description }) => description !== null)).toMatchObject({
      description: 'Far away.',
    });
  });

  it('draws one arrow for each target of a transition that has several.', () => {
    const restored = model.edges.filter(({ guard }) => guard === 'wasMoving');
    expect(restored.map(({ target }) => target)).toEqual([
      'elevator.moving.cabin.down',
      'elevator.moving.shaft.blocked',
    ]);
    expect(new Set(restored.map(({ id }) => id)).size).toBe(1);
    expect(wordsOf('halted')[0]?.targets).toHaveLength(2);
  });

  it('combines edges between the same two states.', () => {
    const arrow = chartArrows(model).find(
      ({ source, target }) => `${source}>${target}` === 'elevator.idle>elevator.moving',
    );
    expect(arrow?.edges.map(({ guard }) => guard)).toEqual(['isNear', 'isUp and (not isFull or in idle)']);
  });

  it.each([connectionMachine, managerMachine, elevatorMachine])(
    'is the same for every copy of machine %#.',
    (machine) => {
      expect(chartModel(machine.provide({}))).toEqual(chartModel(machine));
    },
  );

  it.each([connectionMachine, managerMachine])(
    'gives every transition of machine %# a name of its own.',
    (machine) => {
      const chart = chartModel(machine);
      const ids = allStates(chart).flatMap((each) => transitionsOf(chart, each).map(({ id }) => id));
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.filter((id) => id.endsWith('|-1'))).toEqual([]);
    },
  );
});

describe('a running machine', () => {
  it('shows the transition that it takes in its chart.', () => {
    const taken: string[] = [];
    const actor = createActor(managerMachine, {
      input: {
        startSlots: 1,
        slotHoldMs: 1,
        startGateMs: 1,
        retryBurst: 1,
        retryEveryMs: 1,
      },
      inspect: (event) => {
        if (event.type !== '@xstate.microstep') return;
        taken.push(...event._transitions.map(transitionId));
      },
    }).start();
    actor.send({ type: 'manager.stop' });
    actor.stop();
    expect(taken).toContain('manager.phase|manager.stop|0');
    expect(chartModel(managerMachine).edges.map(({ id }) => id)).toContain(taken[0]);
  });

  it('is in the states that its value names.', () => {
    const atRest = elevatorMachine.resolveState({ value: { moving: { cabin: 'down', shaft: 'clear' } } });
    const ids = activeStateIds(atRest).toSorted();
    expect(ids).toEqual([
      'elevator',
      'elevator.moving',
      'elevator.moving.cabin',
      'elevator.moving.cabin.down',
      'elevator.moving.shaft',
      'elevator.moving.shaft.clear',
    ]);
    expect(stateIdsOf(model, atRest.value).toSorted()).toEqual(ids);
  });

  it('may be of a later version: unknown states are left out.', () => {
    expect(stateIdsOf(model, { moving: { cabin: 'sideways', roof: 'open' } })).toEqual([
      'elevator',
      'elevator.moving',
      'elevator.moving.cabin',
    ]);
  });
});
