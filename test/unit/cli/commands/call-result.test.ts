import { describe, expect, it } from 'vitest';
import { renderCallResult } from '../../../../src/cli/commands/call-command.js';

describe('the result of a call', () => {
  it('is its text unchanged, and JSON for everything else.', () => {
    const content = [
      { type: 'text' as const, text: 'a\n  b' },
      { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' },
      { type: 'text' as const, text: 'c' },
    ];
    expect(renderCallResult({ content, structuredContent: { c: 1 } })).toBe(
      'a\n  b\n{\n  "type": "image",\n  "data": "AAAA",\n  "mimeType": "image/png"\n}\nc',
    );
  });

  it('is its structured content if there is nothing else.', () => {
    expect(renderCallResult({ content: [], structuredContent: { a: 1 } })).toBe('{\n  "a": 1\n}');
    expect(renderCallResult({ content: [] })).toBe('');
  });

  it.each([
    ['no content', { structuredContent: { a: 1 } }, '{\n  "a": 1\n}'],
    ['nothing', {}, ''],
    ['a text as content', { content: 'done' }, '"done"'],
    ['invalid blocks', { content: [null, { type: 'text' }, 7] }, 'null\n{\n  "type": "text"\n}\n7'],
  ])('is shown as received if a server sends %s.', (_, result, shown) => {
    expect(renderCallResult(result as never)).toBe(shown);
  });
});
