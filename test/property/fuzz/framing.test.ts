/** Whatever bytes a server writes to its stdout, in whatever pieces: the same messages, no throw, no growth. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { cleanText } from '../../../src/text/clean-text.js';
import { LineFramer, type OversizeLine } from '../../../src/text/line-framer.js';
import { MessageReader } from '../../../src/transports/stdio/message-reader.js';
import { NoiseGate } from '../../../src/transports/noise-gate.js';
import { answeredId } from '../../../src/transports/stdio/oversize-id.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { cuts, inChunks, json, message, nested, text } from '../../support/arbitraries.js';
import { fuzz } from '../../support/fuzz.js';
import { heapKiB } from '../../support/heap.js';

useLeakCheck();

const LINE_FEED = 0x0a;
const EXCERPT = 1_024;

/** Bytes in which lines end, characters are torn, and nothing has to be text. */
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

/** What the framer is meant to do, without its care for memory and time. */
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
  const told: unknown[] = [];
  const reader = new MessageReader(
    {
      message: (value) => told.push(value),
      noise: (line) => told.push({ noise: line }),
      // A line far beyond the limit is reported before its end.
      tooLarge: (size, id) => told.push(size > 4 * limit ? { size: 'endless' } : { size, id }),
      endless: () => {},
    },
    limit,
  );
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return told;
}

describe('bytes from a server', () => {
  it('make the same lines however they are cut, those of a plain split', () =>
    fuzz(
      400,
      fc.property(bytes, cuts, fc.oneof(fc.nat(8), fc.nat(5_000)), (all, lengths, limit) => {
        expect(framed(inChunks(all, lengths), limit)).toEqual(plainLines(all, limit));
      }),
    ));

  it('make the same messages however they are cut, and nothing that is no message passes for one', () =>
    fuzz(
      400,
      fc.property(bytes, cuts, fc.constantFrom(50, 2_000, 1_000_000), (all, lengths, limit) => {
        const told = read(inChunks(all, lengths), limit);
        expect(told).toEqual(read([all], limit));
        for (const each of told) {
          const isTold = ['noise', 'size'].some((key) => Object.hasOwn(each as object, key));
          expect(isTold || (each as JSONRPCMessage).jsonrpc === '2.0').toBe(true);
        }
      }),
    ));

  it('never lose a message to what stands in the lines around it', () =>
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

  it('are held up to the limit and no further, though the line never ends', () => {
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

  it('may nest a hundred thousand levels', () => {
    const deep = `{"jsonrpc":"2.0","id":1,"result":${nested(100_000)}}\n`;
    const told = read(inChunks(Buffer.from(deep), [1_000]), 10_000_000);
    expect(told).toHaveLength(1);
    expect(told[0]).toHaveProperty('id', 1);
  });

  it('are noise where a batch holds more messages than any server has reason to send', () => {
    const batch = (count: number): Buffer =>
      Buffer.from(`[${Array.from({ length: count }, () => '{"jsonrpc":"2.0","method":"a"}').join()}]\n`);
    expect(read([batch(1_000)], 10_000_000)).toHaveLength(1_000);
    expect(read([batch(1_001)], 10_000_000)).toMatchObject([{ noise: expect.any(String) }]);
  });
});

describe('the id of a message beyond the limit', () => {
  it('is that of the message or none, never one from inside', () =>
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

  it('is looked for in no more than a moment, whatever the ends hold', () =>
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

describe('lines that are no messages', () => {
  it('are all counted, in few reports, and leave no timer', async () => {
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

  it('hold nothing that steers a terminal once they are cleaned, and are cleaned once for all', () =>
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

  it('are cleaned in no more than a moment', () =>
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
