import { isBuiltin } from 'node:module';
import { describe, expect, it } from 'vitest';
import {
  type ImportGraph,
  type ImportKind,
  cycles,
  graphOf,
  readFiles,
  reachable,
} from '../../tools/import-graph.mjs';
import { IN_THE_CODE, IN_THE_PAGE } from '../../tools/package/bundled.mjs';
import { packageManifest } from './package-manifest.js';

const SDK = '@modelcontextprotocol/sdk';
const SDK_FOLDERS = ['auth', 'gateway'];
const AT_RUN_TIME: readonly ImportKind[] = ['value', 'lazy'];

const project = graphOf(readFiles(['src', 'machines'], '.ts'));
const withPage = graphOf(
  new Map([
    ...readFiles(['src', 'machines', 'visualizer/src'], '.ts'),
    ...readFiles(['visualizer/src'], '.tsx'),
  ]),
);
const page = [...withPage.keys()].filter((path) => path.startsWith('visualizer/'));

const sources = (files: Record<string, string>): ImportGraph => graphOf(new Map(Object.entries(files)));

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

function impureMachineImports(graph: ImportGraph): string[] {
  return [...graph]
    .filter(([path]) => path.startsWith('machines/'))
    .flatMap(([path, imports]) =>
      imports
        .filter(({ specifier, kind }) => {
          if (specifier.startsWith('machines/') || specifier === 'xstate') return false;
          return !(path === 'machines/mcp.ts' && kind === 'type' && specifier.startsWith('src/mcp/'));
        })
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
}

function misplacedSdkImports(graph: ImportGraph): string[] {
  return [...graph]
    .filter(([path]) => !SDK_FOLDERS.some((folder) => path.startsWith(`src/${folder}/`)))
    .flatMap(([path, imports]) =>
      imports
        .filter(({ specifier }) => packageOf(specifier) === SDK)
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
}

function nodeModulesBehind(graph: ImportGraph, entries: readonly string[]): string[] {
  return [...reachable(graph, entries, AT_RUN_TIME)]
    .filter(([specifier]) => isBuiltin(specifier))
    .map(([, way]) => way.join(' → '));
}

function importsFromOutside(graph: ImportGraph): string[] {
  return [...graph].flatMap(([path, imports]) =>
    imports
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => `${path} imports ${specifier}`),
  );
}

/** The adapters, or everything else. */
function partOf(graph: ImportGraph, isAdapter: boolean): ImportGraph {
  return new Map([...graph].filter(([path]) => path.startsWith('src/adapters/') === isAdapter));
}

function importedPackages(graph: ImportGraph): Set<string> {
  const specifiers = [...graph.values()].flat().map(({ specifier }) => specifier);
  return new Set(
    specifiers
      .filter((name) => !/^(?:(?:src|machines|visualizer)\/|\.)/.test(name) && !isBuiltin(name))
      .map(packageOf),
  );
}

describe('the dependency rules', () => {
  it('let src and machines import only each other from the project.', () => {
    const broken = sources({
      'src/a.ts': `import './b.js'; import '../machines/c.js'; import '../test/support/d.js';`,
      'machines/c.ts': `import type { B } from '../src/b.js';`,
    });
    expect(importsFromOutside(broken)).toEqual([
      'src/a.ts imports ./b.js',
      'src/a.ts imports ../test/support/d.js',
      'machines/c.ts imports ../src/b.js',
    ]);
    expect(importsFromOutside(project)).toEqual([]);
  });

  it('let machines import only xstate, each other, and types of the protocol through mcp.ts.', () => {
    const broken = sources({
      'machines/index.ts': `import { assign } from 'xstate'; export * from './mcp.js';`,
      'machines/mcp.ts': `export type { Tool } from '../src/mcp/server-offers.js'; export { a } from '../src/mcp/a.js';`,
      'machines/a.machine.ts': `import type { Tool } from '../src/mcp/server-offers.js'; import type { Y } from '../src/y.js';`,
      'src/y.ts': `export interface Y {}`,
      'src/mcp/server-offers.ts': `export interface Tool {}`,
      'src/mcp/a.ts': `export const a = 1;`,
      'machines/b.machine.ts': `import { Observable } from 'rxjs'; type Z = import('node:fs').Stats;`,
    });
    expect(impureMachineImports(broken)).toEqual([
      'machines/mcp.ts imports src/mcp/a.ts',
      'machines/a.machine.ts imports src/mcp/server-offers.ts',
      'machines/a.machine.ts imports src/y.ts',
      'machines/b.machine.ts imports rxjs',
      'machines/b.machine.ts imports node:fs',
    ]);
    expect(impureMachineImports(project)).toEqual([]);
  });

  it('allow imports of the SDK, which is bundled, only where Troupe signs in.', () => {
    const broken = sources({
      'src/auth/a.ts': `import { auth } from '${SDK}/client/auth.js';`,
      'src/calls/b.ts': `import type { Tool } from '${SDK}/types.js';`,
      'src/index.ts': `const later = () => import('${SDK}/client/index.js');`,
    });
    expect(misplacedSdkImports(broken)).toEqual([
      `src/calls/b.ts imports ${SDK}/types.js`,
      `src/index.ts imports ${SDK}/client/index.js`,
    ]);
    expect(misplacedSdkImports(project)).toEqual([]);
  });

  it('allow no cycle of value imports; a cycle may exist only through type imports.', () => {
    const broken = sources({
      'src/a.ts': `import { b } from './b.js';`,
      'src/b.ts': `export { c } from './c.js';`,
      'src/c.ts': `import { a } from './a.js'; import type { D } from './d.js';`,
      'src/d.ts': `import { c } from './c.js';`,
    });
    expect(cycles(broken, ['value'])).toEqual([
      'src/a.ts → src/b.ts → src/c.ts → src/a.ts',
      'src/b.ts → src/c.ts → src/a.ts → src/b.ts',
      'src/c.ts → src/a.ts → src/b.ts → src/c.ts',
    ]);
    expect(cycles(project, ['value'])).toEqual([]);
  });

  it('keep the page free of Node modules, including through the sources that it imports.', () => {
    const broken = sources({
      'machines/index.ts': `import { fold } from './fold.js'; import type { Stats } from 'node:fs';`,
      'machines/fold.ts': `import { join } from 'node:path'; const later = () => import('fs/promises');`,
    });
    expect(nodeModulesBehind(broken, ['machines/index.ts'])).toEqual([
      'machines/index.ts → machines/fold.ts → node:path',
      'machines/index.ts → machines/fold.ts → fs/promises',
    ]);
    expect(page).toContain('visualizer/src/main.tsx');
    expect([...reachable(withPage, page, AT_RUN_TIME).keys()]).toContain(
      'machines/connection/connection.machine.ts',
    );
    expect(nodeModulesBehind(withPage, page)).toEqual([]);
  });

  it('let one file know the operating system, and none wait for the stack to overflow.', () => {
    const filesWith = (pattern: RegExp): string[] =>
      [...readFiles(['src', 'machines'], '.ts')]
        .filter(([, text]) => pattern.test(text))
        .map(([path]) => path);
    expect(filesWith(/\bprocess\.platform\b(?!`)/)).toEqual(['src/platform/platform.ts']);
    expect(filesWith(/instanceof RangeError/)).toEqual([]);
  });

  it('limit the packages that the page imports.', () => {
    const ofPage = new Map([...withPage].filter(([path]) => path.startsWith('visualizer/')));
    expect([...importedPackages(ofPage)].toSorted()).toEqual([...IN_THE_PAGE].toSorted());
  });

  it('require that the imported packages are those that are declared and those that are bundled.', () => {
    expect([
      ...importedPackages(sources({ 'src/a.ts': `import 'rxjs'; import '@a/b/c'; import 'node:fs';` })),
    ]).toEqual(['rxjs', '@a/b']);
    const declared = Object.keys(packageManifest().dependencies);
    expect([...importedPackages(partOf(project, false))].toSorted()).toEqual(
      // The keychain package is imported by a variable.
      [SDK, 'cross-spawn', 'jsonc-parser', 'yaml', '(computed)', ...declared].toSorted(),
    );
    expect(declared.filter((name) => IN_THE_CODE.includes(name))).toEqual([]);
    expect(IN_THE_CODE).toContain(SDK);
  });

  it('let only adapters import frameworks, which are optional peers, and let only the command import adapters, late.', () => {
    const broken = sources({
      'src/adapters/a.ts': `import { tool } from 'ai';`,
      'src/index.ts': `export { toTools } from './adapters/a.js';`,
    });
    expect([...importedPackages(partOf(broken, true))]).toEqual(['ai']);
    const intoAdapters = (graph: ImportGraph): string[] =>
      [...partOf(graph, false)].flatMap(([path, imports]) =>
        imports
          .filter(
            ({ specifier, kind }) =>
              specifier.startsWith('src/adapters/') && !(kind === 'lazy' && path.startsWith('src/cli/')),
          )
          .map(() => path),
      );
    expect(intoAdapters(broken)).toEqual(['src/index.ts']);
    expect(intoAdapters(project)).toEqual([]);

    const { dependencies, peerDependencies, peerDependenciesMeta } = packageManifest();
    const frameworks = [...importedPackages(partOf(project, true))].filter((name) => !(name in dependencies));
    expect([...frameworks, '@napi-rs/keyring'].toSorted()).toEqual(Object.keys(peerDependencies).toSorted());
    expect(Object.keys(peerDependenciesMeta).toSorted()).toEqual(Object.keys(peerDependencies).toSorted());
    expect(Object.values(peerDependenciesMeta).every(({ optional }) => optional)).toBe(true);
  });
});
