import { describe, expect, it } from 'vitest';
import { parseUrl } from '../../../src/text/parse-url.js';

describe('an address', () => {
  it('is read, alone or from another one.', () => {
    expect(parseUrl('https://lamp.example/a')?.pathname).toBe('/a');
    expect(parseUrl('b', 'https://lamp.example/a/')?.href).toBe('https://lamp.example/a/b');
  });

  it.each(['', 'lamp', '/a', 'https://', 'https://a b/', 'https://lamp:99999/'])('is none: %j', (text) => {
    expect(parseUrl(text)).toBeUndefined();
  });

  it('is one or none, and never throws, if its host is very long.', () => {
    expect(() => parseUrl(`https://x${'${A}'.repeat(50_000)}/`)).not.toThrow();
  });
});
