import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedFields, fingerprint, toReviewed } from '../../../src/catalog/tool-fingerprint.js';
import { tool } from '../../support/scripted-server.js';

const READ = tool('read', { title: 'Read', annotations: { readOnlyHint: true } });

describe('the fingerprint of a tool', () => {
  it.each([
    ['title', { title: 'Write' }],
    ['title', { title: undefined }],
    ['description', { description: 'reads a file ' }],
    ['inputSchema', { inputSchema: { type: 'object' as const, required: [] } }],
    ['outputSchema', { outputSchema: { type: 'object' as const } }],
    ['annotations', { annotations: { readOnlyHint: false } }],
  ])('differs if its %s is different: %j', (field, changes) => {
    const changed = toReviewed({ ...READ, ...changes });
    expect(fingerprint(changed)).not.toBe(fingerprint(READ));
    expect(changedFields(READ, changed)).toEqual([field]);
  });

  it('differs for a different name.', () => {
    expect(fingerprint({ ...READ, name: 'write' })).not.toBe(fingerprint(READ));
  });

  it('ignores fields that no model reads.', () => {
    const more = { ...READ, _meta: { build: 7 }, icons: [{ src: 'x' }], execution: {} };
    expect(fingerprint(more)).toBe(fingerprint(READ));
    expect(changedFields(READ, more)).toEqual([]);
    expect(toReviewed(more)).toEqual(READ);
  });

  it('does not depend on the order of keys, but on everything else.', () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, each]) => [key, reversed(each)]),
      );
    };
    const withSchema = (schema: unknown) =>
      tool('read', { inputSchema: { type: 'object', 'x-any': schema } });
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        expect(fingerprint(withSchema(reversed(one)))).toBe(fingerprint(withSchema(one)));
        const isSame = fingerprint(withSchema(one)) === fingerprint(withSchema(other));
        expect(isSame).toBe(changedFields(withSchema(one), withSchema(other)).length === 0);
      }),
    );
  });

  it('lists every field of a new tool.', () => {
    expect(changedFields(undefined, READ)).toEqual(['title', 'description', 'inputSchema', 'annotations']);
  });
});
