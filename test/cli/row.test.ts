import { describe, expect, it } from 'vitest';
import { toRow } from '../../src/cli/row.js';
import { makeFailure, makeStatus } from './make-status.js';

const NOW = 1_000_000;

describe('the row of a server', () => {
  it('that is ready shows its tools, its process and how long it is up.', () => {
    const status = makeStatus({ toolCount: 14, pid: 4312, connectedAt: NOW - 184_000, attempt: 2 });
    expect(toRow(status, NOW)).toEqual({
      mood: 'good',
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

  it('that tries again shows which attempt that was, when the next one comes, and why.', () => {
    const status = makeStatus({
      state: 'reconnecting',
      substate: 'backingOff',
      attempt: 2,
      nextAttemptAt: NOW + 2_001,
      error: makeFailure({ hint: 'Look at its log.' }),
    });
    expect(toRow(status, NOW)).toMatchObject({
      mood: 'busy',
      state: 'reconnecting',
      attempt: '2/5',
      next: '3s',
      problem: 'process-exited: The server exited with code 3. Look at its log.',
    });
  });

  it('keeps the reason in sight while the next attempt runs.', () => {
    const status = makeStatus({
      state: 'handshaking',
      substate: 'initializing',
      attempt: 3,
      error: makeFailure(),
    });
    expect(toRow(status, NOW)).toMatchObject({
      mood: 'busy',
      attempt: '3/5',
      problem: expect.stringContaining('code 3'),
    });
  });

  it('that failed says so, and forgets old reasons when it is ready again.', () => {
    const failed = makeStatus({ state: 'failed', substate: 'settled', attempt: 5, error: makeFailure() });
    expect(toRow(failed, NOW)).toMatchObject({ mood: 'bad', state: 'failed', attempt: '5/5' });
    expect(toRow({ ...failed, state: 'ready' }, NOW)).toMatchObject({
      mood: 'good',
      problem: '',
      attempt: '',
    });
  });

  it.each([
    [{ state: 'configuring', substate: 'dormant' }, 'dormant', 'off'],
    [{ state: 'configuring', substate: 'awaitingTrust' }, 'needs trust', 'bad'],
    [{ state: 'handshaking', substate: 'authorizing' }, 'needs sign-in', 'bad'],
    [{ state: 'reconnecting', substate: 'offline' }, 'offline', 'busy'],
    [{ state: 'stopped', reason: 'disabled' }, 'disabled', 'off'],
    [{ state: 'stopped', reason: 'close' }, 'stopped', 'off'],
    [{ state: 'launching', substate: 'opening' }, 'launching', 'busy'],
    [{ state: 'shuttingDown', substate: 'draining' }, 'shuttingDown', 'busy'],
  ] as const)('in %o reads %j and is %s.', (fields, state, mood) => {
    const row = toRow(makeStatus({ ...fields, url: 'https://example.com/mcp' }), NOW);
    expect(row).toMatchObject({ state, mood, where: mood === 'off' ? '' : 'https://example.com/mcp' });
  });

  it('shows where to sign in.', () => {
    const status = makeStatus({
      state: 'handshaking',
      substate: 'authorizing',
      authUrl: 'https://example.com/sign-in',
      error: makeFailure({ code: 'auth-required', message: 'Refused.' }),
    });
    expect(toRow(status, NOW).problem).toBe('auth-required: Refused. https://example.com/sign-in');
  });

  it.each([
    ['awaitingTrust', 'troupe trust files'],
    ['authorizing', 'troupe login files'],
  ])('that waits in %s names the command that ends it, whatever its server said.', (substate, command) => {
    const error = makeFailure({ code: 'auth-required', message: 'Refused.', hint: 'Sign in.' });
    expect(toRow(makeStatus({ state: 'handshaking', substate, error }), NOW).problem).toBe(command);
  });

  it('cannot be torn by what servers are called or say.', () => {
    const row = toRow(
      makeStatus({
        name: 'a\u001B[2J\nb',
        state: 'failed',
        error: makeFailure({ message: 'x\r\ny\u001B[31mz' }),
      }),
      NOW,
    );
    expect([row.name, row.problem]).toEqual(['a b', 'process-exited: x yz']);
  });
});
