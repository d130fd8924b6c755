/** Which era is asked first, and what a failure in one era says about the other. */
import { describe, expect, it } from 'vitest';
import type { FailureCode } from '../../../machines/policy/failure.js';
import { LimitOver } from '../../../src/async/timers.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import {
  disprovesEra,
  eraAfterSilence,
  EraVerdicts,
  firstEra,
  judgeEra,
  silenceLimit,
} from '../../../src/protocol/era.js';
import { ProtocolFailure, RequestLostError, RpcError } from '../../../src/protocol/protocol-client.js';

const rpc = (code: number): RpcError => new RpcError(code, 'no', undefined);
const about = (...versions: string[]): ProtocolFailure =>
  new ProtocolFailure({ code: 'protocol-version', message: 'no' }, versions);
const invalid = new ProtocolFailure({ code: 'protocol-error', message: 'no' });
const status = (code: number): TransportError =>
  new TransportError({ code: 'http-status', message: 'no', http: { status: code } });
const lost = (code: FailureCode): RequestLostError => new RequestLostError({ code, message: 'no' }, true);

describe('The era that is asked first', () => {
  it.each([
    ['old', 'http', 'new', 'old'],
    ['new', 'stdio', 'old', 'new'],
    ['auto', 'stdio', undefined, 'old'],
    ['auto', 'stdio', 'new', 'new'],
    ['auto', 'http', 'old', 'old'],
    ['auto', 'http', 'new', 'new'],
    ['auto', 'in-process', undefined, 'old'],
    ['auto', 'http', undefined, 'new'],
    ['auto', 'sse', 'new', 'old'],
  ] as const)('by %s over %s with the verdict %s is %s', (choice, carrier, known, era) => {
    expect(firstEra(choice, carrier, known)).toBe(era);
  });
});

describe('A question in the new era', () => {
  it.each([
    ['method not found', rpc(-32601), 'other', 'other'],
    ['invalid params', rpc(-32602), 'other', 'other'],
    ['not initialized', rpc(-32000), 'other', 'other'],
    ['header and body differ', rpc(-32020), 'unclear', 'unclear'],
    ['a capability is missing', rpc(-32021), 'unclear', 'unclear'],
    ['no DiscoverResult', invalid, 'other', 'other'],
    ['old versions', about('2025-11-25'), 'other', 'other'],
    ['newer versions only', about('2099-01-01'), 'neither', 'neither'],
    ['newer and old versions', about('2099-01-01', '2025-06-18'), 'other', 'other'],
    ['the version that it refused', about('2026-07-28'), 'unclear', 'unclear'],
    ['no versions', about(), 'unclear', 'unclear'],
    ['silence', new LimitOver(1), 'unclear', 'unclear'],
    ['a reset', lost('connection-lost'), 'unclear', 'neither'],
    ['an answer to nothing', lost('protocol-error'), 'unclear', 'neither'],
    ['a page', lost('http-not-mcp'), 'unclear', 'neither'],
    ['an exit', lost('process-exited'), 'neither', 'neither'],
    ['nobody there', lost('address-refused'), 'neither', 'neither'],
    ['a sign-in', lost('auth-required'), 'unclear', 'neither'],
    ['400', status(400), 'other', 'neither'],
    ['403', status(403), 'unclear', 'neither'],
    ['404', status(404), 'other', 'neither'],
    ['422', status(422), 'other', 'neither'],
    ['429', status(429), 'neither', 'neither'],
    ['500', status(500), 'unclear', 'neither'],
    ['502', status(502), 'unclear', 'neither'],
    ['a bug', new TypeError('no'), 'neither', 'neither'],
  ] as const)('that gets %s says, over HTTP and stdio', (_, error, overHttp, overStdio) => {
    expect(judgeEra('new', error, 'http')).toBe(overHttp);
    expect(judgeEra('new', error, 'stdio')).toBe(overStdio);
    expect(judgeEra('new', error, 'sse')).toBe('neither');
  });
});

