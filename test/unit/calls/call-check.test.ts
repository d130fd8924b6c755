import { expect, it } from 'vitest';
import { CallCheck } from '../../../src/calls/call-check.js';
import { InvalidArgumentsError } from '../../../src/errors.js';
import type { LifecycleEventBody } from '../../../src/lifecycle/event.js';
import { SchemaValidator } from '../../../src/schemas/schema-validator.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';

useLeakCheck();

const KEY = { name: 'a', generation: 1 };

it('Messages about arguments and results mask the secrets of the entry.', async () => {
  const published: LifecycleEventBody[] = [];
  const validator = new SchemaValidator();
  const check = new CallCheck({
    publish: (event) => void published.push(event),
    mask: () => (text) => text.replaceAll('s3cret', '***'),
    validator,
    checksArguments: true,
    coercesArguments: true,
  });
  const schema = { type: 'object' as const, additionalProperties: { enum: ['s3cret'] } };
  const name = 'tool-s3cret';
  const tools = [tool(name, { inputSchema: schema, outputSchema: schema })];
  await check.loading(tools, name, {});
  const refusal = check.judge(KEY, tools, name, { 'field-s3cret': 1 });
  expect(refusal).toBeInstanceOf(InvalidArgumentsError);
  expect((refusal as InvalidArgumentsError).message).toContain('/field-*** must be one of "***"');
  check.checkOutput(KEY, tools, name, { content: [], structuredContent: { 'field-s3cret': 1 } });
  expect(published).toMatchObject([{ type: 'diagnostic', kind: 'invalid-output', tool: 'tool-***' }]);
  expect(JSON.stringify([published, refusal])).not.toContain('s3cret');
});

it('The validator is loaded only if it is needed, not for a call that fits a plain schema.', async () => {
  const validator = new SchemaValidator();
  const ports = {
    publish: () => {},
    mask: () => (text: string) => text,
    validator,
    checksArguments: true,
    coercesArguments: true,
  };
  const check = new CallCheck(ports);
  const plain = { type: 'object' as const, properties: { path: { type: 'string' } }, required: ['path'] };
  const tools = [
    tool('anything'),
    tool('plain', { inputSchema: plain }),
    tool('typed', { outputSchema: { type: 'object', required: ['a'] } }),
  ];
  expect(check.loading(tools, 'anything', {})).toBeUndefined();
  expect(check.loading(tools, 'unknown', {})).toBeUndefined();
  expect(check.loading(tools, 'plain', { path: 'a' })).toBeUndefined();
  const args = { path: 'a' };
  expect(check.judge(KEY, tools, 'plain', args)).toBe(args);
  expect(check.loading(tools, 'typed', {})).toBeInstanceOf(Promise);
  expect(new CallCheck({ ...ports, checksArguments: false }).loading(tools, 'plain', {})).toBeUndefined();
  await check.loading(tools, 'plain', {});
  expect(validator.isLoaded).toBe(true);
  expect(check.loading(tools, 'typed', {})).toBeUndefined();
  expect(check.judge(KEY, tools, 'plain', {})).toBeInstanceOf(InvalidArgumentsError);
});
