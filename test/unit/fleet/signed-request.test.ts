/** Requests from host to host: what is accepted, and what is refused. */
import { describe, expect, it } from 'vitest';
import { FleetKey } from '../../../src/fleet/fleet-key.js';
import {
  isBodyOf,
  requestKeys,
  SeenNonces,
  signRequest,
  verifyHead,
  verifyRequest,
  WINDOW_MS,
  type FleetRequest,
  type RefusedSignature,
} from '../../../src/fleet/signed-request.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

const [FIRST, SECOND] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string];
const keys = requestKeys(new FleetKey([FIRST]));
const request: FleetRequest = {
  method: 'POST',
  path: '/mcp?a=1',
  session: 'hostB.4711',
  headers: { authorization: 'Bearer abc', 'content-type': 'application/json' },
  body: Buffer.from('{"jsonrpc":"2.0"}'),
};
const claims = { purpose: 'session', from: 'hostA', to: 'hostB' };
const moment = { at: 1_000_000, nonce: 'n-1' };
const expected = { purpose: 'session', self: 'hostB', now: 1_000_000 };
const signature = signRequest(keys, request, claims, moment);

describe('a signed request', () => {
  it('is accepted with what it says', () => {
    expect(verifyRequest(keys, request, signature, expected)).toMatchObject({
      isValid: true,
      from: 'hostA',
      ...moment,
      headers: request.headers,
    });
  });

  it('is accepted without headers and body', () => {
    const bare: FleetRequest = {
      method: 'GET',
      path: '/mcp',
      session: '',
      headers: {},
      body: Buffer.alloc(0),
    };
    const signed = signRequest(keys, bare, claims, moment);
    expect(verifyRequest(keys, bare, signed, expected)).toMatchObject({ isValid: true, headers: {} });
  });

  it('loses the headers that were not signed', () => {
    const more = { ...request, headers: { ...request.headers, 'x-user': 'root', cookie: 'a=1' } };
    expect(verifyRequest(keys, more, signature, expected)).toMatchObject({ headers: request.headers });
  });

  it.each<[string, Partial<FleetRequest>]>([
    ['method', { method: 'DELETE' }],
    ['path', { path: '/servers/other/mcp' }],
    ['query', { path: '/mcp?a=2' }],
    ['session', { session: 'hostB.4712' }],
    ['body', { body: Buffer.from('{"jsonrpc":"2.1"}') }],
    ['header', { headers: { ...request.headers, authorization: 'Bearer abd' } }],
    ['missing header', { headers: { 'content-type': 'application/json' } }],
    ['header with two values', { headers: { ...request.headers, authorization: ['Bearer abc', 'x'] } }],
  ])('is refused with another %s', (_, change) => {
    expect(verifyRequest(keys, { ...request, ...change }, signature, expected)).toEqual(refused('changed'));
  });

  it.each(Array.from(signature, (_, place) => place))(
    'is refused if its signature is changed at place %i',
    (place) => {
      for (const other of ['A', '0', ';', ',', ' ']) {
        if (signature[place] === other) continue;
        const changed = signature.slice(0, place) + other + signature.slice(place + 1);
        const verdict = verifyRequest(keys, request, changed, expected);
        expect(verdict.isValid, changed).toBe(false);
      }
    },
  );

  it.each<[RefusedSignature, Partial<typeof expected>]>([
    ['expired', { now: moment.at + WINDOW_MS + 1 }],
    ['expired', { now: moment.at - WINDOW_MS - 1 }],
    ['wrong-host', { self: 'hostC' }],
    ['wrong-purpose', { purpose: 'server' }],
  ])('is refused: %s, %j', (reason, change) => {
    expect(verifyRequest(keys, request, signature, { ...expected, ...change })).toEqual(refused(reason));
  });

  it('counts until the end of its time', () => {
    for (const now of [moment.at + WINDOW_MS, moment.at - WINDOW_MS])
      expect(verifyRequest(keys, request, signature, { ...expected, now }).isValid).toBe(true);
  });

  it.each([
    '',
    ';',
    '1',
    '1;;;;;;;;;',
    'x'.repeat(100_000),
    signature.replace(/;\d{7};/, ';1e9;'),
    `${signature};x`,
  ])('is refused if the signature is malformed (%#)', (text) => {
    expect(verifyRequest(keys, request, text, expected)).toEqual(refused('malformed'));
  });

  it('is verified by each of several keys, and signed by the first', () => {
    const both = requestKeys(new FleetKey([SECOND, FIRST]));
    const other = requestKeys(new FleetKey([SECOND]));
    expect(verifyRequest(both, request, signature, expected).isValid).toBe(true);
    expect(verifyRequest(other, request, signature, expected)).toEqual(refused('wrong-key'));
    const signed = signRequest(both, request, claims, moment);
    expect(verifyRequest(other, request, signed, expected).isValid).toBe(true);
  });

  it('is not signed with a key that seals entries', () => {
    const key = new FleetKey([FIRST]);
    expect(requestKeys(key)[0].bytes.equals(key.derive('troupe fleet entries')[0].bytes)).toBe(false);
  });
});

describe('the head of a signed request', () => {
  it('is verified before the body is there', () => {
    const { body, ...head } = request;
    const verdict = verifyHead(keys, head, signature, expected);
    if (!verdict.isValid) throw new Error(verdict.reason);
    expect([body, Buffer.from('{}')].map((each) => isBodyOf(verdict, each))).toEqual([true, false]);
  });
});

describe('nonces', () => {
  it('are new once while their request counts', () => {
    // Worst case: it arrives as early as it may, and again as late as it may, and the memory turns over in between.
    for (let start = 0; start <= 4 * WINDOW_MS; start += WINDOW_MS / 2) {
      const seen = new SeenNonces(0);
      expect(seen.isNew('filler', start / 2)).toBe(true);
      expect(seen.isNew('n', start)).toBe(true);
      expect(seen.isNew('other', start + WINDOW_MS)).toBe(true);
      expect(seen.isNew('n', start + 2 * WINDOW_MS)).toBe(false);
    }
  });

  it('are forgotten after that', () => {
    const seen = new SeenNonces(0);
    seen.isNew('n', 0);
    for (const now of [1, 2, 3].map((turns) => turns * 3 * WINDOW_MS)) seen.isNew(`at ${now}`, now);
    expect(seen.isNew('n', 9 * WINDOW_MS)).toBe(true);
  });
});

function refused(reason: RefusedSignature): object {
  return { isValid: false, reason };
}