describe('A question in the old era', () => {
  it.each([
    ['the new version', about('2026-07-28'), 'other'],
    ['the new version and more', about('2099-01-01', '2026-07-28'), 'other'],
    ['other versions', about('2099-01-01'), 'neither'],
    ['no versions', about(), 'unclear'],
    ['method not found', rpc(-32601), 'unclear'],
    ['invalid params', rpc(-32602), 'unclear'],
    ['invalid request', rpc(-32600), 'unclear'],
    ['a capability is missing', rpc(-32021), 'unclear'],
    ['another error', rpc(-32000), 'neither'],
    ['an invalid answer', invalid, 'neither'],
    ['404', status(404), 'neither'],
    ['silence', new LimitOver(1), 'neither'],
    ['a reset', lost('connection-lost'), 'neither'],
  ] as const)('that gets %s says %#', (_, error, verdict) => {
    expect(judgeEra('old', error, 'http')).toBe(verdict);
    expect(judgeEra('old', error, 'stdio')).toBe(verdict);
  });
});

describe('A server that is silent or gone', () => {
  it.each([
    ['old', undefined, 'new'],
    ['old', 'old', 'old'],
    ['new', 'new', undefined],
    ['new', undefined, undefined],
  ] as const)(
    'in the %s era, with the verdict %s, leaves the verdict %s to a program',
    (asked, known, era) => {
      expect(eraAfterSilence(asked, known)).toBe(era);
    },
  );

  it('is waited for a part of the handshake, over HTTP for 2 s at most', () => {
    expect(silenceLimit('http', 1_000)).toBe(300);
    expect(silenceLimit('http', 30_000)).toBe(2_000);
    expect(silenceLimit('stdio', 30_000)).toBe(15_000);
  });
});

describe('A failed handshake', () => {
  it.each([
    ['protocol-version', true],
    ['server-error', true],
    ['http-not-mcp', true],
    ['address-refused', false],
    ['auth-required', false],
    ['handshake-timeout', false],
    ['process-exited', false],
  ] as const)('with %s leaves the verdict in doubt: %s', (code, isDoubtful) => {
    expect(disprovesEra({ code, message: '' })).toBe(isDoubtful);
  });

  it.each([
    [404, true],
    [429, false],
    [503, false],
  ])('with HTTP %i leaves the verdict in doubt: %s', (code, isDoubtful) => {
    expect(disprovesEra(status(code).failure)).toBe(isDoubtful);
  });
});

describe('The verdicts', () => {
  const DAY = 24 * 60 * 60 * 1_000;
  const at = (times: { now: number }): EraVerdicts => new EraVerdicts({ now: () => times.now });

  it('forget an old one after a day, however often it was confirmed, and keep a new one', () => {
    const times = { now: 0 };
    const verdicts = at(times);
    verdicts.keep('a', 'old');
    verdicts.keep('b', 'new');
    times.now = DAY - 1;
    verdicts.keep('a', 'old');
    const eras = (...servers: string[]): unknown[] => servers.map((server) => verdicts.get(server)?.era);
    expect(eras('a', 'b', 'c')).toEqual(['old', 'new', undefined]);
    times.now = DAY;
    expect(eras('a', 'b')).toEqual([undefined, 'new']);
  });

  it('can be forgotten, and are bounded', () => {
    const verdicts = at({ now: 0 });
    verdicts.keep('a', 'new');
    verdicts.keep('a', undefined);
    expect(verdicts.get('a')).toBeUndefined();
    for (let server = 0; server <= 1_000; server += 1) verdicts.keep(String(server), 'new');
    const eras = ['0', '1', '1000'].map((server) => verdicts.get(server)?.era);
    expect(eras).toEqual([undefined, 'new', 'new']);
  });

  it('of an earlier run count, with their age, unless this run has shown something', () => {
    const times = { now: DAY };
    const verdicts = at(times);
    verdicts.restore('a', { era: 'old', since: 1 });
    verdicts.restore('b', { era: 'old', since: 0 });
    verdicts.keep('c', undefined);
    verdicts.restore('c', { era: 'new', since: 1 });
    verdicts.keep('d', 'new');
    verdicts.restore('d', { era: 'old', since: 1 });
    const eras = ['a', 'b', 'c', 'd'].map((server) => verdicts.get(server)?.era);
    expect(eras).toEqual(['old', undefined, undefined, 'new']);
    times.now = DAY + 1;
    expect(verdicts.get('a')).toBeUndefined();
  });
});
