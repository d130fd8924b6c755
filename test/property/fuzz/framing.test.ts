/** Any bytes on the stdout of a server, in any chunks: the same messages, no error is thrown, and memory is limited. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { cleanText } from '../../../src/text/server-text.js';
import { LineFramer, type OversizeLine } from '../../../src/text/line-framer.js';
import { MessageReader } from '../../../src/transports/stdio/message-reader.js';
import { NoiseGate } from '../../../src/transports/noise-gate.js';
import { answeredId } from '../../../src/transports/message-limits.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { cuts, inChunks, json, message, nested, text } from '../../support/arbitraries.js';
import { fuzz } from '../../support/fuzz.js';
import { heapKiB } from '../../support/heap.js';

useLeakCheck();

const LINE_FEED = 0x0a;
const EXCERPT = 1_024;

/** Bytes with line ends, incomplete characters and binary data. */
const bytes: fc.Arbitrary<Buffer> = fc
  .array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom(...['\n', '\n\n', '\r\n', '\0', 'é', '😀', '\ufeff']).map(Buffer.from),
      },
      { weight: 3, arbitrary: fc.uint8Array({ maxLength: 30 }).map(Buffer.from) },
      { weight: 1, arbitrary: fc.nat(4_000).map((length) => Buffer.alloc(length, 'x')) },
      { weight: 3, arbitrary: message.map((value) => Buffer.from(`${JSON.stringify(value)}\n`)) },
    ),
    { maxLength: 30 },
  )
  .map((pieces) => Buffer.concat(pieces));

/** A simple framer without limits for memory and time. */
function plainLines(all: Buffer, limit: number): (string | OversizeLine)[] {
  const lines: Buffer[] = [];
  let from = 0;
  for (let at = all.indexOf(LINE_FEED); at !== -1; at = all.indexOf(LINE_FEED, from)) {
    lines.push(all.subarray(from, at));
    from = at + 1;
  }
  if (from < all.length) lines.push(all.subarray(from));
  return lines.map((line) =>
    line.length <= limit
      ? line.toString('utf8')
      : {
          bytes: line.length,
          head: line.subarray(0, EXCERPT).toString('utf8'),
          tail: line.subarray(-EXCERPT).toString('utf8'),
        },
  );
}

function framed(chunks: readonly Buffer[], limit: number): (string | OversizeLine)[] {
  const lines: (string | OversizeLine)[] = [];
  const framer = new LineFramer(
    { line: (line) => lines.push(line), oversize: (line) => lines.push(line) },
    limit,
  );
  for (const chunk of chunks) framer.push(chunk);
  framer.end();
  return lines;
}

function read(chunks: readonly Buffer[], limit: number): unknown[] {
  const output: unknown[] = [];
  const reader = new MessageReader(
    {
      message: (value) => output.push(value),
      noise: (line) => output.push({ noise: line }),
      // A line far beyond the limit is reported before its end, when its id may not be known.
      tooLarge: () => void output.push({ size: 'too large' }),
      tooComplex: (_, id) => void output.push({ size: 'too complex', id }),
      endless: () => {},
    },
    limit,
  );
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return output;
}

describe('bytes from a server', () => {
  it('give the same lines for any chunks, as a plain split does', () =>
    fuzz(
      400,
      fc.property(bytes, cuts, fc.oneof(fc.nat(8), fc.nat(5_000)), (all, lengths, limit) => {
        expect(framed(inChunks(all, lengths), limit)).toEqual(plainLines(all, limit));
      }),
    ));

  it('give the same messages for any chunks, and nothing else counts as a message', () =>
    fuzz(
      400,
      fc.property(bytes, cuts, fc.constantFrom(50, 2_000, 1_000_000), (all, lengths, limit) => {
        const output = read(inChunks(all, lengths), limit);
        expect(output).toEqual(read([all], limit));
        for (const each of output) {
          const isReport = ['noise', 'size'].some((key) => Object.hasOwn(each as object, key));
          expect(isReport || (each as JSONRPCMessage).jsonrpc === '2.0').toBe(true);
        }
      }),
    ));

  it('never lose a message because of the lines around it', () =>
    fuzz(
      300,
      fc.property(fc.array(bytes, { maxLength: 6 }), cuts, (junk, lengths) => {
        const asked = junk.map((_, id) => ({ jsonrpc: '2.0', id, result: { isMine: true } }));
        const all = junk.flatMap((noise, id) => [noise, Buffer.from(`\n${JSON.stringify(asked[id])}\n`)]);
        const mine = read(inChunks(Buffer.concat(all), lengths), 10_000).filter(
          (each) => (each as { result?: { isMine?: boolean } | null }).result?.isMine === true,
        );
        expect(mine).toEqual(asked);
      }),
    ));

  it('are kept only up to the limit if a line never ends', () => {
    const chunk = Buffer.alloc(64 * 1_024, 'x');
    const lines: unknown[] = [];
    const keep = (line: unknown): void => void lines.push(line);
    const framer = new LineFramer({ line: keep, oversize: keep }, 1_024 * 1_024);
    const before = heapKiB();
    for (let sent = 0; sent < 256 * 1_024 * 1_024; sent += chunk.length) framer.push(chunk);
    expect(heapKiB() - before).toBeLessThan(2 * 1_024);
    framer.push(Buffer.from('\nshort\n'));
    expect(lines).toMatchObject([{ bytes: 256 * 1_024 * 1_024 }, 'short']);
  });

  it('may contain JSON with a hundred thousand levels', () => {
    const deep = `{"jsonrpc":"2.0","id":1,"result":${nested(100_000)}}\n`;
    const output = read(inChunks(Buffer.from(deep), [1_000]), 10_000_000);
    expect(output).toHaveLength(1);
    expect(output[0]).toHaveProperty('id', 1);
  });

  it('count as noise if a batch has more than a thousand messages', () => {
    const batch = (count: number): Buffer =>
      Buffer.from(`[${Array.from({ length: count }, () => '{"jsonrpc":"2.0","method":"a"}').join()}]\n`);
    expect(read([batch(1_000)], 10_000_000)).toHaveLength(1_000);
    expect(read([batch(1_001)], 10_000_000)).toMatchObject([{ noise: expect.any(String) }]);
  });
});

