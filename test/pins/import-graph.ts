/**
 * Who imports whom, read from the syntax tree of TypeScript sources and of emitted declarations.
 *
 * Owns: finding files, reading their imports, resolving relative ones, walking the graph.
 * Does not own: any opinion on what may be imported; that is in the pins.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * - `value`: code runs when the file is loaded (an `import { type X }` without `import type` is one, too).
 * - `type`: gone after compilation.
 * - `lazy`: `import()`; runs later.
 */
export type ImportKind = 'value' | 'type' | 'lazy';

export interface Import {
  readonly specifier: string;
  readonly kind: ImportKind;
}

/** Path of a file to what it imports. Relative specifiers of files in the graph are resolved to such paths. */
export type ImportGraph = ReadonlyMap<string, readonly Import[]>;

/** Every import, re-export, `import()` and `import('x').T` of one file, in source order. */
export function readImports(path: string, text: string): Import[] {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]!.message}`);
  const imports: Import[] = [];
  new Visitor({
    ImportDeclaration: (node) => {
      imports.push({ specifier: node.source.value, kind: node.importKind === 'type' ? 'type' : 'value' });
    },
    ExportNamedDeclaration: (node) => {
      if (node.source === null) return;
      imports.push({ specifier: node.source.value, kind: node.exportKind === 'type' ? 'type' : 'value' });
    },
    ExportAllDeclaration: (node) => {
      imports.push({ specifier: node.source.value, kind: node.exportKind === 'type' ? 'type' : 'value' });
    },
    TSImportType: (node) => {
      imports.push({ specifier: node.source.value, kind: 'type' });
    },
    ImportExpression: (node) => {
      const { source } = node;
      const isText = source.type === 'Literal' && typeof source.value === 'string';
      imports.push({ specifier: isText ? source.value : '(computed)', kind: 'lazy' });
    },
  }).visit(program);
  return imports;
}

/** Project-relative posix paths of the files below `folder` whose name ends with `suffix`, sorted. */
function filesBelow(folder: string, suffix: string): string[] {
  const absolute = join(PROJECT, folder);
  if (!existsSync(absolute))
    throw new Error(`${folder} is missing; run \`npm run build\` if it is a built folder.`);
  return readdirSync(absolute, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(suffix) && statSync(join(absolute, name)).isFile())
    .map((name) => posix.join(folder, name.split(sep).join('/')))
    .toSorted();
}

/** Builds the graph of files given as path to text. `.js` in a specifier means the `.ts`, `.tsx` or `.d.ts` beside it. */
export function graphOf(files: ReadonlyMap<string, string>): ImportGraph {
  const resolve = (from: string, specifier: string): string => {
    if (!specifier.startsWith('.')) return specifier;
    const path = posix.join(posix.dirname(from), specifier);
    const candidates = [
      path.replace(/\.js$/, '.ts'),
      path.replace(/\.js$/, '.tsx'),
      path.replace(/\.js$/, '.d.ts'),
      path,
    ];
    return candidates.find((candidate) => files.has(candidate)) ?? specifier;
  };
  return new Map(
    [...files].map(([path, text]) => [
      path,
      readImports(path, text).map((entry) => ({ ...entry, specifier: resolve(path, entry.specifier) })),
    ]),
  );
}

/** The text of the files below some folders, by project-relative path. */
export function readFiles(folders: readonly string[], suffix: string): Map<string, string> {
  const paths = folders.flatMap((folder) => filesBelow(folder, suffix));
  return new Map(paths.map((path) => [path, readFileSync(join(PROJECT, path), 'utf8')]));
}

/** Everything reachable from `entries`, packages included, each with the shortest way there. */
export function reachable(
  graph: ImportGraph,
  entries: readonly string[],
  kinds: readonly ImportKind[],
): Map<string, readonly string[]> {
  const ways = new Map<string, readonly string[]>(entries.map((entry) => [entry, [entry]]));
  for (const [path, way] of ways) {
    for (const { specifier, kind } of graph.get(path) ?? []) {
      if (kinds.includes(kind) && !ways.has(specifier)) ways.set(specifier, [...way, specifier]);
    }
  }
  return ways;
}

/** Every file that can reach itself through imports of the given kinds, with the way around. */
export function cycles(graph: ImportGraph, kinds: readonly ImportKind[]): string[] {
  return [...graph.keys()].flatMap((path) => {
    const next = (graph.get(path) ?? []).filter((entry) => kinds.includes(entry.kind));
    const around = next
      .map(({ specifier }) => reachable(graph, [specifier], kinds).get(path))
      .find((way) => way !== undefined);
    return around === undefined ? [] : [[path, ...around].join(' → ')];
  });
}
