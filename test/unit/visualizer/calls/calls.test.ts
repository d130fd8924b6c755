/** Calls of a log: their attempts, their messages on the wire, the list of them, and their content. */
import { beforeAll, describe, expect, it } from 'vitest';
import { beginning, payloadParts } from '../../../../visualizer/src/calls/payload-parts.js';
import type { CallQuery } from '../../../../visualizer/src/calls/call-views.js';
import { LogDesk } from '../../../../visualizer/src/log/log-desk.js';
import { callLog, LONG_ANSWER } from '../../../support/call-log.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { toBytes } from '../../../support/sample-book.js';

useLeakCheck();

const turn = async (): Promise<void> => {};
const QUERY: CallQuery = { lane: undefined, group: 'all', order: 'first', text: '', most: 100 };

function deskOf(log: string): LogDesk {
  const desk = new LogDesk({}, turn);
  desk.append(toBytes(log));
  return desk;
}

describe('the calls of a log', () => {
  let log: string;
  let desk: LogDesk;

  beforeAll(async () => {
    log = await callLog(true);
    desk = deskOf(log);
  });

  const tools = async (query: Partial<CallQuery>): Promise<readonly string[]> =>
    (await desk.answer('calls', { ...QUERY, ...query })).rows.map(({ tool }) => tool);

  it('are listed with their outcome, one row for all attempts.', async () => {
    const { rows, counts } = await desk.answer('calls', QUERY);
    expect(counts).toEqual({ all: 4, failed: 1, repeated: 1, open: 1 });
    expect(rows).toMatchObject([
      { number: 1, lane: 'files', tool: 'read', outcome: 'answered', ms: 60, attempts: 1 },
      { number: 2, lane: 'files', tool: 'write', outcome: 'tool-error', ms: 60, attempts: 1 },
      { number: 3, lane: 'search', tool: 'find', outcome: 'answered', ms: 55, attempts: 2 },
      { number: 5, lane: 'files', tool: 'wait', outcome: '', attempts: 1 },
    ]);
  });

  it('are sorted and chosen.', async () => {
    expect(await tools({ order: 'slowest' })).toEqual(['read', 'write', 'find', 'wait']);
    expect(await tools({ order: 'latest', most: 2 })).toEqual(['wait', 'find']);
    expect(await tools({ group: 'failed' })).toEqual(['write']);
    expect(await tools({ group: 'repeated' })).toEqual(['find']);
    expect(await tools({ group: 'open' })).toEqual(['wait']);
    expect(await tools({ lane: 'search' })).toEqual(['find']);
    expect(await tools({ lane: 'nobody' })).toEqual([]);
    expect(await tools({ text: 'outcome:outcome-unknown' })).toEqual(['find']);
    expect(await tools({ text: 'call:4' })).toEqual(['find']);
    expect(await tools({ text: 'session:1 files -read' })).toEqual(['write', 'wait']);
  });

  it('have every step from the start over the wire and the loss to the outcome, and their content.', async () => {
    const call = await desk.answer('call', { number: 3 });
    expect(call?.steps.map(({ kind, attempt }) => [kind, attempt])).toEqual([
      ['started', 3],
      ['sent', 3],
      ['finished', 3],
      ['failure', undefined],
      ['started', 4],
      ['sent', 4],
      ['received', 4],
      ['finished', 4],
    ]);
    expect(call?.payload.request).toEqual({ words: 'lost and found' });
    // The number of any attempt names the call.
    expect(await desk.answer('call', { number: 4 })).toEqual(call);
    expect(await desk.answer('call', { number: 99 })).toBeUndefined();
    for (const { position, kind } of call?.steps ?? [])
      expect(await desk.answer('callAt', { position })).toBe(kind === 'failure' ? undefined : 3);
  });

  it('continue when the log grows, and need no content and no messages.', async () => {
    const plain = await callLog(false);
    const half = plain.indexOf('\n', plain.indexOf('"call.started"')) + 1;
    const growing = deskOf(plain.slice(0, half));
    expect((await growing.answer('calls', QUERY)).rows).toMatchObject([{ tool: 'read', outcome: '' }]);
    growing.append(toBytes(plain.slice(half)));
    const { rows } = await growing.answer('calls', QUERY);
    expect(rows.map(({ outcome }) => outcome)).toEqual(['answered', 'tool-error', 'answered', '']);
    expect((await growing.answer('call', { number: 1 }))?.payload).toEqual({
      request: undefined,
      answer: undefined,
    });
    const lines = plain.split('\n').filter((line) => !line.includes('"type":"wire"'));
    const silent = await deskOf(lines.join('\n')).answer('call', { number: 1 });
    expect(silent?.steps.map(({ kind }) => kind)).toEqual(['started', 'finished']);
  });

  it('that began before the log are in it with their end.', async () => {
    const lines = log.split('\n').filter((line) => !line.includes('"call.started","server":"files"'));
    const { rows } = await deskOf(lines.join('\n')).answer('calls', QUERY);
    expect(rows).toMatchObject([
      { tool: 'read', ms: 60, outcome: 'answered' },
      { tool: 'write', outcome: 'tool-error' },
      { tool: 'find' },
    ]);
    expect((rows[0]?.to ?? 0) - (rows[0]?.from ?? 0)).toBe(60);
  });

  it('belong to the right messages if several are open in one session.', async () => {
    const [header = '', ...lines] = log.split('\n');
    const note = (seq: number, fields: object): string =>
      JSON.stringify({ seq, at: 2e12, kind: 'note', note: fields, check: '0' });
    const of = { server: 'files', generation: 1 };
    const wire = (direction: string, id: number): object => ({
      ...{ type: 'wire', ...of, direction, method: 'tools/call', id },
    });
    const at = lines.length;
    const more = [
      { type: 'call.started', ...of, call: 20, tool: 'a"],"direction":"sent","method":"tools/call","id":9' },
      { type: 'call.started', ...of, call: 21, tool: 'b' },
      wire('sent', 30),
      wire('sent', 31),
      wire('received', 31),
      wire('received', 30),
      { type: 'call.finished', ...of, call: 21, tool: 'b', durationMs: 'long', outcome: 7 },
      { type: 'call.started', ...of, call: 'x', tool: {} },
    ].map((fields, index) => note(at + index, fields));
    const odd = deskOf([header, ...lines.filter((line) => line !== ''), ...more, ''].join('\n'));
    const positions = async (number: number): Promise<readonly number[]> =>
      ((await odd.answer('call', { number }))?.steps ?? []).map(({ position }) => position - at + 1);
    expect(await positions(20)).toEqual([0, 2, 5]);
    expect(await positions(21)).toEqual([1, 3, 4, 6]);
  });
});

