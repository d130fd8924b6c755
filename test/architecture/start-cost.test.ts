/** The modules that an import of the package loads, and those that a stdio session loads. */
import { filter, map, distinctUntilChanged, Observable, Subscriber } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as rx from '../../src/lifecycle/rx.js';
import { graphOf, readFiles, reachable, type ImportGraph } from '../../tools/import-graph.mjs';

const project = graphOf(readFiles(['src', 'machines'], '.ts'));

/** Packages that load along with a file. */
function packagesBehind(graph: ImportGraph, entry: string): string[] {
  const specifiers = [...reachable(graph, [entry], ['value']).keys()];
  const isPackage = (specifier: string): boolean => !graph.has(specifier) && !specifier.startsWith('node:');
  const named = specifiers
    .filter(isPackage)
    .map((specifier) => specifier.replace(/^rxjs\/internal\/.*/, 'rxjs/internal'));
  return [...new Set(named)].toSorted();
}

describe('importing the package', () => {
  it('loads only XState and the needed parts of RxJS: no SDK, schemas, parser or watcher', () => {
    expect(packagesBehind(project, 'src/index.ts')).toEqual(['rxjs/internal', 'xstate']);
  });

  it('loads no transport, protocol client or validator', () => {
    const loaded = [...reachable(project, ['src/index.ts'], ['value']).keys()];
    const early =
      /^src\/(transports\/(stdio|sse|streamable|in-process)|protocol\/session-client|validation\/json-schema)/;
    expect(loaded.filter((path) => early.test(path))).toEqual([]);
  });

  it('uses no tables of a locale, which take as long to load as XState', () => {
    const users = [...readFiles(['src', 'machines'], '.ts')].filter(
      ([path, text]) => !path.startsWith('src/cli/') && /\.toLocale\w*\(|\bIntl\./.test(text),
    );
    expect(users.map(([path]) => path)).toEqual([]);
  });

  it("does not import 'node:process', which would open the streams of the host", () => {
    const importers = [...project].filter(([, imports]) =>
      imports.some(({ specifier }) => specifier === 'node:process'),
    );
    expect(importers.map(([path]) => path)).toEqual([]);
  });

  it('is detected as slow if it loads a package', () => {
    const graph = graphOf(
      new Map([
        ['src/index.ts', "export { a } from './a.js'; import type { B } from 'zod';"],
        ['src/a.ts', "import 'rxjs'; import 'node:fs'; export const a = () => import('yaml');"],
      ]),
    );
    expect(packagesBehind(graph, 'src/index.ts')).toEqual(['rxjs']);
  });
});

describe('a session over stdio', () => {
  it.each(['src/transports/stdio/stdio-transport.ts', 'src/protocol/session-client.ts'])(
    'loads no package for %s',
    (path) => {
      expect(packagesBehind(project, path)).toEqual([]);
    },
  );
});

describe('the imports of RxJS internals', () => {
  it('are the same objects as the exports of its main entry, so that a host has only one of each', () => {
    expect({ ...rx }).toEqual({ filter, map, distinctUntilChanged, Observable, Subscriber });
    expect([rx.Observable, rx.Subscriber]).toEqual([Observable, Subscriber]);
  });
});
