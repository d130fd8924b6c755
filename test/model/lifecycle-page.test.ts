/** The page on the life of a connection is whole: it knows every state and event of the chart, and explains its words. */
import { describe, expect, it } from 'vitest';
import type { AnyStateNode } from 'xstate';
import { connectionMachine } from '../../machines/connection.machine.js';
import { lifecyclePageOf, readLifecyclePage } from './lifecycle-page.js';

const page = readLifecyclePage();
const { states, moves } = page;
/** What is no event of the chart: how an effect ends, a wait that is over, and what follows by itself. */
const OF_ITSELF = ['succeeds', 'fails', 'waited', 'entered', 'at once'];

function leavesOf(node: AnyStateNode): string[] {
  const below = Object.values(node.states);
  return below.length === 0 ? [node.path.join('.')] : below.flatMap(leavesOf);
}

function effectOf(state: string): string {
  const node = connectionMachine.getStateNodeById(`connection.${state}`);
  return node.invoke.flatMap(({ src }) => (typeof src === 'string' ? src : [])).join(' ');
}

describe('the page on the life of a connection', () => {
  it('is read row by row, with several names in a cell and none in others.', () => {
    const text = [
      '| state | meaning | runs | session |',
      '| - | - | - | - |',
      '| `a.b` | x | `run` | no |',
      '',
      '| in | when | if | then | and |',
      '| - | - | - | - | - |',
      '| `a`, `b` | `go` | not c, d | | e |',
      '',
    ].join('\n');
    expect(lifecyclePageOf(text)).toEqual({
      states: [{ state: 'a.b', runs: 'run', session: 'no' }],
      moves: [{ in: ['a', 'b'], when: ['go'], if: ['not c', 'd'], to: '', and: ['e'] }],
      conditions: [],
      changes: [],
    });
  });

  it('has every state of the chart, and the effect that each runs.', () => {
    const leaves = leavesOf(connectionMachine.root);
    expect(states.map(({ state }) => state).toSorted()).toEqual(leaves.toSorted());
    for (const { state, runs } of states) expect(effectOf(state), state).toBe(runs);
  });

  it('has every event of the chart.', () => {
    const own = connectionMachine.events.filter((type) => !type.startsWith('xstate.'));
    const told = new Set(moves.flatMap(({ when }) => when).filter((word) => !OF_ITSELF.includes(word)));
    expect([...told].toSorted()).toEqual(own.map((type) => type.replace('connection.', '')).toSorted());
  });

  it('names only states that exist.', () => {
    const known = new Set(['any', ...states.flatMap(({ state }) => prefixesOf(state))]);
    const named = moves.flatMap((move) => [...move.in, ...(move.to === '' ? [] : [move.to])]);
    expect(named.filter((state) => !known.has(state))).toEqual([]);
  });

  it('explains every word that stands in its rows, and no other.', () => {
    const conditions = new Set(moves.flatMap((move) => move.if.map((word) => word.replace('not ', ''))));
    conditions.delete('shuttingDown');
    expect([...conditions].toSorted()).toEqual(page.conditions.toSorted());
    expect([...new Set(moves.flatMap((move) => move.and))].toSorted()).toEqual(page.changes.toSorted());
  });
});

function prefixesOf(state: string): string[] {
  const parts = state.split('.');
  return parts.map((_, index) => parts.slice(0, index + 1).join('.'));
}
