import { describe, expect, it } from 'vitest';
import { KnownSecrets } from '../../../src/secrets/known-secrets.js';

const nth = (number: number): string => `secret-number-${number}-end`;

describe('known secrets', () => {
  it('stay masked when others replace them.', () => {
    const known = new KnownSecrets();
    known.remember(['first-token', 'first-refresh', undefined]);
    const { mask } = known;
    known.remember(['second-token']);
    expect(mask('first-token first-refresh second-token third')).toBe('*** *** *** third');
  });

  it('exclude short, common words.', () => {
    const known = new KnownSecrets();
    known.remember(['', 'abc', undefined, 'info']);
    expect(known.mask('abc of info')).toBe('abc of ***');
    expect(known.likelyMask('abc of info')).toBe('abc of info');
    known.remember(['longer-than-a-word']);
    expect(known.likelyMask('info: longer-than-a-word')).toBe('info: ***');
  });

  it('are limited: the oldest one is forgotten first, and a repeated one counts as new.', () => {
    const known = new KnownSecrets();
    for (let number = 0; number < 64; number += 1) known.remember([nth(number)]);
    known.remember([nth(0)]);
    known.remember([nth(64)]);
    expect(known.mask(`${nth(0)} ${nth(1)} ${nth(2)} ${nth(64)}`)).toBe(`*** ${nth(1)} *** ***`);
  });

  it('are never forgotten if they are permanent.', () => {
    const known = new KnownSecrets(['lasting-secret', undefined]);
    expect(known.mask('lasting-secret')).toBe('***');
    for (let number = 0; number < 80; number += 1) known.remember([nth(number)]);
    expect(known.mask(`lasting-secret ${nth(0)} ${nth(79)}`)).toBe(`*** ${nth(0)} ***`);
  });

  it('are all kept if they were added together, however many there are.', () => {
    const known = new KnownSecrets();
    const many = Array.from({ length: 200 }, (_, number) => nth(number));
    known.remember(['old-secret']);
    known.remember(many);
    expect(known.mask(many.join(' '))).toBe(many.map(() => '***').join(' '));
    expect(known.mask('old-secret')).toBe('old-secret');
  });
});