describe('the content of a call', () => {
  it('is text as text, JSON as JSON, and binary data as its size.', () => {
    const parts = payloadParts({
      content: [
        { type: 'text', text: 'two\nlines' },
        { type: 'text', text: '{"a":1}' },
        { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' },
        { type: 'resource_link', uri: 'file:///a' },
        7,
      ],
      structuredContent: { a: 1 },
      isError: true,
    });
    expect(parts.map(({ title }) => title)).toEqual([
      ...['text', 'text', 'image/png', 'resource_link', 'JSON', 'structured', 'more'],
    ]);
    expect(parts.slice(0, 3).map(({ text }) => text)).toEqual([
      'two\nlines',
      '{\n  "a": 1\n}',
      '5 bytes, not shown',
    ]);
    expect(payloadParts({ path: 'x' })).toEqual([{ title: 'JSON', text: '{\n  "path": "x"\n}' }]);
  });

  it('is shortened if it is long.', () => {
    expect(beginning('short')).toBeUndefined();
    expect(beginning(LONG_ANSWER)).toHaveLength(2_000);
    expect(beginning('\n'.repeat(100))).toHaveLength(23);
    expect(beginning('😀'.repeat(2_000))?.isWellFormed()).toBe(true);
    expect(beginning(`x${'😀'.repeat(2_000)}`)?.isWellFormed()).toBe(true);
  });
});
