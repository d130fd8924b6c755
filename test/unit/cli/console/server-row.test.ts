import { describe, expect, it } from 'vitest';
import { countHealth, toRow } from '../../../../src/cli/console/server-row.js';
import { makeFailure, makeStatus } from '../../../support/make-status.js';

const NOW = 1_000_000;

describe('the row of a server', () => {
  it('that is ready shows its tools, its process and its uptime.', () => {
    const status = makeStatus({ toolCount: 14, pid: 4312, connectedAt: NOW - 184_000, attempt: 2 });
    expect(toRow(status, 3, NOW)).toEqual({
      health: 'good',
      server: 'files',
      state: 'ready',
      tools: '14',
      uptime: '3m 04s',
      restarts: '3',
      transport: 'stdio',
      where: '4312',
      problem: '',
    });
  });

  it('that has no process shows its address.', () => {
    expect(toRow(makeStatus({ url: 'https://example.com/mcp' }), 0, NOW).where).toBe(
      'https://example.com/mcp',
    );
  });

  it('that retries shows when it is tried again, and why.', () => {
    const columns = {
      attempt: 2,
      nextAttemptAt: NOW + 2_001,
      error: makeFailure({ hint: 'Look at its log.' }),
    };
    expect(toRow(makeStatus(columns, { reconnecting: 'backingOff' }), 0, NOW)).toMatchObject({
      health: 'busy',
      state: 'retrying in 3 s',
      problem: 'process-exited: The server exited with code 3. Look at its log.',
    });
  });

  it('keeps the reason visible while the next attempt runs.', () => {
    const status = makeStatus({ attempt: 3, error: makeFailure() }, { starting: 'handshaking' });
    expect(toRow(status, 0, NOW)).toMatchObject({
      health: 'busy',
      problem: expect.stringContaining('code 3'),
    });
  });

  it('that failed shows this, and drops old reasons when it is ready again.', () => {
    const columns = { attempt: 5, error: makeFailure() };
    const failed = toRow(makeStatus(columns, 'failed'), 0, NOW);
    expect(failed).toMatchObject({ health: 'bad', state: 'failed' });
    expect(toRow(makeStatus(columns, 'ready'), 0, NOW)).toMatchObject({
      health: 'good',
      problem: '',
    });
  });

  it.each([
    [{ configuring: 'dormant' }, null, 'idle, starting on request', 'off'],
    [{ configuring: 'awaitingTrust' }, null, 'waiting for trust', 'bad'],
    [{ configuring: 'authorizing' }, null, 'waiting for sign-in', 'bad'],
    [{ reconnecting: 'offline' }, null, 'waiting for the network', 'busy'],
    ['stopped', 'disabled', 'disabled', 'off'],
    ['stopped', 'close', 'stopped', 'off'],
    [{ starting: { launching: 'opening' } }, null, 'connecting', 'busy'],
    ['shuttingDown', null, 'stopping', 'busy'],
  ] as const)('in %o, for the reason %j, reads %j and is %s.', (state, reason, words, health) => {
    const row = toRow(makeStatus({ reason, url: 'https://example.com/mcp' }, state), 0, NOW);
    expect(row).toMatchObject({
      state: words,
      health,
      where: health === 'off' ? '' : 'https://example.com/mcp',
    });
  });

  it('shows where to sign in.', () => {
    const columns = {
      authUrl: 'https://example.com/sign-in',
      error: makeFailure({ code: 'auth-required', message: 'Refused.' }),
    };
    expect(toRow(makeStatus(columns, { configuring: 'authorizing' }), 0, NOW).problem).toBe(
      'auth-required: Refused. https://example.com/sign-in',
    );
  });

  it.each([
    ['awaitingTrust', 'troupe trust files'],
    ['authorizing', 'troupe login files'],
  ])(
    'that waits in %s names the command that ends the wait, whatever its server wrote.',
    (state, command) => {
      const error = makeFailure({ code: 'auth-required', message: 'Refused.', hint: 'Sign in.' });
      expect(toRow(makeStatus({ error }, { configuring: state }), 0, NOW).problem).toBe(command);
    },
  );

  it('cannot be broken by the names or messages of servers.', () => {
    const row = toRow(
      makeStatus({ server: 'a\u001B[2J\nb', error: makeFailure({ message: 'x\r\ny\u001B[31mz' }) }, 'failed'),
      0,
      NOW,
    );
    expect([row.server, row.problem]).toEqual(['a b', 'process-exited: x yz']);
  });
});

describe('the summary', () => {
  it('counts the servers by the attention they need.', () => {
    const states = [
      'ready',
      'ready',
      'failed',
      { configuring: 'awaitingTrust' },
      { reconnecting: 'offline' },
      'stopped',
    ];
    expect(countHealth(states.map((state) => makeStatus({}, state)))).toBe(
      '2 of 6 ready, 1 on the way, 2 failed, 1 off',
    );
    expect(countHealth([])).toBe('0 of 0 ready');
  });
});
