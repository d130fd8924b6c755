import { describe, expect, it } from 'vitest';
import { cleanText } from '../../../../src/text/server-text.js';
import { OutputRing } from '../../../../src/transports/stdio/server-process.js';

describe('the output ring', () => {
  it('keeps the last 200 lines, oldest first', () => {
    const ring = new OutputRing();
    for (let line = 1; line <= 1_000; line += 1) ring.push(String(line));
    expect(ring.lines()).toHaveLength(200);
    expect(ring.lines()[0]).toBe('801');
    expect(ring.lines().at(-1)).toBe('1000');
  });

  it('keeps at most 64 Ki characters', () => {
    const ring = new OutputRing();
    for (let line = 0; line < 100; line += 1) ring.push('x'.repeat(4_096));
    expect(ring.lines()).toHaveLength(16);
  });

  it('gives a copy that later lines do not change', () => {
    const ring = new OutputRing();
    ring.push('one');
    const before = ring.lines();
    ring.push('two');
    expect(before).toEqual(['one']);
  });
});

describe('cleaned text', () => {
  it.each([
    ['\u001b[2J\u001b[H\u001b[32m✔ up\u001b[0m', '✔ up'],
    ['\u001b]0;title\u0007after', 'after'],
    ['\u001b]8;;https://example.org\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['a\rb\bc\u0000d\u007f', 'abcd'],
    ['left\u202eright\u2066x\u2028y', 'leftrightxy'],
    ['one\ttwo', 'one two'],
    ['\u009b31mred', 'red'],
    ['plain é 灯笼 🏮', 'plain é 灯笼 🏮'],
  ])('of %j cannot control a terminal', (raw, cleaned) => {
    expect(cleanText(raw)).toBe(cleaned);
  });
});
