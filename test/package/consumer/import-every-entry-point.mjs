import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL(import.meta.resolve('mcp-troupe/package.json')), 'utf8'));

for (const subpath of Object.keys(manifest.exports)) {
  if (subpath.endsWith('.json')) continue;
  const module = await import(manifest.name + subpath.slice(1));
  if (Object.keys(module).length === 0) throw new Error(`'${subpath}' exports nothing`);
}
