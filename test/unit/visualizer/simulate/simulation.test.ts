/** The simulation of a connection: it says what a real one does, and nothing happens. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { simulateBare } from '../../../../visualizer/src/simulate/bare-chart.js';
import type {
  Choice,
  SimulationStart,
  SimulationView,
} from '../../../../visualizer/src/simulate/messages.js';
import { simulate } from '../../../../visualizer/src/simulate/simulation.js';
import { fromLogged } from '../../../../src/event-log/format/entry.js';
import { stateText } from '../../../../src/event-log/replay/divergence.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { bookOf } from '../../../support/sample-book.js';

useLeakCheck();

const book = bookOf(
  readFileSync(new URL('../../../property/replay/corpus/flaps-forever.jsonl', import.meta.url), 'utf8'),
);

/** The first moment at which the state of the connection begins so. */
function startIn(state: string): SimulationStart {
  for (let position = 0; position < book.length; position += 1) {
    const folded = book.stateOf(position, '$/files#1');
    if (folded !== undefined && stateText(folded.state).startsWith(state))
      return { ...folded, at: book.timeOf(position) };
  }
  throw new Error(`There is no '${state}'.`);
}

const choiceOf = ({ choices }: SimulationView, type: string): Choice => {
  const found = choices.find((choice) => choice.event === type);
  if (found === undefined)
    throw new Error(`There is no '${type}': ${choices.map((each) => each.event).join()}`);
  return found;
};

describe('a simulation', () => {
  it('lists what may happen in a state, with guards, and what every guard refuses.', () => {
    const view = simulate({ start: startIn('ready'), tries: [] });
    expect(view).toMatchObject({ isBare: false, isOver: false, steps: [] });
    expect(view.running).toContain('watchSession');
    expect(choiceOf(view, 'connection.stop')).toMatchObject({ kind: 'command' });
    const losses = view.choices.filter(({ event }) => event === 'session.lost');
    expect(losses.length).toBeGreaterThan(1);
    expect(losses.every(({ leadsTo }) => !stateText(leadsTo).startsWith('ready'))).toBe(true);
    expect(new Set(losses.map(({ guards }) => guards.join())).size).toBe(losses.length);
    expect(view.choices.some(({ event }) => view.guarded.some((refused) => refused.event === event))).toBe(
      false,
    );
  });

  it('says which state follows, what changes, and which effects would start and end.', () => {
    const start = startIn('ready');
    const stop = choiceOf(simulate({ start, tries: [] }), 'connection.stop');
    const { steps, state } = simulate({ start, tries: [stop.try] });
    expect(steps).toHaveLength(1);
    expect(state).toEqual(stop.leadsTo);
    expect(steps[0]).toMatchObject({ event: 'connection.stop', state: stop.leadsTo });
    expect(steps[0]?.starts).not.toEqual([]);
    expect(steps[0]?.ends).toContain('watchSession');
    const [loss] = simulate({ start, tries: [] }).choices.filter(({ event }) => event === 'session.lost');
    const lost = simulate({ start, tries: [loss!.try] }).steps[0];
    expect(lost?.changes.map(({ path }) => path)).toContain('failure');
  });

  it('sets timers that are events, and comes to an end.', () => {
    const start = startIn('reconnecting.backingOff');
    const timer = simulate({ start, tries: [] }).choices.find(({ kind }) => kind === 'timer');
    expect(timer?.event).toMatch(/^xstate\.after\./);
    const tries = [choiceOf(simulate({ start, tries: [] }), 'connection.stop').try];
    for (let left = 10; left > 0 && !simulate({ start, tries }).isOver; left -= 1) {
      const next = simulate({ start, tries }).choices.find(({ kind }) => kind === 'effect');
      if (next !== undefined) tries.push(next.try);
    }
    expect(simulate({ start, tries })).toMatchObject({ isOver: true, choices: [], guarded: [] });
  });

  it('leaves its start as it was: the same tries lead to the same end, and fewer undo.', () => {
    const start = startIn('ready');
    const before = structuredClone(start);
    const [first] = simulate({ start, tries: [] }).choices;
    const once = simulate({ start, tries: [first!.try] });
    expect(simulate({ start, tries: [first!.try] })).toEqual(once);
    expect(simulate({ start, tries: [] })).toEqual(simulate({ start: before, tries: [] }));
    expect(start).toEqual(before);
  });

  it('reaches the recorded states with the recorded events.', () => {
    let compared = 0;
    for (let position = 1; position < book.length; position += 1) {
      const entry = book.entry(position)!;
      if (entry.kind === 'snapshot' || entry.kind === 'note' || entry.to !== '$/files#1') continue;
      const before = book.stateOf(position - 1, entry.to);
      // What follows among the machines may be another event to the same connection.
      if (before === undefined || entry.derived?.some(({ to }) => to === entry.to)) continue;
      const start = { state: before.state, context: before.context, at: entry.at };
      expect(simulate({ start, tries: [{ event: fromLogged(entry.event) }] }).state).toEqual(entry.state);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(10);
  });

  it('cannot begin in a state that the chart does not have.', () => {
    const start = { state: 'nowhere', context: {}, at: 0 };
    expect(() => simulate({ start, tries: [] })).toThrow();
    expect(() => simulateBare({ start, tries: [] })).toThrow();
  });
});

describe('a simulation of the chart alone', () => {
  it('takes any transition of the state, without context.', () => {
    const start = { ...startIn('ready'), context: {} };
    const view = simulateBare({ start, tries: [] });
    expect(view).toMatchObject({ isBare: true, guarded: [] });
    const loss = view.choices.filter(({ event }) => event === 'session.lost');
    expect(loss.length).toBeGreaterThan(1);
    const { steps, state } = simulateBare({ start, tries: [loss[0]!.try] });
    expect(steps).toEqual([
      expect.objectContaining({ event: 'session.lost', state: loss[0]?.leadsTo, changes: [] }),
    ]);
    expect(state).toEqual(loss[0]?.leadsTo);
    expect(steps[0]?.ends).toContain('watchSession');
  });
});
