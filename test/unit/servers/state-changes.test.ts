import { describe, expect, it } from 'vitest';
import type { ConnectionState } from '../../../machines/connection/connection.states.js';
import { Publisher } from '../../../src/lifecycle/publish.js';
import { stateChanges } from '../../../src/servers/state-changes.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';

function makeConnection(): {
  enter: (state: ConnectionState, substate?: string) => void;
  follow: () => string[];
  publisher: Publisher;
} {
  const publisher = new Publisher(createControlledClock());
  let present: ConnectionState = 'stopped';
  const source = { server: 'a', present: () => present, isRemoved: () => false };
  const states$ = stateChanges(publisher, source);
  return {
    publisher,
    enter: (to, substate = '') => {
      const from = present;
      present = to;
      publisher.publish({ type: 'connection.state', server: 'a', generation: 0, from, to, substate });
    },
    follow: () => {
      const seen: string[] = [];
      states$.subscribe({ next: (state) => seen.push(state), complete: () => seen.push('complete') });
      return seen;
    },
  };
}

describe('the states of a connection', () => {
  useCrashWatch();

  it('are each delivered, even several in one batch', async () => {
    const { enter, follow } = makeConnection();
    const seen = follow();
    enter('configuring');
    enter('launching');
    await Promise.resolve();
    expect(seen).toEqual(['stopped', 'configuring', 'launching']);
  });

  it('that wait for delivery do not reach a subscriber that begins with the last of them', async () => {
    const { enter, follow } = makeConnection();
    enter('configuring');
    enter('launching');
    const seen = follow();
    enter('handshaking');
    await Promise.resolve();
    expect(seen).toEqual(['launching', 'handshaking']);
  });

  it('reach a subscriber that comes during their delivery once each', async () => {
    const { enter, follow, publisher } = makeConnection();
    const late: string[][] = [];
    publisher.events$.subscribe(({ seq }) => {
      late.push(follow());
      if (seq === 1) enter('handshaking');
    });
    enter('configuring');
    enter('launching');
    await Promise.resolve();
    await Promise.resolve();
    expect(late).toEqual([['launching', 'handshaking'], ['handshaking'], ['handshaking']]);
  });

  it('are not emitted again if only the substate changes', async () => {
    const { enter, follow } = makeConnection();
    const seen = follow();
    enter('configuring', 'resolving');
    enter('configuring', 'awaitingTrust');
    await Promise.resolve();
    expect(seen).toEqual(['stopped', 'configuring']);
  });

  it('end with the publisher, after those that waited', () => {
    const { enter, follow, publisher } = makeConnection();
    const seen = follow();
    enter('configuring');
    publisher.complete();
    expect(seen).toEqual(['stopped', 'configuring', 'complete']);
  });
});
