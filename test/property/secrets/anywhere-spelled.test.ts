/** A secret is masked in every covered encoding, and if the text is cut off inside it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMask } from '../../../src/secrets/secrets.js';
import { anySecret, keyOfLines } from './anywhere-secret.js';

type Spell = (secret: string) => string;

const ascii: Spell = (json) =>
  json.replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

const COMMON: Readonly<Record<string, Spell>> = {
  unencoded: (secret) => secret,
  'in JSON': (secret) => JSON.stringify({ secret }),
  'in a component of an address': encodeURIComponent,
};

const UNCOMMON: Readonly<Record<string, Spell>> = {
  'in ASCII-only JSON': (secret) => ascii(JSON.stringify(secret)),
  'in JSON in JSON in JSON': (secret) => JSON.stringify(JSON.stringify(JSON.stringify(secret))),
  'in JSON with its slashes escaped': (secret) => JSON.stringify(secret).replaceAll('/', '\\/'),
  'in a lower-case percent encoding': (secret) =>
    encodeURIComponent(secret).replace(/%../g, (byte) => byte.toLowerCase()),
  'in an address that was encoded as a whole': encodeURI,
  'in a form field': (secret) => new URLSearchParams({ secret }).toString(),
  'in the query of a `URL` object': (secret) =>
    new URL(`http://harbor/?secret=${secret.replace(/[#\n]/g, encodeURIComponent)}`).href,
  'in an address inside an address': (secret) =>
    encodeURIComponent(`http://harbor/?secret=${encodeURIComponent(secret)}`),
  'in JSON inside an address': (secret) => `?json=${encodeURIComponent(JSON.stringify({ secret }))}`,
};

describe('a secret', () => {
  it.each(Object.entries({ ...COMMON, ...UNCOMMON }))('is masked %s', (_, spell) => {
    fc.assert(
      fc.property(fc.oneof(anySecret, keyOfLines), ({ text, core }) => {
        expect(createMask([text])(`> ${spell(text)} <`)).not.toContain(core);
      }),
      { numRuns: 60 },
    );
  });

  it.each(Object.entries(COMMON))('of a thousand characters is masked %s', (_, spell) => {
    fc.assert(
      fc.property(anySecret, ({ text, core }) => {
        const long = text.repeat(80);
        expect(createMask([long])(`> ${spell(long)} <`)).not.toContain(core);
      }),
      { numRuns: 10 },
    );
  });

  it('is masked if its end is cut off after at least eight characters', () => {
    const before = 'x'.repeat(100);
    fc.assert(
      fc.property(
        anySecret,
        fc.nat(),
        fc.constantFrom('', '…', '… (5000 characters)'),
        (secret, at, mark) => {
          const characters = Array.from(secret.text);
          const left = characters.slice(0, 8 + (at % (characters.length - 8))).join('');
          expect(createMask([secret.text])(`${before} ${left}${mark}`)).toBe(`${before} ***${mark}`);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('does not slow down the masking of a long text', () => {
    const mask = createMask(['"/"/"/secret', '\\\\\\"of-slashes', 'p"l"a"i"n']);
    const longTexts = ['\\'.repeat(300_000), '%5C'.repeat(100_000), '"/'.repeat(150_000)];
    for (const text of longTexts) expect(mask(text)).toBe(text);
  });
});
