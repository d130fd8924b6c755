import { describe, expect, it } from 'vitest';
import { toSignature } from '../../../src/catalog/tool-signature.js';

const signature = (properties: Record<string, unknown>, required: string[] = []): string =>
  toSignature({ tool: 't', inputSchema: { type: 'object', properties: properties as never, required } });

describe('the signature of a tool', () => {
  it('has the required arguments first.', () => {
    const properties = { head: { type: 'number' }, path: { type: 'string' } };
    expect(signature(properties, ['path'])).toBe('t(path: string, head?: number)');
    expect(signature({})).toBe('t()');
    expect(toSignature({ tool: 't', inputSchema: { type: 'object' } })).toBe('t()');
  });

  it.each([
    [{ type: 'integer' }, 'number'],
    [{ type: 'boolean' }, 'boolean'],
    [{ enum: ['a', 2, null] }, '"a" | 2 | null'],
    [{ const: 'x' }, '"x"'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }, 'string | string[]'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, '("a" | "b")[]'],
    [{ type: 'array' }, 'any[]'],
    [{ type: 'object' }, 'object'],
    [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, '{ a: string }'],
    [{ type: 'array', items: { properties: { a: {} } } }, '{ a?: any }[]'],
    [{ enum: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }, '"a" | "b" | "c" | "d" | "e" | "f" | …'],
    [{ const: 'x'.repeat(100) }, `"${'x'.repeat(39)}…`],
    [{ $ref: '#/$defs/a' }, 'any'],
    [{ enum: [] }, 'never'],
    [true, 'any'],
    [{ type: 'strange' }, 'any'],
    [{ anyOf: 'wrong', type: 'string' }, 'string'],
  ])('writes %j as %s.', (schema, type) => {
    expect(signature({ a: schema }, ['a'])).toBe(`t(a: ${type})`);
  });

  it('ends at a depth, and quotes names that are no identifiers.', () => {
    const nested = {
      a: { type: 'object', properties: { b: { properties: { c: { properties: { d: {} } } } } } },
    };
    expect(signature(nested)).toBe('t(a?: { b?: { c?: object } })');
    expect(signature({ 'a b': {}, 'x-y': {}, '\u001B[2J': {} })).toBe(
      't("a b"?: any, x-y?: any, "\\u001b[2J"?: any)',
    );
  });

  it('reads hostile shapes.', () => {
    const inputSchema = { type: 'object', properties: [1], required: 'a' } as never;
    expect(toSignature({ tool: 'a\u001Bb', inputSchema })).not.toContain('\u001B');
    expect(signature(JSON.parse('{"__proto__":{"type":"string"}}') as never)).toBe('t(__proto__?: string)');
  });
});
