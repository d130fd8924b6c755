/** Arguments and results are checked against the schemas of a tool. */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { InvalidArgumentsError } from '../../../src/errors.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useOneServer } from '../../support/one-server.js';
import { text, tool, type Script } from '../../support/scripted-server.js';
import { passTime } from '../../support/test-troupe.js';

const NAME = 'mcp__a__read';
const READ = tool('read', {
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string' }, limit: { type: 'integer', minimum: 1 } },
    required: ['path'],
  },
});

async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('arguments', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useOneServer({ script: { tools: [READ] } });

  it('that do not fit are not sent, and the error has each place but no value', async () => {
    const { troupe, server, events } = await begin();
    const error = await rejectionOf(troupe.callTool(NAME, { limit: 0, path: 918_273 }));
    expect(error).toBeInstanceOf(InvalidArgumentsError);
    expect(error).toMatchObject({
      code: 'INVALID_ARGUMENTS',
      server: 'a',
      tool: 'read',
      problems: [{ path: '/limit' }, { path: '/path' }],
    });
    expect(JSON.stringify(error)).not.toContain('918273');
    expect(server.of('tools/call')).toEqual([]);
    expect(events.of('call.started')).toEqual([]);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it('that are missing altogether are reported', async () => {
    const { troupe } = await begin();
    await expect(troupe.callTool(NAME)).rejects.toMatchObject({
      problems: [{ path: '/path' }],
    });
    await expect(troupe.connection('a')?.callTool('read')).rejects.toBeInstanceOf(InvalidArgumentsError);
  });

  it('that fit are sent unchanged', async () => {
    const { troupe, server } = await begin();
    await troupe.callTool(NAME, { path: 'x', more: [1] });
    expect(server.of('tools/call')[0]?.params).toMatchObject({ arguments: { path: 'x', more: [1] } });
  });

  it('are sent before the call returns, once the validator is loaded', async () => {
    const { troupe, server } = await begin();
    await troupe.callTool(NAME, { path: 'first' });
    const call = troupe.callTool(NAME, { path: 'second' });
    await Promise.resolve();
    expect(server.of('tools/call')).toHaveLength(2);
    await call;
  });

  it('are not checked if validation is turned off', async () => {
    const { troupe, server } = await begin(undefined, {}, { validateArguments: false });
    await troupe.callTool(NAME, { path: 7 });
    expect(server.of('tools/call')).toHaveLength(1);
  });

  it('that a model wrote loosely are coerced to the schema, and a diagnostic reports it without values', async () => {
    const { troupe, server, events } = await begin();
    await troupe.callTool(NAME, { path: 'secret-918273', limit: null });
    await troupe.callTool(NAME, { path: 'x', limit: '5' });
    expect(server.of('tools/call').map(({ params }) => params?.['arguments'])).toEqual([
      { path: 'secret-918273' },
      { path: 'x', limit: 5 },
    ]);
    expect(events.of('diagnostic')).toMatchObject([
      { server: 'a', kind: 'arguments-coerced', tool: 'read', message: expect.stringContaining('/limit') },
      { server: 'a', kind: 'arguments-coerced', tool: 'read', message: expect.stringContaining('/limit') },
    ]);
    expect(JSON.stringify(events.of('diagnostic'))).not.toContain('918273');
  });

  it('that still do not fit are refused with the remaining problems, without a diagnostic', async () => {
    const { troupe, server, events } = await begin();
    const error = await rejectionOf(troupe.callTool(NAME, { path: null, limit: '0' }));
    expect(error).toMatchObject({
      problems: [
        { path: '/limit', message: 'must be at least 1' },
        { path: '/path', message: 'must be of type string' },
      ],
    });
    expect(server.of('tools/call')).toEqual([]);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it.each([
    ['the troupe', { coerceArguments: false }, {}],
    ['the call', {}, { coerceArguments: false }],
  ])('are not coerced if an option of %s turns it off', async (_, options, ofCall) => {
    const { troupe, server } = await begin(undefined, {}, options);
    const call = troupe.callTool(NAME, { path: 'x', limit: null }, ofCall);
    await expect(call).rejects.toBeInstanceOf(InvalidArgumentsError);
    expect(server.of('tools/call')).toEqual([]);
  });

  it('are coerced even if they are not validated, unless coercion is off as well', async () => {
    const { troupe, server } = await begin(undefined, {}, { validateArguments: false });
    await troupe.callTool(NAME, { path: 7, limit: null });
    await troupe.callTool(NAME, { path: 7, limit: null }, { coerceArguments: false });
    expect(server.of('tools/call').map(({ params }) => params?.['arguments'])).toEqual([
      { path: 7 },
      { path: 7, limit: null },
    ]);
  });

  it('are checked against the list of the session that sends them', async () => {
    const { troupe, server, clock } = await begin();
    await expect(troupe.callTool(NAME, { path: 7 })).rejects.toBeInstanceOf(InvalidArgumentsError);
    const inputSchema = { type: 'object' as const, properties: { path: { type: 'integer' } } };
    server.script = { tools: [tool('read', { inputSchema })] };
    await server.die();
    await passTime(clock, troupe.callTool(NAME, { path: 7 }));
    expect(server.of('tools/call')).toHaveLength(1);
  });

  it('of a tool with an unusable schema are sent, with one diagnostic', async () => {
    const inputSchema = { type: 'object' as const, properties: { a: { $ref: 'https://schemas.example/a' } } };
    const { troupe, server, events } = await begin({ tools: [tool('read', { inputSchema })] });
    await troupe.callTool(NAME, { a: 1 });
    await troupe.callTool(NAME, { a: 2 });
    expect(server.of('tools/call')).toHaveLength(2);
    expect(events.of('diagnostic')).toMatchObject([
      { kind: 'schema-not-checked', server: 'a', tool: 'read', message: expect.stringContaining('$ref') },
    ]);
  });

  it('with control characters in their names are reported with replacement characters', async () => {
    const inputSchema = { type: 'object' as const, additionalProperties: false };
    const { troupe } = await begin({ tools: [tool('read', { inputSchema })] });
    const error = await rejectionOf(troupe.callTool(NAME, { 'line\nbreak\u202e': 1 }));
    expect((error as Error).message).toContain('/line\ufffdbreak\ufffd');
  });
});

describe('a result', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useOneServer({ script: { tools: [READ] } });

  const outputSchema = {
    type: 'object' as const,
    properties: { degrees: { type: 'number' } },
    required: ['degrees'],
  };
  const weather = (result: object): Script => ({
    tools: [tool('read', { outputSchema })],
    on: { 'tools/call': () => result },
  });

  it('that fits its output schema has no diagnostic', async () => {
    const result = { ...text('3'), structuredContent: { degrees: 3 } };
    const { troupe, events } = await begin(weather(result));
    await expect(troupe.callTool(NAME)).resolves.toEqual(result);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it('that does not fit is returned unchanged, with a diagnostic without its values', async () => {
    const result = { ...text('x'), structuredContent: { degrees: 'hunter2' } };
    const { troupe, events } = await begin(weather(result));
    await expect(troupe.callTool(NAME)).resolves.toEqual(result);
    expect(events.of('diagnostic')).toMatchObject([
      {
        kind: 'invalid-output',
        server: 'a',
        generation: 1,
        tool: 'read',
        message: expect.stringContaining('/degrees'),
      },
    ]);
    expect(JSON.stringify(events.all)).not.toContain('hunter2');
    expect(events.of('call.finished')).toMatchObject([{ outcome: 'answered' }]);
  });

  it('without the promised structured content has a diagnostic', async () => {
    const { troupe, events } = await begin(weather(text('3')));
    await expect(troupe.callTool(NAME)).resolves.toEqual(text('3'));
    expect(events.of('diagnostic')).toMatchObject([
      { kind: 'invalid-output', message: expect.stringContaining('structuredContent') },
    ]);
  });

  it('that is an error needs no structured content', async () => {
    const { troupe, events } = await begin(weather({ ...text('no'), isError: true }));
    await troupe.callTool(NAME);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it('of a tool on any page of the list is checked', async () => {
    const pages = [[tool('read', { outputSchema })], [tool('other')]] satisfies Tool[][];
    const { troupe, events } = await begin({ pages, on: { 'tools/call': () => text('3') } });
    await troupe.callTool(NAME);
    expect(events.of('diagnostic')).toMatchObject([{ kind: 'invalid-output' }]);
  });

  it('that arrives after the call was aborted is dropped and not checked', async () => {
    const gate = createGate();
    const { troupe, server, events, clock } = await begin({
      ...weather({}),
      on: { 'tools/call': () => gate.promise.then(() => text('late')) },
    });
    const controller = new AbortController();
    const call = rejectionOf(troupe.callTool(NAME, {}, { signal: controller.signal }));
    await server.whenReceived('tools/call');
    controller.abort();
    await call;
    gate.open();
    await clock.advance(1_000);
    expect(events.of('diagnostic')).toEqual([]);
  });
});
