/** Checks the page on the lifecycle of a connection: every state and event of the chart, every term defined. */
import { describe, expect, it } from 'vitest';
import type { AnyStateNode } from 'xstate';
import { connectionMachine } from '../../../machines/connection/connection.machine.js';
import { leafNodes } from '../../support/chart-table.js';
import { publicName } from '../../support/connection-driver.js';
import { lifecyclePageOf, readLifecyclePage } from './lifecycle-page.js';

const page = readLifecyclePage();
const { states, moves } = page;
const known = new Set(states.flatMap(({ state }) => prefixesOf(state)));
/** Events that the chart raises. */
const SIGNALS = /^(xstate|shutdown)\.|^catalog\.listed$/;
/** Causes that are not events of the chart: the end of an effect or of a wait, and immediate transitions. */
const INTERNAL_CAUSES = ['succeeds', 'fails', 'waited', 'entered', 'at once'];

function effectOf({ invoke }: AnyStateNode): string {
  return invoke.flatMap(({ src }) => (typeof src === 'string' ? src : [])).join(' ');
}

describe('the page on the lifecycle of a connection', () => {
  it('is parsed row by row, even if a cell has several values or none.', () => {
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

  it('has every state of the chart with its effect.', () => {
    const leaves = new Map(
      leafNodes(connectionMachine.root).map((node) => [publicName(node.path.join('.')), node]),
    );
    expect(states.map(({ state }) => state).toSorted()).toEqual([...leaves.keys()].toSorted());
    for (const { state, runs } of states) expect(effectOf(leaves.get(state)!), state).toBe(runs);
  });

  it('has every event of the chart.', () => {
    const own = connectionMachine.events.filter((type) => !SIGNALS.test(type));
    const named = new Set(
      moves.flatMap(({ when }) => when).filter((word) => !INTERNAL_CAUSES.includes(word)),
    );
    expect([...named].toSorted()).toEqual(own.map((type) => type.replace('connection.', '')).toSorted());
  });

  it('names only states that exist.', () => {
    const named = moves.flatMap((move) => [...move.in, ...(move.to === '' ? [] : [move.to])]);
    expect(named.filter((state) => state !== 'any' && !known.has(state))).toEqual([]);
  });

  it('defines exactly the terms that its rows use.', () => {
    const conditions = new Set(moves.flatMap((move) => move.if.map((word) => word.replace('not ', ''))));
    const words = [...conditions].filter((condition) => !known.has(condition));
    expect(words.toSorted()).toEqual(page.conditions.toSorted());
    expect([...new Set(moves.flatMap((move) => move.and))].toSorted()).toEqual(page.changes.toSorted());
  });
});

function prefixesOf(state: string): string[] {
  const parts = state.split('.');
  return parts.map((_, index) => parts.slice(0, index + 1).join('.'));
}
