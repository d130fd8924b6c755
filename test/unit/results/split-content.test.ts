import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitText } from '../../../src/results/split-content.js';
import { fuzz } from '../../support/fuzz.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

const notice = (leftOut: number): string => `[${leftOut} left out]`;

describe('a text over the limit', () => {
  it('keeps its start and its end around a notice about the middle.', () => {
    const whole = `${'h'.repeat(500)}${'t'.repeat(500)}`;
    expect(limitText(whole, 115, notice)).toBe(`${'h'.repeat(70)}[900 left out]${'t'.repeat(30)}`);
  });

  it('stays unchanged up to the limit.', () => {
    expect(limitText('12345', 5, notice)).toBe('12345');
  });

  it('becomes only the complete notice if there is no more room.', () => {
    expect(limitText('a'.repeat(100), 5, notice)).toBe('[100 left out]');
  });

  it('is within the limit, states the right number, and splits neither a character nor the notice.', async () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'é', '\u{1f600}', '\n'), maxLength: 600 });
    await fuzz(
      1_000,
      fc.property(letters, fc.nat(600), (whole, limit) => {
        const limited = limitText(whole, limit, notice);
        const [head = '', leftOut, tail] = limited.split(/\[(\d+) left out\]/);
        if (whole.length <= limit) {
          expect(limited).toBe(whole);
          return;
        }
        expect(limited.length).toBeLessThanOrEqual(Math.max(limit, notice(whole.length).length));
        expect(whole.startsWith(head) && whole.endsWith(tail ?? '?')).toBe(true);
        expect(head.length + Number(leftOut) + (tail?.length ?? 0)).toBe(whole.length);
        expect(limited.isWellFormed()).toBe(true);
      }),
    );
  });
});
