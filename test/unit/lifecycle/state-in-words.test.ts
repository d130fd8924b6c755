import { describe, expect, it } from 'vitest';
import type { StateValue } from 'xstate';
import { connectionMachine } from '../../../machines/connection/connection.machine.js';
import { publicState } from '../../../machines/connection/public-state.js';
import { stateInWords } from '../../../src/lifecycle/state-in-words.js';
import { leafNodes } from '../../support/chart-table.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

/** By the path of an atomic state. */
const WORDS: Readonly<Record<string, string>> = {
  'configuring.authorizing.releasing': 'waiting for sign-in',
  'configuring.authorizing.signingIn': 'waiting for sign-in',
  'configuring.awaitingTrust': 'waiting for trust',
  'configuring.beginning': 'reading configuration',
  'configuring.dormant': 'idle, starting on request',
  'configuring.resolving': 'reading configuration',
  'starting.launching.waitingForSlot': 'waiting to start',
  'starting.launching.opening': 'connecting',
  'starting.handshaking.initializing': 'connecting',
  'starting.handshaking.listing': 'connecting',
  'starting.handshaking.adopting': 'connecting',
  'ready.liveness.resting': 'ready',
  'ready.liveness.probing': 'ready',
  'ready.liveness.suspect': 'ready, not answering',
  'ready.catalog.current': 'ready',
  'ready.catalog.debouncing': 'ready',
  'ready.catalog.adopting': 'ready, refreshing tools',
  'ready.catalog.refreshing.reading': 'ready, refreshing tools',
  'ready.catalog.refreshing.adopting': 'ready, refreshing tools',
  'ready.catalog.stale': 'ready, tools out of date',
  'ready.extras.none': 'ready',
  'ready.extras.debouncing': 'ready',
  'ready.extras.listing': 'ready',
  'ready.subscription.beginning': 'ready',
  'ready.subscription.none': 'ready',
  'ready.subscription.subscribing': 'ready',
  'ready.subscription.subscribed': 'ready',
  'ready.subscription.waiting': 'ready',
  'ready.subscription.givenUp': 'ready',
  'ready.succession.none': 'ready',
  'ready.succession.preparing.resolving': 'ready, changing its session',
  'ready.succession.preparing.awaitingRetirement': 'ready, changing its session',
  'ready.succession.preparing.opening': 'ready, changing its session',
  'ready.succession.preparing.initializing': 'ready, changing its session',
  'ready.succession.preparing.listing': 'ready, changing its session',
  'ready.succession.preparing.discarding': 'ready, changing its session',
  'ready.retirement.none': 'ready',
  'ready.retirement.retiring': 'ready',
  'reconnecting.releasing': 'reconnecting',
  'reconnecting.backingOff': 'retrying',
  'reconnecting.offline': 'waiting for the network',
  'failed.permanent.releasing': 'failed',
  'failed.permanent.waiting': 'failed',
  'failed.exhausted.releasing': 'failed',
  'failed.exhausted.resting': 'failed, retrying on request',
  'failed.exhausted.retryingSlowly': 'failed, retrying later',
  'failed.unreleased.releasing': 'failed',
  'failed.unreleased.waiting': 'failed',
  'shuttingDown.procedure.draining': 'stopping',
  'shuttingDown.procedure.closing': 'stopping',
  'shuttingDown.procedure.killing': 'stopping',
  'shuttingDown.procedure.closed': 'stopping',
  'shuttingDown.purpose.ending': 'stopping',
  'shuttingDown.purpose.restarting': 'closing its session',
  'shuttingDown.purpose.reloading': 'closing its session',
  'shuttingDown.purpose.resting': 'closing its session',
  stopped: 'stopped',
};

function valueOf([first = '', ...below]: readonly string[]): StateValue {
  return below.length === 0 ? first : { [first]: valueOf(below) };
}

describe('the state of a connection in words', () => {
  it('is defined for every state of the chart.', () => {
    const words = leafNodes(connectionMachine.root).map(({ path }) => [
      path.join('.'),
      stateInWords(publicState(valueOf(path))),
    ]);
    expect(Object.fromEntries(words)).toEqual(WORDS);
  });

  it.each([
    [{ starting: { launching: 'waitingForSlot' } }, 'waiting to start'],
    [
      { ready: { catalog: { refreshing: 'reading' }, liveness: 'resting', extras: 'none' } },
      'ready, refreshing tools',
    ],
    [{ ready: { catalog: 'stale', liveness: 'probing' } }, 'ready, tools out of date'],
    [{ shuttingDown: { procedure: 'closing', purpose: 'restarting' } }, 'closing its session'],
    [{ failed: { exhausted: 'resting' } }, 'failed, retrying on request'],
    ['stopped', 'stopped'],
  ])('of %j is: %s.', (value, words) => {
    expect(stateInWords(publicState(value))).toBe(words);
  });

  it.each([
    [4_000, 'in 4 s'],
    [3_001, 'in 4 s'],
    [-5, 'in 0 s'],
    [119_000, 'in 119 s'],
    [150_000, 'in 3 min'],
  ])('includes the time of the next attempt, in %i ms: %s.', (ms, when) => {
    const facts = { nextAttemptAt: 1_000_000 + ms };
    const waiting = { ...facts, state: 'reconnecting', tags: ['backingOff'] } as const;
    expect(stateInWords(waiting, 1_000_000)).toBe(`retrying ${when}`);
    const slow = { ...facts, state: 'failed', tags: ['retryingSlowly'] } as const;
    expect(stateInWords(slow, 1_000_000)).toBe(`failed, retrying ${when}`);
    expect(stateInWords({ ...slow, nextAttemptAt: null }, 1_000_000)).toBe('failed, retrying later');
  });

  it("of a server whose entry is disabled is 'disabled'.", () => {
    expect(stateInWords({ state: 'stopped', tags: [], reason: 'disabled' })).toBe('disabled');
  });
});
