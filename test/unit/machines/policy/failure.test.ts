import { describe, expect, it } from 'vitest';
import {
  classify,
  FAILURE_CODES,
  seenAtProvenUrl,
  toFailure,
  type Failure,
  type FailureCode,
} from '../../../../machines/policy/failure.js';

function failure(code: FailureCode, status?: number): Failure {
  const record: Failure = { code, message: 'It failed.', phase: 'launch', at: 0 };
  return status === undefined ? record : { ...record, http: { status } };
}

const VERDICTS = [
  { code: 'config-invalid', verdict: 'permanent' },
  { code: 'variable-missing', verdict: 'permanent' },
  { code: 'trust-denied', verdict: 'permanent' },
  { code: 'command-not-found', verdict: 'permanent' },
  { code: 'command-not-executable', verdict: 'permanent' },
  { code: 'cwd-not-found', verdict: 'permanent' },
  { code: 'spawn-failed', verdict: 'retry' },
  { code: 'process-exited', verdict: 'retry' },
  { code: 'stdout-closed', verdict: 'retry' },
  { code: 'address-refused', verdict: 'retry' },
  { code: 'http-status', verdict: 'retry' },
  { code: 'http-not-mcp', verdict: 'permanent' },
  { code: 'session-expired', verdict: 'renew' },
  { code: 'auth-required', verdict: 'authorize' },
  { code: 'connection-lost', verdict: 'retry' },
  { code: 'launch-timeout', verdict: 'retry' },
  { code: 'handshake-timeout', verdict: 'retry' },
  { code: 'list-timeout', verdict: 'retry' },
  { code: 'protocol-version', verdict: 'permanent' },
  { code: 'protocol-error', verdict: 'retry' },
  { code: 'server-error', verdict: 'retry' },
  { code: 'message-too-large', verdict: 'retry' },
  { code: 'unresponsive', verdict: 'retry' },
  { code: 'not-released', verdict: 'permanent' },
  { code: 'crash-loop', verdict: 'permanent' },
  { code: 'needs-fleet', verdict: 'permanent' },
  { code: 'no-lease', verdict: 'retry' },
  { code: 'lease-lost', verdict: 'renew' },
  { code: 'internal', verdict: 'permanent' },
] as const;

describe('the verdict on a failure', () => {
  it('has one row here for every failure code, in the same order', () => {
    expect(VERDICTS.map(({ code }) => code)).toEqual(FAILURE_CODES);
  });

  it.each(VERDICTS)('is "$verdict" for $code', ({ code, verdict }) => {
    expect(classify(failure(code))).toBe(verdict);
  });

  it.each([
    { status: 302, verdict: 'permanent' },
    { status: 400, verdict: 'permanent' },
    { status: 403, verdict: 'permanent' },
    { status: 404, verdict: 'permanent' },
    { status: 405, verdict: 'permanent' },
    { status: 407, verdict: 'permanent' },
    { status: 408, verdict: 'retry' },
    { status: 410, verdict: 'permanent' },
    { status: 424, verdict: 'permanent' },
    { status: 425, verdict: 'retry' },
    { status: 426, verdict: 'permanent' },
    { status: 428, verdict: 'permanent' },
    { status: 429, verdict: 'retry' },
    { status: 430, verdict: 'permanent' },
    { status: 499, verdict: 'permanent' },
    { status: 500, verdict: 'retry' },
    { status: 502, verdict: 'retry' },
    { status: 503, verdict: 'retry' },
    { status: 504, verdict: 'retry' },
    { status: 599, verdict: 'retry' },
    { status: NaN, verdict: 'permanent' },
  ])('is "$verdict" when the server answers with HTTP $status', ({ status, verdict }) => {
    expect(classify(failure('http-status', status))).toBe(verdict);
  });

  it.each([
    { code: 'auth-required', status: 401, verdict: 'authorize' },
    { code: 'auth-required', status: 503, verdict: 'authorize' },
    { code: 'session-expired', status: 404, verdict: 'renew' },
    { code: 'http-not-mcp', status: 503, verdict: 'permanent' },
    { code: 'connection-lost', status: 404, verdict: 'retry' },
  ] as const)('goes by the code before the status: "$verdict" for $code with HTTP $status', (row) => {
    expect(classify(failure(row.code, row.status))).toBe(row.verdict);
  });
});

describe('a thrown value', () => {
  const record: Failure = { code: 'connection-lost', message: 'It is gone.', phase: 'session', at: 7 };

  it('is used unchanged if it is a record.', () => {
    expect(toFailure(record)).toBe(record);
  });

  it.each([
    ['an error', new Error('boom'), 'boom'],
    ['an error of the system', Object.assign(new Error('no file'), { code: 'ENOENT' }), 'no file'],
    ['a record with an unknown code', { ...record, code: 'lost' }, 'object'],
    ['a code without a message', { code: 'connection-lost' }, 'object'],
    ['a message without a code', { message: 'It is gone.' }, 'object'],
    ['a message that is no text', { ...record, message: { toString: 1 } }, 'object'],
    ['a time that is no number', { ...record, at: { valueOf: 1 } }, 'object'],
    ['a phase that does not exist', { ...record, phase: 'x' }, 'object'],
    ['an exit of another shape', { ...record, exit: { code: 'x', signal: null } }, 'object'],
    ['a refusal of another shape', { ...record, http: { status: 500, bodyStart: {} } }, 'object'],
    ['lines that are no texts', { ...record, stderrTail: [1] }, 'object'],
    ['nothing', null, 'object'],
    ['a word', 'connection-lost', 'string'],
    ['undefined', undefined, 'undefined'],
  ])('is an internal error if it is %s.', (_, thrown, detail) => {
    expect(toFailure(thrown)).toStrictEqual({
      code: 'internal',
      message: expect.stringContaining(detail) as unknown,
      phase: 'session',
      at: 0,
    });
  });
});

describe('a failure at an address where the server was ready before', () => {
  const url = 'https://example.com/mcp';
  const there = (code: FailureCode, status?: number): Failure => ({ ...failure(code, status), url });

  it.each([
    ['http-not-mcp', undefined],
    ['http-status', 300],
    ['http-status', 399],
    ['http-status', 404],
    ['http-status', 405],
  ] as const)('may be temporary if something else has answered (%s, %s).', (code, status) => {
    const { hint, ...rest } = seenAtProvenUrl(there(code, status), url);
    expect(rest).toStrictEqual({ ...there(code, status), code: 'connection-lost' });
    expect(hint).toEqual(expect.any(String));
  });

  it.each([
    ['http-status', 299],
    ['http-status', 400],
    ['http-status', 403],
    ['http-status', 503],
    ['http-status', undefined],
    ['session-expired', 404],
    ['auth-required', undefined],
  ] as const)('stays as it is otherwise (%s, %s).', (code, status) => {
    const record = there(code, status);
    expect(seenAtProvenUrl(record, url)).toBe(record);
  });

  it('stays the same at another address, and if no address is proven.', () => {
    const record = there('http-not-mcp');
    expect(seenAtProvenUrl(record, 'https://example.com/other')).toBe(record);
    expect(seenAtProvenUrl(record, null)).toBe(record);
  });

  it('keeps its hint, unless that questions the path.', () => {
    const hint = 'Look at the address.';
    expect(seenAtProvenUrl({ ...there('http-status', 405), hint }, url).hint).toBe(hint);
    expect(seenAtProvenUrl({ ...there('http-status', 404), hint }, url).hint).not.toBe(hint);
  });
});
