import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineFramer, type OversizeLine } from '../../../src/text/line-framer.js';

function framer(maxBytes = 1_000_000): {
  framer: LineFramer;
  lines: string[];
  oversize: OversizeLine[];
} {
  const lines: string[] = [];
  const oversize: OversizeLine[] = [];
  const sink = {
    line: (text: string) => void lines.push(text),
    oversize: (line: OversizeLine) => void oversize.push(line),
  };
  return { framer: new LineFramer(sink, maxBytes), lines, oversize };
}

/** Splits at the given positions, in any order, including those beyond the end. */
function chunks(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

const text = fc.string({ unit: 'binary' }).map((line) => line.replaceAll('\n', ' '));

describe('the line framer', () => {
  it('gives the same lines however the bytes are split, even within a character', () => {
    fc.assert(
      fc.property(fc.array(text), fc.array(fc.nat()), (expected, cuts) => {
        const { framer: reader, lines } = framer();
        const bytes = Buffer.from(expected.map((line) => `${line}\n`).join(''));
        for (const chunk of chunks(bytes, cuts)) reader.push(chunk);
        expect(lines).toEqual(expected.map((line) => Buffer.from(line).toString()));
      }),
    );
  });

  it('distinguishes a line that is not UTF-8 from one that contains U+FFFD, however the bytes are split', () => {
    const given = [
      Buffer.from('a\uFFFD'),
      Buffer.from([0x61, 0xff]),
      Buffer.from('b'),
      Buffer.from([0xe2, 0x82]),
    ];
    const bytes = Buffer.concat(given.flatMap((line) => [line, Buffer.from('\n')]));
    fc.assert(
      fc.property(fc.array(fc.nat()), (cuts) => {
        const reported: (string | number)[] = [];
        const report = (what: string | number): void => void reported.push(what);
        const reader = new LineFramer({ line: report, garbled: report, oversize: () => {} }, 100);
        for (const chunk of chunks(bytes, cuts)) reader.push(chunk);
        expect(reported).toEqual(['a\uFFFD', 2, 'b', 2]);
      }),
    );
  });

  it('applies the limit to whole lines, however the bytes are split', () => {
    fc.assert(
      fc.property(fc.array(text), fc.array(fc.nat()), fc.integer({ min: 0, max: 20 }), (all, cuts, limit) => {
        const { framer: reader, lines, oversize } = framer(limit);
        for (const chunk of chunks(Buffer.from(all.map((line) => `${line}\n`).join('')), cuts))
          reader.push(chunk);
        const sizes = all.map((line) => Buffer.byteLength(line));
        expect(lines.map((line) => Buffer.byteLength(line))).toEqual(sizes.filter((size) => size <= limit));
        expect(oversize.map(({ bytes }) => bytes)).toEqual(sizes.filter((size) => size > limit));
      }),
    );
  });

  it('keeps the first and the last kibibyte of a line beyond the limit, however the bytes are split', () => {
    const line = Array.from({ length: 3_000 }, (_, index) => String.fromCharCode(97 + (index % 26))).join('');
    fc.assert(
      fc.property(fc.array(fc.nat()), fc.integer({ min: 0, max: 2_999 }), (cuts, limit) => {
        const { framer: reader, oversize } = framer(limit);
        for (const chunk of chunks(Buffer.from(`${line}\n`), cuts)) reader.push(chunk);
        expect(oversize).toEqual([{ bytes: 3_000, head: line.slice(0, 1_024), tail: line.slice(-1_024) }]);
      }),
    );
  });

  it('continues with the next line after one beyond the limit', () => {
    const { framer: reader, lines, oversize } = framer(4);
    for (const piece of ['123', '45', '678\nab', 'cd\n', 'abcdefgh\nx\n']) reader.push(Buffer.from(piece));
    expect(lines).toEqual(['abcd', 'x']);
    expect(oversize.map(({ head, tail, bytes }) => [head, tail, bytes])).toEqual([
      ['12345678', '12345678', 8],
      ['abcdefgh', 'abcdefgh', 8],
    ]);
  });

  it('treats the rest at the end of the stream as a line', () => {
    const { framer: reader, lines } = framer();
    reader.push(Buffer.from('whole\nrest'));
    reader.end();
    reader.end();
    expect(lines).toEqual(['whole', 'rest']);
  });

  it('reads a line of 50 MB in chunks of one page in linear time', () => {
    const { framer: reader, lines } = framer(100_000_000);
    const page = Buffer.alloc(4_096, 'x');
    const began = performance.now();
    for (let sent = 0; sent < 50_000_000; sent += page.length) reader.push(page);
    reader.push(Buffer.from('\n'));
    expect(lines[0]?.length).toBeGreaterThan(50_000_000);
    expect(performance.now() - began).toBeLessThan(15_000);
  });
});
