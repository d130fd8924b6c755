/**
 * Lets the conformance packages load on Node 20: they import `globSync`, which `node:fs` has since Node 22. They need it
 * in a command that is not used here.
 */
import * as fs from 'node:fs';
import { register } from 'node:module';

const withGlobSync = [
  `export * from 'node:fs';`,
  `export { default } from 'node:fs';`,
  `export function globSync() { throw new Error('This Node has no fs.globSync.'); }`,
].join('\n');

const hooks = `
  const fs = ${JSON.stringify(asUrl(withGlobSync))};
  export function resolve(specifier, context, next) {
    const isAsked = specifier === 'fs' && /conformance[^/]*\\/dist\\/index\\.js$/.test(context.parentURL ?? '');
    return isAsked ? { url: fs, shortCircuit: true } : next(specifier, context);
  }`;

if (!('globSync' in fs)) register(asUrl(hooks));

function asUrl(source) {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
