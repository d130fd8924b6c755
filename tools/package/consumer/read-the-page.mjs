import assert from 'node:assert/strict';
import { createTroupe } from 'mcp-troupe';

const troupe = createTroupe({ servers: {} });
await troupe.start();
const { url } = await troupe.inspect();
const page = await read('');
const files = [...page.matchAll(/(?:src|href)="(\.\/[^"]+)"/g)].map(([, path]) => path);
assert.equal(files.length, 2);
const code = await read(files.find((path) => path.endsWith('.js')));
const workers = code.match(/\.\/assets\/[\w.-]+-worker[\w.-]*\.js/g) ?? [];
assert.equal(workers.length, 2);
for (const path of [...files, ...workers]) await read(path);
await troupe.close();

async function read(path) {
  const response = await fetch(new URL(path, url));
  assert.equal(response.status, 200, path);
  return response.text();
}
