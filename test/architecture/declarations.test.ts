import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { forgottenExports } from './declared-names.js';
import { type ImportGraph, graphOf, reachable, readFiles } from '../../tools/import-graph.mjs';
import { ENTRY_POINTS } from './public-names.js';

const emitted = readFiles(['dist/src', 'dist/machines'], '.d.ts');

function waysToXstate(graph: ImportGraph, entry: string): string[] {
  return [...reachable(graph, [entry], ['value', 'type', 'lazy'])]
    .filter(([specifier]) => specifier === 'xstate' || specifier.startsWith('xstate/'))
    .map(([, way]) => way.join(' → '));
}

describe('the declarations of the built package', () => {
  it("need no XState type for '.', because those of XState do not compile in every strict project.", () => {
    const broken = graphOf(
      new Map([
        ['index.d.ts', `export type { Connection } from './connection.js';`],
        ['connection.d.ts', `export interface Connection { actor: import("xstate").AnyActorRef }`],
      ]),
    );
    expect(waysToXstate(broken, 'index.d.ts')).toEqual(['index.d.ts → connection.d.ts → xstate']);
    expect(emitted.has('dist/src/index.d.ts')).toBe(true);
    expect(waysToXstate(graphOf(emitted), 'dist/src/index.d.ts')).toEqual([]);
  });

  it("of '.' and of the gateway compile without the types of RxJS, and their streams have types nevertheless.", () => {
    const graph = graphOf(emitted);
    for (const entry of ['dist/src/index.d.ts', 'dist/src/gateway/index.d.ts']) {
      const ways = [...reachable(graph, [entry], ['value', 'type', 'lazy'])].filter(([specifier]) =>
        /^rxjs(\/|$)/.test(specifier),
      );
      expect(ways.map(([, way]) => way.at(-2))).toEqual(['dist/src/lifecycle/stream.d.ts']);
    }
    const folder = mkdtempSync(join(tmpdir(), 'troupe-no-rxjs-'));
    try {
      const stream = emitted.get('dist/src/lifecycle/stream.d.ts') ?? '';
      writeFileSync(join(folder, 'stream.d.ts'), stream.replace("'rxjs'", "'no-rxjs-here'"));
      writeFileSync(
        join(folder, 'host.ts'),
        `import type { Stream } from './stream.js';
         declare const status$: Stream<{ server: string }>;
         status$.subscribe(({ server }) => server.length).unsubscribe();
         type Value = Parameters<Extract<Parameters<typeof status$.subscribe>[0], (value: never) => void>>[0];
         const typed: 0 extends 1 & Value ? never : true = true;
         export { typed };`,
      );
      const options = { strict: true, noEmit: true, skipLibCheck: false, module: 'nodenext', types: [] };
      writeFileSync(
        join(folder, 'tsconfig.json'),
        JSON.stringify({ compilerOptions: options, files: ['host.ts'] }),
      );
      const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
      const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
      expect([status, stdout]).toEqual([0, '']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('are searched for types that an entry point needs but does not export.', () => {
    const broken = new Map([
      ['index.d.ts', `export { machine } from './machine.js'; export type { Input } from './events.js';`],
      [
        'machine.d.ts',
        `import type { Input } from './events.js'; type Local = 'x';
         export declare const machine: import("xstate").M<Input, import("./events.js").Output, Local>;`,
      ],
      [
        'events.d.ts',
        `import type { Other } from 'other'; interface Deep { at: number }
         export interface Input { deep: Deep; other: Other } export type Output = Input; export type Unused = 1;`,
      ],
    ]);
    expect(forgottenExports(broken, 'index.d.ts', ['events.d.ts'])).toEqual([
      'events.d.ts#Deep, needed by events.d.ts#Input',
      'machine.d.ts#Local, needed by machine.d.ts#machine',
    ]);
    expect(forgottenExports(broken, 'index.d.ts')).toEqual([
      'events.d.ts#Deep, needed by events.d.ts#Input',
      'events.d.ts#Output, needed by machine.d.ts#machine',
      'machine.d.ts#Local, needed by machine.d.ts#machine',
    ]);
  });

  it.each(ENTRY_POINTS)(
    "of '$subpath' need no type of the package that neither it nor '.' exports.",
    ({ target }) => {
      expect(forgottenExports(emitted, `dist/${target}.d.ts`, ['dist/src/index.d.ts'])).toEqual([]);
    },
  );
});
