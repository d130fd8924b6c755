import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { PROJECT, readFiles } from '../../tools/import-graph.mjs';

const TOP_LEVEL = [
  '.ci',
  '.github',
  '.gitignore',
  '.oxlintrc.json',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'docs',
  'machines',
  'package-lock.json',
  'package.json',
  'src',
  'test',
  'tools',
  'tsconfig.json',
  'visualizer',
  'vite.config.ts',
];

const IMPURE_GLOBALS = new Set([
  'Date',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'crypto',
  'console',
  'process',
  'fetch',
]);

type Files = ReadonlyMap<string, string>;

const files = (texts: Record<string, string>): Files => new Map(Object.entries(texts));
const machines = readFiles(['machines'], '.ts');

/** Every text file that is committed or would be added by `git add .`. */
const committed: Files = new Map(
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: PROJECT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((path) => path !== '' && existsSync(join(PROJECT, path)))
    .map((path) => [path, readFileSync(join(PROJECT, path), 'utf8')]),
);

function matching(texts: Files, pattern: RegExp): string[] {
  return [...texts].flatMap(([path, text]) =>
    text
      .split('\n')
      .map((line, index) => ({ line, place: `${path}:${index + 1}` }))
      .filter(({ line }) => pattern.test(line))
      .map(({ place }) => place),
  );
}

function impureExpressions(texts: Files): string[] {
  return [...texts].flatMap(([path, text]) => {
    const found: string[] = [];
    const report = (name: string): void => {
      if (IMPURE_GLOBALS.has(name)) found.push(`${path} uses ${name}`);
    };
    new Visitor({
      MemberExpression: ({ object, property }) => {
        if (object.type !== 'Identifier') return;
        report(object.name);
        if (property.type !== 'Identifier') return;
        if (object.name === 'globalThis') report(property.name);
        if (object.name === 'Math' && property.name === 'random') found.push(`${path} uses Math.random`);
      },
      CallExpression: ({ callee }) => {
        if (callee.type === 'Identifier') report(callee.name);
      },
      NewExpression: ({ callee }) => {
        if (callee.type === 'Identifier') report(callee.name);
      },
    }).visit(parseSync(path, text).program);
    return found;
  });
}

function wildcardHandlers(texts: Files): string[] {
  return [...texts].flatMap(([path, text]) => {
    const found: string[] = [];
    new Visitor({
      Property: ({ key }) => {
        if (key.type === 'Literal' && key.value === '*') found.push(path);
      },
    }).visit(parseSync(path, text).program);
    return found;
  });
}

describe('the repository', () => {
  it('has no skipped or focused test.', () => {
    const skipped =
      /\b(?:it|test|describe|suite)(?:\.\w+)*\.(?:skip|only|todo|fails|skipIf|runIf)\b|\bcontext\.skip\(/;
    const broken = ['it.skip(', 'describe.only(', 'test.concurrent.todo(', 'it.skipIf(', 'it('].join('\n');
    expect(matching(files({ a: broken }), skipped)).toEqual(['a:1', 'a:2', 'a:3', 'a:4']);
    const own = 'test/architecture/file-hygiene.test.ts';
    const tests = new Map([...committed].filter(([path]) => path.endsWith('.test.ts') && path !== own));
    expect(tests.size).toBeGreaterThan(0);
    expect(matching(tests, skipped)).toEqual([]);
  });

  it('has no comment that switches off the compiler or the linter.', () => {
    const off = /@ts-(?:ignore|nocheck|expect-error)|(?:eslint|oxlint)-disable/;
    const broken = [
      ['// @ts', 'ignore'],
      ['/* oxlint', 'disable */'],
      ['// fine', ''],
    ].map((line) => line.join('-'));
    expect(matching(files({ a: broken.join('\n') }), off)).toEqual(['a:1', 'a:2']);
    // A host need not have the types of RxJS: without the comment it would not compile.
    const optional = 'src/lifecycle/stream.ts';
    const code = new Map([...committed].filter(([path]) => /\.(?:ts|mjs)$/.test(path) && path !== optional));
    expect(matching(code, off)).toEqual([]);
  });

  it('prints JSON only through the function that escapes what controls a terminal.', () => {
    const raw = /\bprint\([^)]*JSON\.stringify/;
    expect(matching(files({ a: 'terminal.print(flags.json ? JSON.stringify({}) : x)' }), raw)).toEqual([
      'a:1',
    ]);
    expect(matching(readFiles(['src/cli'], '.ts'), raw)).toEqual([]);
  });

  it('depends on no folder outside the project and on no particular machine.', () => {
    const outside = /\.\.\/share[d]|(?<![\w.])\/(?:work|root|Users|tmp\/bash_jobs[^/]*)\/|registry[.]npmjs/;
    const broken = [
      ['..', 'shared', 'a'],
      ['', 'work', 'b'],
      ['', 'root', 'c'],
      ['.', 'work', 'd'],
      ['src', 'root.ts'],
    ];
    const lines = broken.map((path) => path.join('/')).join('\n');
    expect(matching(files({ a: lines }), outside)).toEqual(['a:1', 'a:2', 'a:3']);
    expect(matching(committed, outside)).toEqual([]);
  });

  it('has only the expected files and folders at the top level.', () => {
    const places = new Set([...committed.keys()].map((path) => path.split('/')[0]));
    expect([...places].filter((place) => !TOP_LEVEL.includes(place!))).toEqual([]);
    expect(['README.md', 'LICENSE', 'CHANGELOG.md', '.ci'].filter((place) => !places.has(place))).toEqual([]);
  });

  it('names its owner only in package.json.', () => {
    const own = 'test/architecture/file-hygiene.test.ts';
    const others = new Map([...committed].filter(([path]) => path !== 'package.json' && path !== own));
    const address = /OWNER\/mcp-troupe/;
    expect(matching(others, address)).toEqual([]);
    const { homepage, repository, bugs } = JSON.parse(committed.get('package.json') ?? '') as {
      readonly homepage: string;
      readonly repository: { readonly url: string };
      readonly bugs: { readonly url: string };
    };
    const source = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');
    expect([homepage, bugs.url]).toEqual([`${source}#readme`, `${source}/issues`]);
  });
});

describe('every machine', () => {
  it('takes time and randomness only from its events and does not use the host.', () => {
    const broken = files({
      'a.ts': 'const now = Date.now(); const then = new Date();',
      'b.ts': 'const dice = Math.random() + Math.floor(1); globalThis.setTimeout(f); console.log(1);',
      'c.ts': 'const fine = context.process.id + event.Date.x + "Date.now()";',
    });
    expect(impureExpressions(broken)).toEqual([
      'a.ts uses Date',
      'a.ts uses Date',
      'b.ts uses Math.random',
      'b.ts uses setTimeout',
      'b.ts uses console',
    ]);
    expect(impureExpressions(machines)).toEqual([]);
  });

  it("has no '*' handler, because it would swallow the errors of its children.", () => {
    expect(wildcardHandlers(files({ 'a.ts': `const on = { '*': 'b', 'x.*': 'c' };` }))).toEqual(['a.ts']);
    expect(wildcardHandlers(machines)).toEqual([]);
  });
});
