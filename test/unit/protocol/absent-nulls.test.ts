/** `null` in the optional fields of messages, as servers in many languages write it. */
import { describe, expect, it } from 'vitest';
import { paramsWithoutNulls, resultWithoutNulls } from '../../../src/protocol/absent-nulls.js';
import { toInbound, toProgress, toCancelled } from '../../../src/protocol/inbound-message.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

describe('null counts as absent', () => {
  it.each<readonly [string, Record<string, unknown>, Record<string, unknown>]>([
    [
      'initialize',
      {
        protocolVersion: '2025-11-25',
        instructions: null,
        _meta: null,
        serverInfo: { name: 'a', version: '1', title: null, icons: [{ src: 'x', mimeType: null }] },
        capabilities: { tools: { listChanged: null }, logging: null, experimental: { a: null } },
      },
      {
        protocolVersion: '2025-11-25',
        serverInfo: { name: 'a', version: '1', icons: [{ src: 'x' }] },
        capabilities: { tools: {}, experimental: { a: null } },
      },
    ],
    [
      'tools/list',
      {
        nextCursor: null,
        tools: [
          {
            name: 'a',
            title: null,
            annotations: { readOnlyHint: null, title: 'A' },
            inputSchema: { properties: { x: { default: null } } },
            outputSchema: null,
          },
        ],
      },
      {
        tools: [
          { name: 'a', annotations: { title: 'A' }, inputSchema: { properties: { x: { default: null } } } },
        ],
      },
    ],
    [
      'resources/list',
      { resources: [{ uri: 'a:', name: 'a', mimeType: null, size: null, annotations: { audience: null } }] },
      { resources: [{ uri: 'a:', name: 'a', annotations: {} }] },
    ],
    [
      'prompts/list',
      { prompts: [{ name: 'a', arguments: [{ name: 'x', description: null, required: null }] }] },
      { prompts: [{ name: 'a', arguments: [{ name: 'x' }] }] },
    ],
    [
      'tools/call',
      {
        isError: null,
        structuredContent: null,
        content: [
          { type: 'text', text: 'a', annotations: null, _meta: null },
          { type: 'resource', resource: { uri: 'a:', text: 'b', blob: null, mimeType: null } },
        ],
      },
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'resource', resource: { uri: 'a:', text: 'b' } },
        ],
      },
    ],
    [
      'tools/call',
      { content: [], structuredContent: { a: null } },
      { content: [], structuredContent: { a: null } },
    ],
    [
      'prompts/get',
      {
        description: null,
        messages: [{ role: 'user', content: { type: 'text', text: 'a', annotations: null } }],
      },
      { messages: [{ role: 'user', content: { type: 'text', text: 'a' } }] },
    ],
    [
      'completion/complete',
      { completion: { values: [], total: null, hasMore: null } },
      { completion: { values: [] } },
    ],
    ['constructor', { a: null, _meta: null }, { a: null }],
  ])('in the result of %s', (method, given, wanted) => {
    const before = structuredClone(given);
    expect(resultWithoutNulls(method, given)).toEqual(wanted);
    expect(given).toEqual(before);
  });

  it.each<readonly [string, unknown, unknown]>([
    ['ping', null, {}],
    [
      'notifications/progress',
      { progressToken: 1, progress: 2, total: null, message: null },
      { progressToken: 1, progress: 2 },
    ],
    ['notifications/message', { level: 'info', logger: null, data: null }, { level: 'info', data: null }],
    [
      'sampling/createMessage',
      {
        messages: [],
        maxTokens: 1,
        systemPrompt: null,
        modelPreferences: { hints: [{ name: null }], costPriority: null },
      },
      { messages: [], maxTokens: 1, modelPreferences: { hints: [{}] } },
    ],
    [
      'elicitation/create',
      {
        message: 'a',
        mode: null,
        requestedSchema: {
          type: 'object',
          required: null,
          properties: { a: { type: 'string', default: null } },
        },
      },
      { message: 'a', requestedSchema: { type: 'object', properties: { a: { type: 'string' } } } },
    ],
  ])('in the parameters of %s', (method, given, wanted) => {
    expect(paramsWithoutNulls(method, given)).toEqual(wanted);
  });

  it('keeps the objects without any', () => {
    const result = { content: [{ type: 'text', text: 'a' }] };
    expect(resultWithoutNulls('tools/call', result)).toBe(result);
  });
});

describe('a message with null beside what it says', () => {
  const version = { jsonrpc: '2.0' };

  it.each<readonly [string, object, object]>([
    ['a result', { id: 1, result: { a: 1 }, error: null }, { kind: 'answer', id: 1, result: { a: 1 } }],
    [
      'an error',
      { id: 1, result: null, error: { code: 1, message: 'no' } },
      { kind: 'answer', error: { message: 'no' } },
    ],
    ['an answer with a null method', { id: 1, method: null, result: {} }, { kind: 'answer', result: {} }],
    [
      'a notification',
      { id: null, method: 'a', params: null },
      { kind: 'notification', method: 'a', params: {} },
    ],
    ['a request', { id: 1, method: 'a', params: null }, { kind: 'request', method: 'a', params: {} }],
    ['metadata', { id: 1, result: { _meta: null } }, { kind: 'answer', result: {} }],
  ])('is %s', (_, message, wanted) => {
    expect(toInbound({ ...version, ...message })).toMatchObject(wanted);
  });

  it('is progress or a cancellation', () => {
    const progress = paramsWithoutNulls('notifications/progress', {
      progressToken: 1,
      progress: 2,
      total: null,
    });
    expect(toProgress(progress as Record<string, unknown>)).toMatchObject({ token: 1 });
    const cancelled = paramsWithoutNulls('notifications/cancelled', { requestId: 1, reason: null });
    expect(toCancelled(cancelled as Record<string, unknown>)).toEqual({
      requestId: 1,
      reason: undefined,
      flaws: [],
    });
  });
});
