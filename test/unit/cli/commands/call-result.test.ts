import { describe, expect, it } from 'vitest';
import { renderCallResult } from '../../../../src/cli/commands/call-command.js';

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

  it.each([
    ['no content', { structuredContent: { a: 1 } }, '{\n  "a": 1\n}'],
    ['nothing', {}, ''],
    ['a text for its content', { content: 'done' }, '"done"'],
    ['blocks that are none', { content: [null, { type: 'text' }, 7] }, 'null\n{\n  "type": "text"\n}\n7'],
  ])('is shown as it is where a server sends %s.', (_, result, shown) => {
    expect(renderCallResult(result as never)).toBe(shown);
  });
});