describe('the id of a message beyond the limit', () => {
  it('is the id of the message or undefined, never an id from inside the message', () =>
    fuzz(
      500,
      fc.property(
        fc.oneof(fc.nat(99), text),
        fc.constantFrom('result', 'error'),
        json,
        fc.boolean(),
        (id, kind, value, isLast) => {
          const answer = isLast
            ? { jsonrpc: '2.0', [kind]: value, id }
            : { jsonrpc: '2.0', id, [kind]: value };
          const line = Buffer.from(JSON.stringify(answer));
          const head = line.subarray(0, EXCERPT).toString('utf8');
          const tail = line.subarray(-EXCERPT).toString('utf8');
          expect([undefined, id]).toContain(answeredId({ head, tail }));
        },
      ),
    ));

  it('is searched quickly, whatever the message contains', () =>
    fuzz(
      200,
      fc.property(
        fc.array(fc.constantFrom('{', '}', '"a":1', ',', ' ', '"', '\\', '"id":"', '-1.5', ':', 'null'), {
          minLength: 1,
          maxLength: 8,
        }),
        fc.boolean(),
        (parts, isResponse) => {
          const ends = parts.join('').repeat(1_024).slice(0, EXCERPT);
          const startedAt = performance.now();
          answeredId({ head: isResponse ? '{"result":[' : ends, tail: ends });
          expect(performance.now() - startedAt).toBeLessThan(1_000);
        },
      ),
    ));
});

describe('lines that are not messages', () => {
  it('are all counted in a few reports, and leave no timer behind', async () => {
    const lines = fc.record({ hear: fc.nat(500) });
    const pause = fc.record({ wait: fc.constantFrom(1, 999, 1_000, 5_000, 100_000) });
    await fuzz(
      100,
      fc.asyncProperty(fc.array(fc.oneof(lines, pause), { maxLength: 20 }), async (steps) => {
        const clock = createControlledClock();
        const startedAt = clock.now();
        const reports: number[] = [];
        const gate = new NoiseGate(clock, (burst) => reports.push(burst.count));
        let heard = 0;
        for (const step of steps) {
          if ('wait' in step) await clock.advance(step.wait);
          else for (let count = 0; count < step.hear; count += 1, heard += 1) gate.add('x');
        }
        gate.flush();
        expect(reports.reduce((sum, each) => sum + each, 0)).toBe(heard);
        expect(reports.length).toBeLessThanOrEqual((clock.now() - startedAt) / 1_000 + 1);
        expect(clock.pending).toEqual([]);
      }),
    );
  });

  it('contain no control sequence after they are cleaned, and cleaning again changes nothing', () =>
    fuzz(
      500,
      fc.property(
        fc.array(fc.oneof(text, fc.constantFrom('\u001b', '\u009b', '[', ']', ';', 'm', '\u0007'))),
        (parts) => {
          const clean = cleanText(parts.join(''));
          expect(clean).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
          expect(cleanText(clean)).toBe(clean);
        },
      ),
    ));

  it('are cleaned quickly', () =>
    fuzz(
      100,
      fc.property(
        fc.array(fc.constantFrom('\u001b', '\u009b', '[', ']', ';', '1', 'm', '#', '(', 'a'), {
          minLength: 1,
          maxLength: 6,
        }),
        (parts) => {
          const startedAt = performance.now();
          cleanText(parts.join('').repeat(4_096).slice(0, 4_096));
          expect(performance.now() - startedAt).toBeLessThan(1_000);
        },
      ),
    ));
});
