/** The meaning of a connection's state value: the public state, the path below it, the tags. */
import { describe, expect, it } from 'vitest';
import type { StateValue } from 'xstate';
import { connectionMachine } from '../../../../machines/connection/connection.machine.js';
import { CONNECTION_STATES, hasTag } from '../../../../machines/connection/connection.states.js';
import { publicState, statePath } from '../../../../machines/connection/public-state.js';

const READY = {
  ready: {
    liveness: 'resting',
    catalog: { refreshing: 'reading' },
    extras: 'listing',
    succession: { preparing: 'opening' },
    retirement: 'none',
  },
};

const MANAGER = {
  phase: { starting: 'forAll' },
  starts: 'granting',
  budget: 'full',
  network: 'online',
};

describe('the public state', () => {
  it('is one of the outermost states of the chart, in their order; an attempt has two.', () => {
    const { starting, ...others } = connectionMachine.states;
    const states = Object.keys(connectionMachine.states).flatMap((state) =>
      state in others ? [state] : Object.keys(starting!.states),
    );
    expect(CONNECTION_STATES).toEqual(states);
  });

  it.each<[StateValue, object]>([
    ['stopped', { state: 'stopped', substate: '', tags: ['settled', 'attempted'] }],
    [{ configuring: 'resolving' }, { state: 'configuring', substate: 'resolving', tags: [] }],
    [
      { configuring: { authorizing: 'signingIn' } },
      {
        state: 'configuring',
        substate: 'authorizing.signingIn',
        tags: ['waitingForPerson', 'authorizing', 'attempted', 'settled'],
      },
    ],
    [{ starting: { launching: 'opening' } }, { state: 'launching', substate: 'opening', tags: ['opening'] }],
    [{ starting: { handshaking: 'listing' } }, { state: 'handshaking', substate: 'listing', tags: [] }],
    [
      READY,
      {
        state: 'ready',
        substate: 'resting+refreshing.reading+preparing.opening',
        tags: ['settled', 'attempted', 'usable', 'refreshing', 'enriching', 'preparing'],
      },
    ],
    [
      { shuttingDown: { procedure: 'closing', purpose: 'restarting' } },
      { state: 'shuttingDown', substate: 'closing+restarting', tags: ['returning'] },
    ],
  ])('of %j', (value, expected) => {
    expect(publicState(value)).toStrictEqual(expected);
  });

  it.each<[StateValue, object]>([
    ['gone', { state: 'gone', substate: '', tags: [] }],
    [{ gone: { far: 'away' } }, { state: 'gone', substate: 'far.away', tags: [] }],
    [{ gone: { launching: 'opening' } }, { state: 'gone', substate: 'launching.opening', tags: [] }],
    [{ starting: 'queueing' }, { state: 'starting', substate: 'queueing', tags: [] }],
    [{ launching: 'opening' }, { state: 'launching', substate: 'opening', tags: [] }],
    [{ failed: 'forgotten' }, { state: 'failed', substate: 'forgotten', tags: ['attempted'] }],
    [{}, { state: '', substate: '', tags: [] }],
  ])('of %j, which another version has recorded', (value, expected) => {
    expect(publicState(value)).toStrictEqual(expected);
  });

  it('is the same object each time, for every connection in that state.', () => {
    expect(publicState({ configuring: 'dormant' })).toBe(publicState({ configuring: 'dormant' }));
    expect(publicState('stopped')).toBe(publicState('stopped'));
  });

  it('has a tag or not.', () => {
    expect(hasTag(publicState(READY), 'usable')).toBe(true);
    expect(hasTag(publicState(READY), 'stale')).toBe(false);
  });
});

describe('the path of a state', () => {
  it.each<[StateValue, string]>([
    ['closed', 'closed'],
    [{ unreadable: 'retrying' }, 'unreadable.retrying'],
    [{ starting: { launching: 'opening' } }, 'launching.opening'],
    [{ starting: 'launching' }, 'launching'],
    [MANAGER, 'starting.forAll+granting+full+online'],
    [{ token: { kept: 'signedIn' }, signIn: 'idle' }, 'kept.signedIn+idle'],
  ])('of %j is %s', (value, path) => {
    expect(statePath(value)).toBe(path);
  });
});

describe('the cached public states', () => {
  it('are limited in number, whatever a log contains; an existing value keeps its own.', () => {
    for (let count = 0; count < 2_100; count += 1) publicState({ gone: `number ${count}` });
    const value = { gone: 'for good' };
    expect(publicState(value)).toBe(publicState(value));
    expect(publicState({ ...value })).not.toBe(publicState(value));
    expect(publicState({ ...value })).toStrictEqual(publicState(value));
  });
});
