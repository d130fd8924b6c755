import { createMachine, type MachineConfig, type MachineContext, type AnyEventObject } from 'xstate';
import { describe, expect, it } from 'vitest';
import { chartHash, chartModel } from '../../../src/charts/index.js';

type Config = MachineConfig<MachineContext, AnyEventObject>;

const door = {
  id: 'door',
  initial: 'closed',
  states: {
    closed: {
      on: {
        open: [{ guard: 'isUnlocked', target: 'opened' }, { actions: 'ring' }],
        knock: { actions: 'ring' },
      },
    },
    opened: { after: { closeDelay: 'closed' } },
  },
} satisfies Config;

const hashOf = (config: Config) => chartHash(chartModel(createMachine(config)));
const withClosed = (closed: Config) => hashOf({ ...door, states: { ...door.states, closed } });

describe('the hash of a chart', () => {
  it('is 16 hexadecimal digits, the same on every machine and in every version with the same behavior.', () => {
    expect(hashOf(door)).toBe('8332dbef0d33c7a1');
  });

  it('does not depend on descriptions or on the order of events.', () => {
    const { open, knock } = door.states.closed.on;
    expect(
      withClosed({ description: 'Shut.', on: { knock: { ...knock, description: 'Politely.' }, open } }),
    ).toBe(hashOf(door));
  });

  it.each<[string, Config]>([
    [
      'another guard',
      {
        on: { ...door.states.closed.on, open: [{ guard: 'isFree', target: 'opened' }, { actions: 'ring' }] },
      },
    ],
    [
      'another order of branches',
      { on: { ...door.states.closed.on, open: door.states.closed.on.open.toReversed() } },
    ],
    ['another action', { on: { ...door.states.closed.on, knock: { actions: 'bark' } } }],
    ['an event more', { on: { ...door.states.closed.on, kick: {} } }],
    ['a tag', { ...door.states.closed, tags: 'safe' }],
    ['an entry action', { ...door.states.closed, entry: 'lock' }],
    ['an actor', { ...door.states.closed, invoke: { src: 'watch' } }],
  ])('changes with %s.', (_, closed) => {
    expect(withClosed(closed)).not.toBe(hashOf(door));
  });

  it('is the same after serialization.', () => {
    const model = chartModel(createMachine(door));
    expect(chartHash(JSON.parse(JSON.stringify(model)) as typeof model)).toBe(chartHash(model));
  });
});
