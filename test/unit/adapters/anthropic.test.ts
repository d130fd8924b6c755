import { describe, expect, it } from 'vitest';
import { runToolCalls, toTools } from '../../../src/adapters/anthropic.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';
import { makeWorld, PDF, PNG } from '../../support/started-troupe.js';

useLeakCheck();

const use = (id: string, name = 'mcp__box__echo', input: unknown = {}) => ({
  type: 'tool_use',
  id,
  name,
  input,
});

describe('tools for Anthropic', () => {
  it('are defined with an input schema.', async () => {
    const { troupe } = await makeWorld({ tools: [tool('echo')] });
    expect(toTools(troupe)).toEqual([
      { name: 'mcp__box__echo', description: 'does echo', input_schema: { type: 'object', properties: {} } },
    ]);
  });

  it('answer blocks of the type tool_use and skip all others.', async () => {
    const { server, troupe } = await makeWorld();
    const content = [
      { type: 'text', text: 'thinking of a tool' },
      { ...use('x'), type: 'server_tool_use' },
      use('a'),
      use('b', 'invented'),
      use('c', undefined, 'no object'),
    ];
    const answers = await runToolCalls(troupe, content, { confirm: 'never' });
    expect(answers.map(({ tool_use_id, is_error }) => [tool_use_id, is_error])).toEqual([
      ['a', false],
      ['b', true],
      ['c', true],
    ]);
    expect(server.of('tools/call')).toHaveLength(1);
  });

  it('return images and documents as blocks, but not in an error, which may contain only text.', async () => {
    const content = [
      { type: 'image', data: PNG, mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///a.pdf', blob: PDF, mimeType: 'application/pdf' } },
    ];
    const { server, troupe } = await makeWorld({ on: { 'tools/call': () => ({ content }) } });
    const [shown] = await runToolCalls(troupe, [use('a')], { confirm: 'never' });
    expect(shown?.content).toMatchObject([
      { type: 'text' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } },
    ]);
    server.script = { on: { 'tools/call': () => ({ content, isError: true }) } };
    const [error] = await runToolCalls(troupe, [use('b')], { confirm: 'never' });
    expect(error).toMatchObject({ is_error: true, content: [{ type: 'text' }] });
  });
});
