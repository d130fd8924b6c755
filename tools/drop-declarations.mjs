/**
 * Deletes the emitted declarations that no entry point of the package reaches, and indents the others with tabs, which takes
 * less space. A step of `npm run build`.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { graphOf, PROJECT, reachable, readFiles } from './import-graph.mjs';

const emitted = readFiles(['dist/src', 'dist/machines'], '.d.ts');
const entries = Object.values(manifest.exports).flatMap(
  (each) => each.import?.types.slice('./'.length) ?? [],
);
const needed = reachable(graphOf(emitted), entries, ['value', 'type', 'lazy']);
for (const [path, text] of emitted) {
  if (!needed.has(path)) rmSync(join(PROJECT, path));
  else
    writeFileSync(
      join(PROJECT, path),
      text.replace(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4)),
    );
}
