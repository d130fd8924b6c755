import { describe, expect, it } from 'vitest';
import picocolors from 'picocolors';
import { renderCheck } from '../../../../src/cli/commands/check-command.js';
import { explain } from '../../../../src/cli/output/failure-report.js';
import { makeFailure, makeStatus } from '../../../support/make-status.js';

const PLAIN = picocolors.createColors(false);
const FAILED = { failed: { permanent: 'waiting' } };
const SIGNING_IN = { configuring: { authorizing: 'signingIn' } };

describe('the explanation of a failure', () => {
  it('of a process has the exit, the last output and the number of the attempt.', () => {
    const columns = {
      attempt: 2,
      error: makeFailure({ hint: 'Look.', exit: { code: 3, signal: null } }),
      stderrTail: Array.from({ length: 30 }, (_, index) => `line ${index}`),
    };
    const status = makeStatus(columns, FAILED);
    expect(explain(status)).toEqual([
      'process-exited: The server exited with code 3.',
      'hint: Look.',
      'exit: code 3',
      'attempt: 2 of 5',
      'stderr:',
      ...Array.from({ length: 6 }, (_, index) => `  | line ${index}`),
      '  | … 11 more lines …',
      ...Array.from({ length: 13 }, (_, index) => `  | line ${index + 17}`),
    ]);
  });

  it('of a killed process names the signal.', () => {
    const error = makeFailure({ exit: { code: null, signal: 'SIGKILL' } });
    expect(explain(makeStatus({ error }, FAILED))).toContain('exit: signal SIGKILL');
  });

  it('of an HTTP server has the status, the challenge and the start of the body.', () => {
    const error = makeFailure({
      code: 'auth-required',
      message: 'Refused.',
      http: { status: 401, wwwAuthenticate: 'Bearer realm="x"', bodyStart: '<p>\nno' },
      rpcCode: -32_000,
    });
    const authUrl = 'https://example.com/sign-in';
    expect(explain(makeStatus({ attempt: 1, error, authUrl }, SIGNING_IN))).toEqual([
      'auth-required: Refused.',
      'sign in: https://example.com/sign-in',
      'HTTP status: 401',
      'WWW-Authenticate: Bearer realm="x"',
      'body starts: <p> no',
      'JSON-RPC error: -32000',
      'attempt: 1 of 5',
    ]);
  });

  it('of a required sign-in names the command for it if no address is known.', () => {
    const error = makeFailure({ code: 'auth-required', message: 'Refused.', hint: 'Sign in.' });
    expect(explain(makeStatus({ attempt: 0, error }, SIGNING_IN))).toEqual([
      'auth-required: Refused.',
      'hint: Sign in.',
      'sign in: troupe login files',
    ]);
  });

  it('omits the start of the body if the message contains all of it.', () => {
    const explained = (message: string, bodyStart: string) =>
      explain(makeStatus({ error: makeFailure({ message, http: { status: 500, bodyStart } }) }, FAILED));
    expect(explained('HTTP 500: {"a":1}', '{"a":1}').join('\n')).not.toContain('body starts');
    expect(explained('HTTP 500: {"a"…', '{"a":1}')).toContain('body starts: {"a":1}');
  });

  it('has no attempt if none was made.', () => {
    expect(explain(makeStatus({ attempt: 0, error: makeFailure() }, FAILED))).toEqual([
      'process-exited: The server exited with code 3.',
    ]);
  });

  it('names the state if there is no failure.', () => {
    expect(explain(makeStatus({}, { configuring: 'awaitingTrust' }))).toEqual(['it is waiting for trust']);
    expect(explain(makeStatus({}, 'stopped'))).toEqual(['it is stopped']);
  });

  it('contains nothing that controls the terminal.', () => {
    const error = makeFailure({
      message: 'a\u001B[2Jb',
      http: { status: 500, bodyStart: '\u001B]0;x\u0007c' },
    });
    const lines = explain(makeStatus({ error, stderrTail: ['\u001B[31md\r'] }, FAILED));
    expect(
      lines
        .join('')
        .split('')
        .filter((char) => char < ' '),
    ).toEqual([]);
  });
});

describe('the report of a check', () => {
  it('has a line for each server and counts the ready ones among the enabled ones.', () => {
    const timings = {
      configuringMs: 1,
      queuedMs: null,
      launchingMs: 40,
      handshakingMs: 1_000,
      listingMs: 59,
    };
    const ready = makeStatus({
      toolCount: 1,
      serverInfo: { name: 'Files', version: '1.2' },
      protocolVersion: '2025-11-25',
      timings,
    });
    const statuses = [
      ready,
      makeStatus({ server: '日本', attempt: 2, error: makeFailure({ hint: 'Look.' }) }, FAILED),
      makeStatus({ server: 'spare', reason: 'disabled' }, 'stopped'),
    ];
    expect(renderCheck(statuses, PLAIN).split('\n')).toEqual([
      '✓ files  ready, 1 tool, Files 1.2, protocol 2025-11-25, 1.1 s',
      '✗ 日本   process-exited: The server exited with code 3.',
      '    hint: Look.',
      '    attempt: 2 of 5',
      '- spare  disabled',
      '',
      '1 of 2 ready',
    ]);
  });
});
