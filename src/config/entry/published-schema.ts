/**
 * The shape of a configuration file as JSON Schema (2020-12), for completion and checks in editors. It is derived from
 * the validation of entries, so that the two cannot disagree. It expresses the rules between fields only partly.
 */
import { ENTRY_FIELDS, ENTRY_SCHEMA, FIELD_ROWS, type EntryField } from './entry-fields.js';
import type { Schema } from './schema.js';

type Described = Schema & { readonly description: string };

const ENTRY = {
  ...ENTRY_SCHEMA,
  properties: Object.fromEntries(
    FIELD_ROWS.flatMap(([name, field]): readonly (readonly [string, Described])[] => [
      [name, { ...field.schema, description: describe(field) }],
      ...(field.aliases ?? []).map(
        (alias) => [alias, { ...field.schema, description: `Same as '${name}'.` }] as const,
      ),
    ]),
  ),
  anyOf: ['command', 'url', ...ENTRY_FIELDS.url.aliases].map((field) => ({ required: [field] })),
};

/** A default that is a single value is part of the description. */
function describe({ meaning, default: value }: EntryField): string {
  const isSingle = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isSingle ? `${meaning} Default ${value}.` : meaning;
}

/** JSON Schema of `.mcp.json` and of Troupe's own file. Plain JSON. */
export const CONFIG_SCHEMA: Readonly<Record<string, unknown>> = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'MCP servers',
  type: 'object',
  properties: {
    $schema: { type: 'string', description: 'Address of this schema, for editors only.' },
    mcpServers: {
      type: 'object',
      description: 'The servers by name.',
      additionalProperties: ENTRY,
    },
    inputs: {
      type: 'array',
      description: 'Values that a person is asked for, used as ${input:ID} in entries.',
      items: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          type: { type: 'string', enum: ['promptString', 'pickString', 'command'] },
          description: { type: 'string' },
          default: { type: 'string' },
          options: { type: 'array' },
          password: { type: 'boolean' },
        },
        required: ['id'],
      },
    },
  },
  required: ['mcpServers'],
};
