/** The published package holds the sources in fewer files. Reads `dist/bundle`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { graphOf, PROJECT, reachable, readFiles } from '../../tools/import-graph.mjs';
import { packageManifest } from './package-manifest.js';

const bundle = graphOf(readFiles(['dist/bundle'], '.js'));
const sources = graphOf(readFiles(['src', 'machines'], '.ts'));

/** The sources in a file of the bundle. The bundler writes the path of each before its code. */
function heldBy(path: string): string[] {
  const text = readFileSync(join(PROJECT, path), 'utf8');
  return [...text.matchAll(/^\/\/ (\S+\.ts)$/gm)].flatMap(([, source = '']) => source);
}

const loadedWith = (path: string): string[] => [...reachable(bundle, [path], ['value']).keys()];
const isOwn = (path: string): boolean => bundle.has(path);

const CODE = Object.values(packageManifest().exports).flatMap((each) =>
  typeof each === 'string' ? [] : [each.import, each.require ?? []].flat().map((entry) => entry.default),
);

describe('importing the package', () => {
  const loaded = loadedWith('dist/bundle/src/index.js');

  it('reads only a few files.', () => {
    expect(loaded.filter(isOwn).length).toBeLessThan(7);
  });

  it('loads no module or package that its sources import lazily or not at all.', () => {
    const early = reachable(sources, ['src/index.ts'], ['value']);
    const held = loaded.filter(isOwn).flatMap(heldBy);
    expect(held.length).toBeGreaterThan(50);
    expect(held.filter((path) => !early.has(path))).toEqual([]);
    // The runtime of the bundler names it in vain. Node has it loaded already.
    const others = loaded.filter((path) => !isOwn(path) && path !== 'node:module');
    expect(others.filter((path) => !early.has(path))).toEqual([]);
  });
});

const isClass = (value: unknown): boolean => typeof value === 'function' && /^class\b/.test(String(value));

describe('a session over stdio', () => {
  it('reads only a few more files.', () => {
    const entries = ['configuration', 'stdio', 'session'].map((part) => `dist/bundle/chunks/${part}.js`);
    const before = new Set(loadedWith('dist/bundle/src/index.js'));
    const later = entries.flatMap(loadedWith).filter((path) => isOwn(path) && !before.has(path));
    expect(new Set(later).size).toBeLessThan(6);
  });
});

describe('a command', () => {
  it('loads no charts before it knows whether another process runs it.', () => {
    const loaded = loadedWith('dist/bundle/chunks/program.js');
    expect(loaded).toContain('commander');
    expect(loaded.filter((path) => ['xstate', 'rxjs'].includes(path))).toEqual([]);
    expect(
      loaded
        .filter(isOwn)
        .flatMap(heldBy)
        .filter((path) => path.startsWith('machines/')),
    ).toEqual([]);
  });
});

describe('the bundle', () => {
  it('holds every module once, so that all entry points export the same classes.', () => {
    const places = new Map<string, string[]>();
    for (const path of bundle.keys())
      for (const source of heldBy(path)) places.set(source, [...(places.get(source) ?? []), path]);
    expect(places.size).toBeGreaterThan(200);
    expect([...places].filter(([, paths]) => paths.length > 1)).toEqual([]);
  });

  it.each(CODE)('keeps the exported names of %s.', async (path) => {
    const exported = Object.entries((await import(pathToFileURL(join(PROJECT, path)).href)) as object);
    expect(exported.length).toBeGreaterThan(0);
    // CommonJS keeps the names of classes only, for the names of errors: the others would take 90 kB.
    const named = path.endsWith('.cjs') ? exported.filter(([, value]) => isClass(value)) : exported;
    const renamed = named.filter(([name, value]) => typeof value === 'function' && value.name !== name);
    expect(renamed).toEqual([]);
  });

  it('calls no `require`, which would not work in the bundle of a host.', () => {
    const texts = [...readFiles(['dist/bundle'], '.js')];
    expect(texts.length).toBeGreaterThan(50);
    const calling = texts.filter(([, text]) => /\b(?:createRequire|__require)\b/.test(text));
    expect(calling.map(([path]) => path)).toEqual([]);
  });
});
