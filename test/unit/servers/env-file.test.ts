import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Scope } from '../../../src/config/entry/server-spec.js';
import { readEnvFile } from '../../../src/servers/env-file.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

it.each<[scope: Scope, place: string, values: object, ignored: readonly string[]]>([
  ['user', 'repo/pk', { ROOM: 'hall' }, ['NODE_OPTIONS']],
  ['user', 'repo', { ROOM: 'hall' }, ['NODE_OPTIONS']],
  ['host', 'repo/pk', { ROOM: 'hall' }, ['NODE_OPTIONS']],
  ['given', 'everybodys', { ROOM: 'hall' }, ['NODE_OPTIONS']],
  ['user', '', { ROOM: 'hall', NODE_OPTIONS: '--import=./x.mjs' }, []],
  ['project', 'repo/pk', { ROOM: 'hall', NODE_OPTIONS: '--import=./x.mjs' }, []],
])('what an envFile sets for an entry of scope %s in folder %j', async (scope, place, values, ignored) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-env-')));
  const cwd = join(base, 'repo', 'pk');
  mkdirSync(join(base, 'repo', '.git'), { recursive: true });
  mkdirSync(cwd);
  mkdirSync(join(base, 'everybodys'));
  chmodSync(join(base, 'everybodys'), 0o1777);
  writeFileSync(join(cwd, '.mcp.json'), '{}');
  const envFile = join(base, place, '.env');
  writeFileSync(envFile, 'ROOM=hall\nNODE_OPTIONS=--import=./x.mjs\n');
  const config = { command: 'node', envFile };
  const spec = { name: 'a', source: 's', scope, shadows: [], baseDir: base, config, hash: '' };
  expect(await readEnvFile(spec, { env: {}, home: base }, cwd)).toEqual({ values, ignored });
  rmSync(base, { recursive: true, force: true });
});
