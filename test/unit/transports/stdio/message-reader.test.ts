import { describe, expect, it } from 'vitest';
import type { JsonLimits } from '../../../../src/json/parse-json.js';
import { MessageReader } from '../../../../src/transports/stdio/message-reader.js';

interface ReceivedMessage {
  readonly messages: unknown[];
  readonly noise: string[];
  readonly tooLarge: unknown[];
  readonly tooComplex: unknown[];
}

function reading(
  limit = 100,
  limits?: JsonLimits,
): {
  readonly reader: MessageReader;
  readonly heard: ReceivedMessage;
  readonly endless: string[];
} {
  const heard: ReceivedMessage = { messages: [], noise: [], tooLarge: [], tooComplex: [] };
  const endless: string[] = [];
  const reader = new MessageReader(
    {
      message: (message) => void heard.messages.push(message),
      noise: (line) => void heard.noise.push(line),
      tooLarge: (id) => void heard.tooLarge.push(id),
      tooComplex: (excess, id) => void heard.tooComplex.push([excess, id]),
      endless: () => void endless.push('endless'),
    },
    limit,
    limits,
  );
  return { reader, heard, endless };
}

function read(...chunks: (string | Buffer)[]): ReceivedMessage {
  const { reader, heard } = reading();
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.end();
  return heard;
}

const PING = '{"jsonrpc":"2.0","method":"ping"}';
const ping = { jsonrpc: '2.0', method: 'ping' };

