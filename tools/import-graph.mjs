/**
 * The import graph, read from the syntax trees of TypeScript sources and emitted declarations.
 *
 * Owns: finding files, reading their imports, resolving relative ones, walking the graph.
 * Does not own: the rules for imports, which are in the tests.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';

export const PROJECT = fileURLToPath(new URL('..', import.meta.url));

/** Every import, re-export, `import()` and `import('x').T` of one file, in source order. */
export function readImports(path, text) {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  const imports = [];
  const found = (specifier, kind) => imports.push({ specifier, kind });
  const kindOf = (word) => (word === 'type' ? 'type' : 'value');
  new Visitor({
    ImportDeclaration: ({ source, importKind }) => found(source.value, kindOf(importKind)),
    ExportNamedDeclaration: ({ source, exportKind }) => {
      if (source !== null) found(source.value, kindOf(exportKind));
    },
    ExportAllDeclaration: ({ source, exportKind }) => found(source.value, kindOf(exportKind)),
    TSImportType: ({ source }) => found(source.value, 'type'),
    ImportExpression: ({ source }) => {
      const isText = source.type === 'Literal' && typeof source.value === 'string';
      found(isText ? source.value : '(computed)', 'lazy');
    },
  }).visit(program);
  return imports;
}

/** Project-relative posix paths of the files below `folder` whose name ends with `suffix`, sorted. */
function filesBelow(folder, suffix) {
  const absolute = join(PROJECT, folder);
  if (!existsSync(absolute))
    throw new Error(`${folder} is missing; run \`npm run build\` if it is a built folder.`);
  return readdirSync(absolute, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(suffix) && statSync(join(absolute, name)).isFile())
    .map((name) => posix.join(folder, name.split(sep).join('/')))
    .toSorted();
}

/** Builds the graph of files given as path to text. `.js` in a specifier means the `.ts`, `.tsx` or `.d.ts` beside it. */
export function graphOf(files) {
  const resolve = (from, specifier) => {
    if (!specifier.startsWith('.')) return specifier;
    const path = posix.join(posix.dirname(from), specifier);
    const candidates = ['.ts', '.tsx', '.d.ts'].map((suffix) => path.replace(/\.js$/, suffix));
    return [...candidates, path].find((candidate) => files.has(candidate)) ?? specifier;
  };
  return new Map(
    [...files].map(([path, text]) => [
      path,
      readImports(path, text).map((entry) => ({ ...entry, specifier: resolve(path, entry.specifier) })),
    ]),
  );
}

/** The text of the files below some folders, by project-relative path. */
export function readFiles(folders, suffix) {
  const paths = folders.flatMap((folder) => filesBelow(folder, suffix));
  return new Map(paths.map((path) => [path, readFileSync(join(PROJECT, path), 'utf8')]));
}

/** Everything reachable from `entries`, packages included, each with the shortest path to it. */
export function reachable(graph, entries, kinds) {
  const ways = new Map(entries.map((entry) => [entry, [entry]]));
  for (const [path, way] of ways) {
    for (const { specifier, kind } of graph.get(path) ?? []) {
      if (kinds.includes(kind) && !ways.has(specifier)) ways.set(specifier, [...way, specifier]);
    }
  }
  return ways;
}

/** Every file that can reach itself through imports of the given kinds, with the path. */
export function cycles(graph, kinds) {
  return [...graph.keys()].flatMap((path) => {
    const next = (graph.get(path) ?? []).filter((entry) => kinds.includes(entry.kind));
    const around = next
      .map(({ specifier }) => reachable(graph, [specifier], kinds).get(path))
      .find((way) => way !== undefined);
    return around === undefined ? [] : [[path, ...around].join(' → ')];
  });
}
