/** A secret is found in every spelling that is covered, and where a text was cut in the middle of it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMask } from '../../../src/secrets/secrets.js';
import { anySecret, keyOfLines } from './anywhere-secret.js';

type Spell = (secret: string) => string;

const ascii: Spell = (json) =>
  json.replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

const USUAL: Readonly<Record<string, Spell>> = {
  'as it is': (secret) => secret,
  'in JSON': (secret) => JSON.stringify({ secret }),
  'as a component of an address': encodeURIComponent,
};

const UNUSUAL: Readonly<Record<string, Spell>> = {
  'in JSON without anything but ASCII': (secret) => ascii(JSON.stringify(secret)),
  'in JSON in JSON in JSON': (secret) => JSON.stringify(JSON.stringify(JSON.stringify(secret))),
  'in JSON with its slashes escaped': (secret) => JSON.stringify(secret).replaceAll('/', '\\/'),
  'in lower case in an address': (secret) =>
    encodeURIComponent(secret).replace(/%../g, (byte) => byte.toLowerCase()),
  'as an address that was escaped as a whole': encodeURI,
  'as a field of a form': (secret) => new URLSearchParams({ secret }).toString(),
  'as the platform writes the query of an address': (secret) =>
    new URL(`http://harbor/?secret=${secret.replace(/[#\n]/g, encodeURIComponent)}`).href,
  'as an address in an address': (secret) =>
    encodeURIComponent(`http://harbor/?secret=${encodeURIComponent(secret)}`),
  'as JSON in an address': (secret) => `?json=${encodeURIComponent(JSON.stringify({ secret }))}`,
};

describe('a secret', () => {
  it.each(Object.entries({ ...USUAL, ...UNUSUAL }))('is struck out %s', (_, spell) => {
    fc.assert(
      fc.property(fc.oneof(anySecret, keyOfLines), ({ text, core }) => {
        expect(createMask([text])(`> ${spell(text)} <`)).not.toContain(core);
      }),
      { numRuns: 60 },
    );
  });

  it.each(Object.entries(USUAL))('of a thousand characters is struck out %s', (_, spell) => {
    fc.assert(
      fc.property(anySecret, ({ text, core }) => {
        const long = text.repeat(80);
        expect(createMask([long])(`> ${spell(long)} <`)).not.toContain(core);
      }),
      { numRuns: 10 },
    );
  });

  it('is struck out where its end was cut off, down to eight characters of it', () => {
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

  it('does not make a long text slow to look through', () => {
    const mask = createMask(['"/"/"/secret', '\\\\\\"of-slashes', 'p"l"a"i"n']);
    const told = ['\\'.repeat(300_000), '%5C'.repeat(100_000), '"/'.repeat(150_000)];
    for (const text of told) expect(mask(text)).toBe(text);
  });
});
