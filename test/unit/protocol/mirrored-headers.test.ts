/** What of a request is repeated in HTTP headers (MCP 2026-07-28, "Transports"). */
import { describe, expect, it } from 'vitest';
import { headerValue, mirroredArguments, requestHeaders } from '../../../src/protocol/mirrored-headers.js';

const schema = (properties: object): object => ({ type: 'object', properties });

describe('the value of a header', () => {
  it.each([
    ['plain', 'plain'],
    ['a b', 'a b'],
    ['', '=?base64??='],
    [' a', '=?base64?IGE=?='],
    ['zürich', '=?base64?esO8cmljaA==?='],
    ['a\r\nb', '=?base64?YQ0KYg==?='],
    ['=?base64?YQ==?=', '=?base64?PT9iYXNlNjQ/WVE9PT89?='],
  ])('of %j is %j', (text, value) => {
    expect(headerValue(text)).toBe(value);
  });
});

describe('the headers of a request', () => {
  it.each([
    ['tools/list', {}, undefined],
    ['tools/call', { name: 'deploy' }, 'deploy'],
    ['prompts/get', { name: 'greet' }, 'greet'],
    ['resources/read', { uri: 'note://ä' }, '=?base64?bm90ZTovL8Ok?='],
  ])('of %s name its method and subject', (method, params, name) => {
    expect(requestHeaders('2026-07-28', method, params)).toEqual({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': name }),
    });
  });

  it('repeat marked arguments, except those that are absent, null or not simple', () => {
    const mirrored = mirroredArguments(
      schema({
        region: { type: 'string', 'x-mcp-header': 'Region' },
        count: { type: 'integer', 'x-mcp-header': 'count' },
        deep: schema({ dry: { type: 'boolean', 'x-mcp-header': 'Dry' } }),
        none: { type: 'string', 'x-mcp-header': 'None' },
        odd: { type: 'string', 'x-mcp-header': 'Odd' },
      }),
    );
    const args = { region: 'eu', count: 3, deep: { dry: false }, none: null, odd: {} };
    expect(requestHeaders('v', 'tools/call', { name: 't', arguments: args }, mirrored)).toEqual({
      'mcp-protocol-version': 'v',
      'mcp-method': 'tools/call',
      'mcp-name': 't',
      'mcp-param-region': 'eu',
      'mcp-param-count': '3',
      'mcp-param-dry': 'false',
    });
  });
});

describe('a schema with marks', () => {
  const mark = { type: 'string', 'x-mcp-header': 'A' };
  it.each([
    ['none', schema({ a: { type: 'string' } }), true],
    ['a property that has the name of the mark', schema({ 'x-mcp-header': { type: 'string' } }), true],
    ['a mark in a default', schema({ a: { type: 'object', default: mark } }), true],
    ['a mark at the root', { ...mark }, false],
    ['a mark on an object', schema({ a: { ...mark, type: 'object' } }), false],
    ['a mark on a number', schema({ a: { ...mark, type: 'number' } }), false],
    ['a mark that is no token', schema({ a: { ...mark, 'x-mcp-header': 'a b' } }), false],
    ['a mark that is no text', schema({ a: { ...mark, 'x-mcp-header': 1 } }), false],
    ['the same mark twice', schema({ a: mark, b: { ...mark, 'x-mcp-header': 'a' } }), false],
    ['a mark within a list', schema({ a: { type: 'array', items: schema({ b: mark }) } }), false],
    ['a mark within a choice', { ...schema({}), anyOf: [schema({ a: mark })] }, false],
  ])('with %s may be used: %s', (_, inputSchema, isUsable) => {
    expect(mirroredArguments(inputSchema) !== undefined).toBe(isUsable);
  });
});
