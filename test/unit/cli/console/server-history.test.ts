import { describe, expect, it } from 'vitest';
import { ServerHistory } from '../../../../src/cli/console/server-history.js';
import type { LifecycleEvent } from '../../../../src/lifecycle/event.js';
import { makeFailure } from '../../../support/make-status.js';

const SCOPE = { server: 'files', generation: 1, seq: 1 } as const;
const said = (message: string, at = 0): LifecycleEvent => ({
  type: 'server.log',
  stream: 'stderr',
  message,
  at,
  ...SCOPE,
});
const ready: LifecycleEvent = { type: 'connection.ready', toolCount: 2, at: 0, ...SCOPE };

function historyOf(...events: readonly LifecycleEvent[]): ServerHistory {
  const history = new ServerHistory();
  for (const event of events) history.add(event);
  return history;
}

describe('the history of a server', () => {
  it('has what the server wrote and what happened to it.', () => {
    const failure = makeFailure({ stderrTail: ['Error: no API token'] });
    const history = historyOf(
      said('\u001B[31mstarting\u001B[0m\n  second line'),
      { type: 'server.log', stream: 'protocol', level: 'warning', message: 'slow', at: 1, ...SCOPE },
      { type: 'connection.lost', failure, at: 2, ...SCOPE },
      { type: 'connection.state', from: 'ready', to: 'reconnecting', substate: '', at: 2, ...SCOPE },
    );
    expect(history.lines.map(({ text, isOutput }) => [text, isOutput])).toEqual([
      ['starting', true],
      ['  second line', true],
      ['warning: slow', true],
      [expect.stringMatching(/^lost: process-exited: .*no API token$/), false],
    ]);
    expect(history.lastFailure).toBe(failure);
  });

  it('counts a line that is repeated, with its last time.', () => {
    const { lines } = historyOf(said('a', 1), said('a', 2), said('a', 3), said('b', 4), said('a', 5));
    expect(lines.map(({ at, text, count }) => [at, text, count])).toEqual([
      [3, 'a', 3],
      [4, 'b', 1],
      [5, 'a', 1],
    ]);
  });

  it('counts how often the server became ready again.', () => {
    expect(
      [historyOf(), historyOf(ready), historyOf(ready, ready, ready)].map(({ restarts }) => restarts),
    ).toEqual([0, 0, 2]);
  });

  it('keeps the latest lines of a server that writes without end.', () => {
    const { lines } = historyOf(...Array.from({ length: 10_000 }, (_, index) => said(`line ${index}`)));
    expect(lines.at(-1)?.text).toBe('line 9999');
    expect(lines.length).toBeGreaterThanOrEqual(1_000);
    expect(lines.length).toBeLessThanOrEqual(2_000);
  });
});
