import { describe, expect, it } from 'vitest';
import { MessageReader } from '../../../../src/transports/stdio/message-reader.js';

function read(...chunks: (string | Buffer)[]): { messages: unknown[]; noise: string[]; tooLarge: unknown[] } {
  const found: ReturnType<typeof read> = { messages: [], noise: [], tooLarge: [] };
  const reader = new MessageReader(
    {
      message: (message) => void found.messages.push(message),
      noise: (line) => void found.noise.push(line),
      tooLarge: (bytes, id) => void found.tooLarge.push([bytes, id]),
    },
    100,
  );
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.end();
  return found;
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
    });
  });

  it('ignores carriage returns and empty lines', () => {
    expect(read(`\r\n${PING}\r\n\r\n \n\n${PING}\r\n`)).toEqual({
      messages: [ping, ping],
      noise: [],
      tooLarge: [],
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
    expect(read(`${line}\n${PING}\n`)).toEqual({ messages: [ping], noise: [line], tooLarge: [] });
  });

  it('reports the size of a message beyond the limit and the request it answers', () => {
    const answer = `{"jsonrpc":"2.0","id":7,"result":{"text":"${'x'.repeat(100)}"}}`;
    expect(read(`${answer}\n${PING}\n`)).toEqual({
      messages: [ping],
      noise: [],
      tooLarge: [[answer.length, 7]],
    });
  });
});