describe('the message reader', () => {
  it('ignores a byte order mark, even one that is split over two chunks', () => {
    const mark = Buffer.from([0xef, 0xbb, 0xbf]);
    expect(read(mark.subarray(0, 1), mark.subarray(1), `${PING}\n`)).toEqual({
      messages: [ping],
      noise: [],
      tooLarge: [],
      tooComplex: [],
    });
  });

  it('ignores carriage returns and empty lines', () => {
    expect(read(`\r\n${PING}\r\n\r\n \n\n${PING}\r\n`)).toEqual({
      messages: [ping, ping],
      noise: [],
      tooLarge: [],
      tooComplex: [],
    });
  });

  it('delivers every message of a batch, as servers of 2025-03-26 may send them', () => {
    expect(read(`[${PING},${PING}]\n`).messages).toEqual([ping, ping]);
  });

  it('accepts a last message without a line feed', () => {
    expect(read(PING).messages).toEqual([ping]);
  });

  it.each([
    'Listening on stdio',
    '{ broken',
    '"text"',
    '42',
    'null',
    '[]',
    '[1]',
    `[${PING}, {}]`,
    '{}',
    '{"jsonrpc":"1.0","method":"ping"}',
  ])('treats %j as noise and reads on', (line) => {
    expect(read(`${line}\n${PING}\n`)).toEqual({
      messages: [ping],
      noise: [line],
      tooLarge: [],
      tooComplex: [],
    });
  });

  it('reports the size of a message beyond the limit and the request it answers', () => {
    const answer = `{"jsonrpc":"2.0","id":7,"result":{"text":"${'x'.repeat(100)}"}}`;
    expect(read(`${answer}\n${PING}\n`)).toEqual({
      messages: [ping],
      noise: [],
      tooLarge: [7],
      tooComplex: [],
    });
  });

  it.each<readonly [string, string, number, readonly string[]]>([
    ['behind a log text', `log text${PING}\n`, 1, ['log text']],
    ['before a log text', `${PING} and more\n`, 1, [' and more']],
    ['in a row', `${PING}${PING}\n`, 2, []],
    ['in a row with text between', `a ${PING} b ${PING}\n`, 2, ['a ', ' b ']],
    ['behind braces of another kind', `{ broken }{"x":1} ${PING}\n`, 1, ['{ broken }{"x":1} ']],
    ['behind a broken one', `{"jsonrpc":"2.0",, ${PING}\n`, 1, ['{"jsonrpc":"2.0",, ']],
    ['over several lines', `${JSON.stringify(ping, null, 2)}\n`, 1, []],
    ['over several lines behind a log text', `sent: ${JSON.stringify(ping, null, '\t')}\n`, 1, ['sent: ']],
    ['over several lines, and one behind it', `${JSON.stringify(ping, null, 2)}${PING}\n`, 2, []],
    ['without a line feed, and one behind it', `${PING}${PING}`, 2, []],
  ])('finds messages %s', (_, written, count, noise) => {
    expect(read(written)).toEqual({
      messages: Array.from({ length: count }, () => ping),
      noise,
      tooLarge: [],
      tooComplex: [],
    });
  });

  it('delivers a message without a line feed as soon as it is whole', () => {
    const { reader, heard } = reading();
    reader.push(Buffer.from(PING.slice(0, 10)));
    reader.push(Buffer.from(PING.slice(10)));
    expect(heard.messages).toEqual([ping]);
    reader.push(Buffer.from(JSON.stringify(ping, null, 2)));
    expect(heard.messages).toEqual([ping, ping]);
    reader.push(Buffer.from(`\n${PING}\n`));
    expect(heard).toEqual({ messages: [ping, ping, ping], noise: [], tooLarge: [], tooComplex: [] });
  });

  it('leaves a message alone that is data of another line, and what only a client sends', () => {
    const nested = `{"level":"debug","body":${PING}}`;
    const echo = 'got {"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}';
    expect(read(`${nested}\n${echo}\n${PING}\n`)).toEqual({
      messages: [ping],
      noise: [nested, echo],
      tooLarge: [],
      tooComplex: [],
    });
  });

  it('gives up a message over several lines where the next line is none of it', () => {
    expect(read(`{\n"a": 1,\nlog\n${PING}\n{\n${PING}\n`)).toEqual({
      messages: [ping, ping],
      noise: ['{', '"a": 1,', 'log', '{'],
      tooLarge: [],
      tooComplex: [],
    });
  });

  it('shows what was not read yet', () => {
    const { reader } = reading();
    reader.push(Buffer.from('{\n"a": 1,\nno end'));
    expect(reader.unread).toEqual(['{', '"a": 1,', 'no end']);
  });

  it('tells once of a line beyond the limit before it ends, and that it does not end', () => {
    const { reader, heard, endless } = reading();
    const begin = '{"jsonrpc":"2.0","id":7,"result":"';
    reader.push(Buffer.from(`${begin}${'x'.repeat(100)}`));
    expect([reader.isBeyondLimit, heard.tooLarge]).toEqual([true, []]);
    reader.reportTooLarge();
    reader.reportTooLarge();
    expect(heard.tooLarge).toEqual([7]);
    reader.push(Buffer.from('x'.repeat(200)));
    expect(endless).toEqual([]);
    reader.push(Buffer.from(`"}\n${PING}\n`));
    expect(heard).toMatchObject({ messages: [ping], tooLarge: [7] });
    for (let count = 0; count < 5; count += 1) reader.push(Buffer.from('x'.repeat(100)));
    expect(endless).toEqual(['endless']);
    expect(heard.tooLarge).toEqual([7, undefined]);
  });

  it('does not search long for messages that are none', () => {
    expect(read(`${'{"jsonrpc":'.repeat(5)}\n`).noise).toHaveLength(1);
    const { reader, heard } = reading(10_000_000);
    reader.push(Buffer.from(`${'{"jsonrpc":'.repeat(200_000)}\n${PING}\n`));
    reader.end();
    expect(heard.messages).toEqual([ping]);
  });

  describe('beyond a limit of JSON', () => {
    const LIMITS = { depth: 3, structure: 20 };
    const deep = '{"jsonrpc":"2.0","id":7,"result":{"a":[[1]]}}';
    const refused = [['nests deeper than 3 levels', 7]];
    const readWith = (...chunks: string[]): ReceivedMessage => {
      const { reader, heard } = reading(1_000, LIMITS);
      for (const chunk of chunks) reader.push(Buffer.from(chunk));
      reader.end();
      return heard;
    };

    it.each([
      ['a line', `${deep}\n`],
      ['a line after log text', `listening ${deep}\n`],
      ['a message without a line feed', deep],
      ['a message over several lines', `{\n"jsonrpc":"2.0","id":7,\n\n"result":{"a":[[1]]}\n}\n`],
      ['a batch', `[${deep}]\n`],
    ])('refuses %s, and reads the next', (what, text) => {
      const heard = readWith(text, `${text.endsWith('\n') ? '' : '\n'}${PING}\n`);
      const id = what === 'a batch' || what === 'a message over several lines' ? expect.anything() : 7;
      expect(heard.tooComplex).toHaveLength(1);
      if (id === 7) expect(heard.tooComplex).toEqual(refused);
      expect(heard.messages).toEqual([ping]);
    });

    it('counts the structural characters', () => {
      const wide = `{"jsonrpc":"2.0","id":7,"result":{"a":[${'0,'.repeat(20)}0]}}`;
      expect(readWith(`${wide}\n`).tooComplex).toEqual([['has more than 20 structural characters', 7]]);
    });

    it('keeps no more empty lines of a message than the limit of bytes', () => {
      const { reader, heard } = reading(1_000);
      reader.push(Buffer.from('{"jsonrpc":\n'));
      for (let line = 0; line < 2_000; line += 1) reader.push(Buffer.from('\n'));
      expect(reader.unread).toEqual([]);
      expect(heard.noise).toHaveLength(1);
    });

    it('reads a line with many beginnings of messages in linear time', () => {
      const { reader, heard } = reading(8_000_000);
      const line = `log ${'{"id":[ '.repeat(1_000_000)}`;
      reader.push(Buffer.from(`${line}\n${PING}\n`));
      expect(heard.messages).toEqual([ping]);
    });
  });
});
