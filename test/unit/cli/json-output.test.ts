/** The schemas of what commands print with `--json`: every command has one, and it is strict. */
import { readFileSync } from 'node:fs';
import type { Schema } from '@cfworker/json-schema';
import { describe, expect, it } from 'vitest';
import { declareProgram } from '../../../src/cli/program.js';
import { checkOutput, checkValue } from '../../support/command-output.js';
import { FakeStream } from '../../support/fake-stream.js';

const FILE = new URL('../../../docs/reference/command-output.schema.json', import.meta.url);
const { definitions = {} } = JSON.parse(readFileSync(FILE, 'utf8')) as Schema;
/** They print text for a person or a shell. Hidden commands are for Troupe itself. */
const WITHOUT_JSON = ['completion', 'help'];

describe('the schemas of --json', () => {
  it('describe every command.', () => {
    const stream = new FakeStream();
    const program = declareProgram(
      { act: async () => {}, reuse: async () => {} },
      {
        stdin: process.stdin,
        stdout: stream,
        stderr: stream,
        env: {},
      },
    );
    const commands = program.commands
      .map((command) => command.name())
      .filter((name) => !name.startsWith('__') && !WITHOUT_JSON.includes(name));
    const described = Object.keys(definitions).filter((name) => /^[a-z]/.test(name));
    expect(described.toSorted()).toEqual(commands.toSorted());
  });

  it.each([
    ['a field that is not described', 'logout', { server: 'a', result: 'none', more: 1 }],
    ['a missing field', 'logout', { server: 'a' }],
    ['another word', 'logout', { server: 'a', result: 'perhaps' }],
    ['a field of an event that is not described', 'up', { type: 'manager.stopped', at: 1, seq: 1, more: 1 }],
    ['a field in a list', 'check', { servers: [{ server: 'a' }] }],
  ])('refuse %s.', (_, command, value) => {
    expect(() => checkValue(command, value)).toThrow(/schema does not allow/);
  });

  it('accept events line by line, and what servers add to their results.', () => {
    const event = { type: 'manager.stopped', at: 1, seq: 1 };
    checkOutput(['up', '--json'], `${JSON.stringify(event)}\n${JSON.stringify({ ...event, seq: 2 })}\n`);
    checkOutput(
      ['--json', 'call', 'fs', 'read'],
      '{ "content": [{ "type": "text", "text": "a", "more": 1 }], "odd": {} }\n',
    );
    expect(() => checkOutput(['up', '--json'], 'ready\n')).toThrow(SyntaxError);
  });
});
