/**
 * The JSON Schema of what commands print with `--json`, made from the types of `src/cli/output/json-output.ts`.
 *
 * A field that is not in the types does not fit the schema, except in what servers send: the types of `src/mcp` are open.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGenerator } from 'ts-json-schema-generator';
import { cell, code, page, table } from '../markdown.mjs';
import { failOn } from '../meanings.mjs';
import { readDeclarations } from '../source-reader.mjs';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TYPES = 'src/cli/output/json-output.ts';
/** The files of `src/mcp` with the types of what servers send. */
const OF_SERVERS = ['content', 'messages', 'server-offers', 'session'];

const read = (path) => readFileSync(join(ROOT, path), 'utf8');

/** Each command has its schema under `definitions`, by its name. */
export function commandOutputSchema() {
  const { properties, definitions } = createGenerator({
    path: join(ROOT, TYPES),
    tsconfig: join(ROOT, 'tsconfig.json'),
    type: 'JsonOutput',
    expose: 'export',
    topRef: false,
    jsDoc: 'basic',
    encodeRefs: false,
    skipTypeCheck: true,
    additionalProperties: false,
  }).createSchema('JsonOutput');
  const ofServers = typesOfServers();
  const types = Object.entries(definitions).map(([name, schema]) => {
    const plain = plainName(name);
    return [plain, tidy(schema, ofServers.has(plain))];
  });
  failOn(
    'Types',
    types.map(([name]) => name).filter((name, index, all) => all.indexOf(name) !== index),
  );
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: "What each command of troupe prints with '--json'",
    definitions: { ...tidy(properties, false), ...Object.fromEntries(types) },
  };
}

/** The arguments of a generic type are named by where they are in its file. */
function plainName(name) {
  return name.replace(/<.*$/, '');
}

/** Servers may add fields to what they send. */
function tidy(schema, isOpen) {
  if (Array.isArray(schema)) return schema.map((each) => tidy(each, isOpen));
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([key, value]) => !(isOpen && key === 'additionalProperties' && value === false),
  );
  return Object.fromEntries(
    kept.map(([key, value]) => [key, key === '$ref' ? plainName(value) : tidy(value, isOpen)]),
  );
}

function typesOfServers() {
  return new Set(OF_SERVERS.flatMap((name) => [...readDeclarations(read(`src/mcp/${name}.ts`)).keys()]));
}

/** docs/reference/command-output.md */
export function commandOutputPage() {
  const { members } = readDeclarations(read(TYPES)).get('JsonOutput');
  failOn(
    'Commands',
    members.filter(({ doc }) => doc === '').map(({ name }) => name),
  );
  return page('The output of commands as JSON', `\`${TYPES}\``, [
    'With `--json`, a command prints one JSON value on stdout, and `troupe up` one on each line. Notes and errors are on stderr. If a command has no result, stdout is empty and the exit code is not 0.',
    'The schema of each command is in [command-output.schema.json](command-output.schema.json), under `definitions` and its name. The tests of Troupe check every output against it, and it allows no field that it does not name, except in what a server sent. A later version may add fields.',
    table(
      ['Command', 'Output'],
      members.map(({ name, doc }) => [code(`troupe ${name}`), cell(doc)]),
    ),
  ]);
}
