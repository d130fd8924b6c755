import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answeredId } from '../../../../src/transports/message-limits.js';

const BULK = { content: [{ type: 'text', text: `${'x'.repeat(3_000)}", "id": 99}` }], id: 98 };

function excerpt(line: string): { head: string; tail: string } {
  return { head: line.slice(0, 1_024), tail: line.slice(-1_024) };
}

describe('the id of a long answer of which only both ends are known', () => {
  it.each([
    ['before the result', { jsonrpc: '2.0', id: 5, result: BULK }, 5],
    ['after the result', { result: BULK, jsonrpc: '2.0', id: 5 }, 5],
    ['at the end, as a string', { jsonrpc: '2.0', result: BULK, id: 'a"b' }, 'a"b'],
    ['of an error', { jsonrpc: '2.0', id: 0, error: { code: 1, message: 'no', data: BULK } }, 0],
    ['of a result that is one long string', { result: 'x'.repeat(3_000), jsonrpc: '2.0', id: 5 }, 5],
  ])('is found %s', (_, message, id) => {
    expect(answeredId(excerpt(JSON.stringify(message)))).toBe(id);
    expect(answeredId(excerpt(JSON.stringify(message, null, 1).replaceAll('\n', ' ')))).toBe(id);
  });

  it.each([
    ['a request of the server', { jsonrpc: '2.0', id: 5, method: 'sampling/createMessage', params: BULK }],
    ['a request with its id last', { method: 'sampling/createMessage', params: BULK, jsonrpc: '2.0', id: 5 }],
    ['a notification', { jsonrpc: '2.0', method: 'notifications/message', params: BULK }],
    ['a batch', [{ jsonrpc: '2.0', id: 5, result: BULK }]],
    ['an answer without an id', { jsonrpc: '2.0', result: BULK }],
    ['an answer with a null id', { jsonrpc: '2.0', id: null, result: BULK }],
  ])('is not invented for %s', (_, message) => {
    expect(answeredId(excerpt(JSON.stringify(message)))).toBeUndefined();
  });

  it('is never an id from inside the result, whatever the result contains', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, idFirst) => {
        const result = { value, padding: 'x'.repeat(2_000), id: 98 };
        const message = idFirst ? { jsonrpc: '2.0', id: 5, result } : { result, jsonrpc: '2.0', id: 5 };
        expect(answeredId(excerpt(JSON.stringify(message)))).toBe(5);
      }),
    );
  });

  it('is undefined for invalid JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (head, tail) => {
        expect(() => answeredId({ head, tail })).not.toThrow();
      }),
    );
  });
});
