import { describe, expect, it } from 'vitest';
import { renderCallResult } from '../../src/cli/call-result.js';

describe('the result of a call', () => {
  it('is its text as it is, and JSON for everything else.', () => {
    const content = [
      { type: 'text' as const, text: 'a\n  b' },
      { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' },
      { type: 'text' as const, text: 'c' },
    ];
    expect(renderCallResult({ content, structuredContent: { c: 1 } })).toBe(
      'a\n  b\n{\n  "type": "image",\n  "data": "AAAA",\n  "mimeType": "image/png"\n}\nc',
    );
  });

  it('is its structured content where that is all there is.', () => {
    expect(renderCallResult({ content: [], structuredContent: { a: 1 } })).toBe('{\n  "a": 1\n}');
    expect(renderCallResult({ content: [] })).toBe('');
  });
});
