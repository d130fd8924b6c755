/**
 * Lets Node run TypeScript, as it does by itself from version 22.18: `node --import …/run-typescript.mjs program.ts`. Removes
 * the types and checks nothing.
 */
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.features.typescript === undefined) register(import.meta.url);

/** A hook of Node, which runs in a thread of its own. */
export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const { transformWithOxc } = await import('vite');
  const path = fileURLToPath(url);
  const { code } = await transformWithOxc(await readFile(path, 'utf8'), path);
  return { format: 'module', source: code, shortCircuit: true };
}
