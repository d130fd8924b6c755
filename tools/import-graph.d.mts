/**
 * - `value`: loads code when the file is loaded (including `import { type X }` without `import type`).
 * - `type`: removed by the compiler.
 * - `lazy`: `import()`; loads code later.
 */
export type ImportKind = 'value' | 'type' | 'lazy';

export interface Import {
  readonly specifier: string;
  readonly kind: ImportKind;
}

/** Path of a file → its imports. Relative specifiers of files in the graph are resolved to such paths. */
export type ImportGraph = ReadonlyMap<string, readonly Import[]>;

export declare const PROJECT: string;
export declare function readImports(path: string, text: string): Import[];
export declare function graphOf(files: ReadonlyMap<string, string>): ImportGraph;
export declare function readFiles(folders: readonly string[], suffix: string): Map<string, string>;
export declare function reachable(
  graph: ImportGraph,
  entries: readonly string[],
  kinds: readonly ImportKind[],
): Map<string, readonly string[]>;
export declare function cycles(graph: ImportGraph, kinds: readonly ImportKind[]): string[];
