import { describe, expect, it } from 'vitest';
import { toRow } from '../../../../src/cli/output/status-row.js';
import { makeFailure, makeStatus } from '../../../support/make-status.js';

const NOW = 1_000_000;

describe('the row of a server', () => {
  it('that is ready shows its tools, its process and its uptime.', () => {
    const status = makeStatus({ toolCount: 14, pid: 4312, connectedAt: NOW - 184_000, attempt: 2 });
    expect(toRow(status, NOW)).toEqual({
      health: 'good',
      name: 'files',
      state: 'ready',
      tools: '14',
      where: '4312',
      up: '3m 04s',
      attempt: '',
      next: '',
      problem: '',
    });
  });

  it('that has no process shows its address.', () => {
    expect(toRow(makeStatus({ url: 'https://example.com/mcp' }), NOW).where).toBe('https://example.com/mcp');
  });

  it('that retries shows which attempt that is, when the next one comes, and why.', () => {
    const columns = {
      attempt: 2,
      nextAttemptAt: NOW + 2_001,
      error: makeFailure({ hint: 'Look at its log.' }),
    };
    expect(toRow(makeStatus(columns, { reconnecting: 'backingOff' }), NOW)).toMatchObject({
      health: 'busy',
      state: 'retrying',
      attempt: '2/5',
      next: '3s',
      problem: 'process-exited: The server exited with code 3. Look at its log.',
    });
  });

  it('keeps the reason visible while the next attempt runs.', () => {
    const status = makeStatus({ attempt: 3, error: makeFailure() }, { starting: 'handshaking' });
    expect(toRow(status, NOW)).toMatchObject({
      health: 'busy',
      attempt: '3/5',
      problem: expect.stringContaining('code 3'),
    });
  });

  it('that failed shows this, and drops old reasons when it is ready again.', () => {
    const columns = { attempt: 5, error: makeFailure() };
    const failed = toRow(makeStatus(columns, 'failed'), NOW);
    expect(failed).toMatchObject({ health: 'bad', state: 'failed', attempt: '5/5' });
    expect(toRow(makeStatus(columns, 'ready'), NOW)).toMatchObject({
      health: 'good',
      problem: '',
      attempt: '',
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
    const row = toRow(makeStatus({ reason, url: 'https://example.com/mcp' }, state), NOW);
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
    expect(toRow(makeStatus(columns, { configuring: 'authorizing' }), NOW).problem).toBe(
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
      expect(toRow(makeStatus({ error }, { configuring: state }), NOW).problem).toBe(command);
    },
  );

  it('cannot be broken by the names or messages of servers.', () => {
    const row = toRow(
      makeStatus({ server: 'a\u001B[2J\nb', error: makeFailure({ message: 'x\r\ny\u001B[31mz' }) }, 'failed'),
      NOW,
    );
    expect([row.name, row.problem]).toEqual(['a b', 'process-exited: x yz']);
  });
});
