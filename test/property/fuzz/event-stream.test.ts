/** Event streams with any content: the events of the specification, no error is thrown, and memory is limited. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEvents, type ServerSentEvent } from '../../../src/transports/http/event-stream.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { cuts, inChunks, json, text } from '../../support/arbitraries.js';
import { fuzz } from '../../support/fuzz.js';
import { heapKiB } from '../../support/heap.js';

useLeakCheck();

const MIB = 1_024 * 1_024;

interface StreamContent {
  readonly events: ServerSentEvent[];
  readonly pauses: number[];
  oversize: number;
}

async function read(chunks: Iterable<Uint8Array>, maxSize = 64 * MIB): Promise<StreamContent> {
  const content: StreamContent = { events: [], pauses: [], oversize: 0 };
  async function* body(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  await readEvents(body(), {
    maxSize,
    onactivity: () => {},
    onEvent: (event) => content.events.push(event),
    onRetry: (ms) => content.pauses.push(ms),
    onOversize: () => (content.oversize += 1),
  });
  return content;
}

/**
 * The rules of the HTML standard, applied to the whole text. An event without data counts if it has an id. An id that
 * does not fit into a header is ignored.
 */
function plainEvents(whole: string): Omit<StreamContent, 'oversize'> {
  const lines = whole.replace(/^\ufeff/, '').split(/\r\n|\r|\n/);
  lines.pop();
  const events: ServerSentEvent[] = [];
  const pauses: number[] = [];
  let fields: [string, string][] = [];
  for (const line of lines) {
    if (line !== '') {
      const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/su.exec(line) ?? [];
      fields.push([name, value]);
      if (name === 'retry' && /^\d+$/.test(value)) pauses.push(Number(value));
      continue;
    }
    const of = (wanted: string): string[] =>
      fields.flatMap(([name, value]) => (name === wanted ? [value] : []));
    const id = of('id').findLast((value) => !/\p{Cc}/u.test(value));
    const data = of('data');
    const event = of('event').at(-1);
    if (data.length > 0 || id !== undefined) {
      events.push({ id, event: event === '' ? undefined : event, data: data.join('\n') });
    }
    fields = [];
  }
  return { events, pauses };
}

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\r', '\r\n\r\n') },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'data',
      'data:',
      'data: ',
      'id:',
      'id',
      'event: ',
      'retry:',
      ':',
      ' ',
      'x:',
      '\ufeff',
    ),
  },
  { weight: 2, arbitrary: text.map((value) => value.toWellFormed()) },
  { weight: 1, arbitrary: fc.constantFrom('0', '99999999999999999999', '1e3', '-5', 'a\0b') },
  { weight: 1, arbitrary: json.map((value) => `data: ${JSON.stringify(value)}\n\n`) },
);
const stream = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));

describe('an event stream', () => {
  it('gives the events of the standard for any chunks and line ends', () =>
    fuzz(
      600,
      fc.asyncProperty(stream, cuts, async (whole, lengths) => {
        const { oversize, ...content } = await read(inChunks(Buffer.from(whole), lengths));
        expect(content).toEqual(plainEvents(whole));
        expect(oversize).toBe(0);
      }),
    ));

  it('of binary data is read to its end', () =>
    fuzz(
      300,
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), cuts, async (bytes, lengths) => {
        await expect(read(inChunks(Buffer.from(bytes), lengths), 100)).resolves.toBeDefined();
      }),
    ));

  it('drops only the events above the limit, and reports each once', () =>
    fuzz(
      200,
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(300), fc.nat(3)), { maxLength: 8 }),
        cuts,
        async (events, lengths) => {
          const limit = 200;
          const of = ([length, extra]: readonly [number, number]): string =>
            `${'data: a\n'.repeat(extra)}data: ${'x'.repeat(length)}\n\n`;
          const fits = (event: readonly [number, number]): boolean => of(event).length - 1 <= limit;
          const content = await read(inChunks(Buffer.from(events.map(of).join('')), lengths), limit);
          expect(content.oversize).toBe(events.filter((event) => !fits(event)).length);
          expect(content.events).toHaveLength(events.filter(fits).length);
        },
      ),
    ));

  it('whose event never ends reports it once, and keeps no more than the limit', async () => {
    const chunk = Buffer.from('x'.repeat(64 * 1_024));
    function* endless(): Generator<Uint8Array> {
      yield Buffer.from('data: ');
      for (let sent = 0; sent < 96 * MIB; sent += chunk.length) yield chunk;
    }
    const before = heapKiB();
    const content = await read(endless(), 2 * MIB);
    expect(content).toEqual({ events: [], pauses: [], oversize: 1 });
    expect(heapKiB() - before).toBeLessThan(3 * 1_024);
  });

  it('whose event has an endless number of lines keeps no more than the limit', async () => {
    const chunk = Buffer.from('data:\n'.repeat(10_000));
    let held = 0;
    const before = heapKiB();
    function* endless(): Generator<Uint8Array> {
      for (let sent = 0; sent < 12 * MIB; sent += chunk.length) yield chunk;
      held = heapKiB() - before;
      yield Buffer.from('\ndata: after\n\n');
    }
    const content = await read(endless(), 4 * MIB);
    expect(content.oversize).toBe(1);
    expect(content.events).toMatchObject([{ data: 'after' }]);
    expect(held).toBeLessThan(3 * 1_024);
  });

  it('of line ends or unknown fields is read quickly', async () => {
    for (const line of ['\n', '\r', '\r\n', 'x\n', 'x\r', 'retry:never\n', ':\r', 'id:\n', 'event\n']) {
      const chunk = Buffer.from(line.repeat(MIB / 2 / line.length));
      const startedAt = performance.now();
      await read(inChunks(chunk, [64 * 1_024]));
      expect(performance.now() - startedAt, JSON.stringify(line)).toBeLessThan(5_000);
    }
  });

  it('that arrives byte by byte needs no more memory than one that arrives at once', async () => {
    const event = Buffer.from(`data: ${'x'.repeat(MIB / 4)}\n\n`);
    const before = heapKiB();
    function* bytes(): Generator<Uint8Array> {
      for (let at = 0; at < event.length - 2; at += 1) yield event.subarray(at, at + 1);
      expect(heapKiB() - before).toBeLessThan(4 * 1_024);
      yield event.subarray(-2);
    }
    const { events } = await read(bytes());
    expect(events.map(({ data }) => data.length)).toEqual([MIB / 4]);
  });
});
