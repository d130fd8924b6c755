import type { ImportGraph } from './import-graph.mjs';

export interface ChainLink {
  readonly file: string;
  /** The link to the previous file; undefined for the first. */
  readonly link?: 'imports' | 'is imported by';
}

export interface TraceStep {
  readonly file: string;
  /** The files that link it to the previous step; empty if an import does. */
  readonly way: readonly string[];
}

export interface Trace {
  readonly title: string;
  /** Maximum number of files. */
  readonly limit: number | undefined;
  readonly steps: readonly TraceStep[];
}

export declare function shortestChain(
  graph: ImportGraph,
  points: readonly string[],
): readonly ChainLink[] | undefined;
export declare function tracesIn(markdown: string): readonly Trace[];
export declare function problemsOf(graph: ImportGraph, trace: Trace): readonly string[];
