/**
 * Writes the declarations of the entry points for `require`, beside those for `import`. They declare no type of their own: a
 * class is the same type in both worlds. A step of `npm run build`, after the bundle.
 */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import manifest from '../package.json' with { type: 'json' };
import { PROJECT } from './import-graph.mjs';

const entries = Object.values(manifest.exports).filter((each) => each.require !== undefined);
for (const entry of entries) await write(entry);

async function write({ import: { types, default: code }, require }) {
  const module = await import(pathToFileURL(join(PROJECT, code)).href);
  const from = `'./${basename(types, '.d.ts')}.js' with { 'resolution-mode': 'import' };`;
  const lines = [
    `import type * as entry from ${from}`,
    `export type * from ${from}`,
    ...Object.entries(module).flatMap(([name, value]) => declared(name, value)),
  ];
  writeFileSync(join(PROJECT, require.types), `${lines.join('\n')}\n`);
}

/** A value hides the type of the same name: a class needs both. */
function declared(name, value) {
  const line = `export declare const ${name}: typeof entry.${name};`;
  return isClass(value) ? [line, `export type ${name} = entry.${name};`] : [line];
}

function isClass(value) {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));
}
