import { describe, expect, it } from 'vitest';
import { isWithinOrigin, parseAddress, shownText } from '../../../../src/transports/http/server-address.js';
import { MAX_DELAY_MS } from '../../../../machines/policy/backoff.js';
import { clean, parseRetryAfter } from '../../../../src/transports/http/http-refusal.js';

describe('An address', () => {
  it.each([
    ['http://a.example/x', 'http://a.example/y', true],
    ['http://a.example:8080/', 'http://a.example:8080/', true],
    ['http://a.example/', 'https://a.example/', true],
    ['https://a.example/', 'http://a.example/', false],
    ['http://a.example:8080/', 'https://a.example/', false],
    ['http://a.example/', 'http://b.example/', false],
    ['http://a.example/', 'http://a.example.evil.example/', false],
    ['http://a.example/', 'http://user@a.example/', true],
  ])('%s may send its headers to %s: %s', (from, to, expected) => {
    expect(isWithinOrigin(new URL(from), new URL(to))).toBe(expected);
  });

  it('is shown without anything that may be secret', () => {
    expect(shownText('https://anna:pass@host.example:8443/mcp?key=abc#frag')).toBe(
      'https://host.example:8443/mcp',
    );
    expect(shownText('nonsense')).toBeUndefined();
  });

  it('keeps user and password out of the requested URL, even if they are badly encoded', () => {
    const { url, headers } = parseAddress('http://an%na:p%40ss@host.example/mcp?q=1#frag');
    expect(url.href).toBe('http://host.example/mcp?q=1');
    expect(headers['authorization']).toBe(`Basic ${Buffer.from('an%na:p@ss').toString('base64')}`);
  });

  it('prefers a configured authorization to credentials in the address', () => {
    const { headers } = parseAddress('http://anna:pass@host.example/', { Authorization: 'Bearer x' });
    expect(headers['authorization']).toBe('Bearer x');
  });

  it('knows which texts are secret, and leaves the names of schemes alone', () => {
    const { secrets } = parseAddress('http://host.example/?key=s%2Fcret', {
      Authorization: 'Bearer abcdefgh',
      'X-Short': 'on',
    });
    expect(clean('Bearer realm="abcdefgh" s/cret s%2Fcret on', secrets)).toBe(
      'Bearer realm="***" *** *** on',
    );
  });

  it('never sends headers that frame the message', () => {
    const { headers } = parseAddress('http://host.example/', { 'Content-Length': '5', 'X-Kept': 'yes' });
    expect(headers).toEqual({ 'x-kept': 'yes' });
  });
});

describe('Retry-After', () => {
  const now = Date.UTC(2026, 0, 1);
  it.each([
    ['3', 3_000],
    [' 120 ', 120_000],
    ['Thu, 01 Jan 2026 00:00:09 GMT', 9_000],
    ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
    ['9'.repeat(400), MAX_DELAY_MS],
    ['Tue, 01 Jan 9999 00:00:00 GMT', MAX_DELAY_MS],
    ['soon', undefined],
    [undefined, undefined],
  ])('%j is %j ms', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });
});
