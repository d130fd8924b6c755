/** Tools with any schemas and names: what is generated of them always parses, and always is the same. */
import fc from 'fast-check';
import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { toolsModule, type DescribedTool } from '../../../src/catalog/tool-types.js';
import {
  generatedFile,
  changesBetween,
  readGenerated,
  shapesOf,
} from '../../../src/cli/output/generated-file.js';
import { serverCommandFile } from '../../../src/cli/output/server-command-file.js';
import { json, text } from '../../support/arbitraries.js';
import { fuzz } from '../../support/fuzz.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

const hostile = fc.oneof(
  text,
  fc.constantFrom(
    '*/',
    '`${x}`',
    "'",
    '"',
    '\r\n',
    '\u2028',
    '\u202E',
    '</script>',
    '//',
    '__proto__',
    'constructor',
    'a-b',
    'a_b',
    'aB',
    '1',
    '',
    '\uD800',
  ),
);
const keyword = fc.constantFrom(
  ...[
    'type',
    'enum',
    'const',
    'required',
    'properties',
    'items',
    'prefixItems',
    'additionalProperties',
    'anyOf',
  ],
  ...[
    'allOf',
    'oneOf',
    '$ref',
    'default',
    'description',
    'title',
    'deprecated',
    'minItems',
    'x-more',
    'tsType',
    '$id',
  ],
);

const schema: fc.Arbitrary<unknown> = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'schema' },
    fc.boolean(),
    fc.record({ type: fc.constantFrom('string', 'integer', 'array', 'object', 'null') }),
    fc.record({ enum: fc.array(fc.oneof(hostile, json), { maxLength: 4 }) }),
    fc.record({ const: fc.oneof(hostile, json) }),
    fc.record({
      $ref: fc.oneof(fc.constantFrom('#', '#/$defs/a', '#/properties/a', 'file:///etc/passwd'), hostile),
    }),
    fc.record(
      {
        type: fc.constantFrom('object', 'array', ['object', 'null']),
        description: hostile,
        properties: fc.dictionary(hostile, tie('schema'), { maxKeys: 4 }),
        required: fc.array(hostile, { maxLength: 2 }),
        items: fc.oneof(tie('schema'), fc.array(tie('schema'), { maxLength: 3 })),
        prefixItems: fc.array(tie('schema'), { maxLength: 3 }),
        additionalProperties: tie('schema'),
        patternProperties: fc.dictionary(hostile, tie('schema'), { maxKeys: 2 }),
        anyOf: fc.array(tie('schema'), { maxLength: 3 }),
        allOf: fc.array(tie('schema'), { maxLength: 3 }),
        default: json,
        $defs: fc.record({ a: tie('schema') }),
      },
      { requiredKeys: [] },
    ),
    fc.dictionary(keyword, json, { maxKeys: 4 }),
  ),
})).schema;

const tool: fc.Arbitrary<DescribedTool> = fc
  .record(
    { server: hostile, tool: hostile, description: hostile, inputSchema: schema, outputSchema: schema },
    { requiredKeys: ['server', 'tool', 'inputSchema'] },
  )
  .map((each) => ({
    ...each,
    inputSchema: typeof each.inputSchema === 'object' ? each.inputSchema : {},
    ...('outputSchema' in each && typeof each.outputSchema !== 'object' && { outputSchema: {} }),
  }))
  .map((each) => each as unknown as DescribedTool);

const tools = fc.uniqueArray(tool, {
  maxLength: 5,
  selector: ({ server, tool: name }) => `${server}\0${name}`,
});

function errorsOf(name: string, source: string): readonly unknown[] {
  return parseSync(name, source).errors;
}

describe('what is generated of any tools', () => {
  it('parses as TypeScript.', async () => {
    await fuzz(
      300,
      fc.property(tools, (given) => {
        const module = toolsModule(given);
        expect(errorsOf('tools.ts', module)).toEqual([]);
        expect(toolsModule(given.toReversed())).toBe(module);
      }),
    );
  });

  it('is read again as it was written, also after a formatter.', async () => {
    await fuzz(
      150,
      fc.property(tools, fc.boolean(), (given, isIndented) => {
        const file = generatedFile(given, ['*/\n${x}']);
        expect(errorsOf('tools.ts', file)).toEqual([]);
        const formatted = isIndented ? file.replaceAll('\n', '\r\n  ') : file;
        expect(changesBetween(readGenerated(formatted) ?? [], shapesOf(given))).toEqual([]);
      }),
    );
  });

  it('parses as a module of Node, for a command of a server.', async () => {
    await fuzz(
      100,
      fc.property(hostile, tools, (server, given) => {
        const file = serverCommandFile(server, given, []);
        expect(errorsOf('command.mjs', file)).toEqual([]);
      }),
    );
  });
});
