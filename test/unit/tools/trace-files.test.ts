import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { graphOf } from '../../../tools/import-graph.mjs';
import { problemsOf, shortestChain, tracesIn } from '../../../tools/trace-files.mjs';

/** `troupe` wires `watch` to `servers`, which calls `machine`; they all know `clock`. */
const graph = graphOf(
  new Map([
    ['src/troupe.ts', `import './watch.js'; import { Servers } from './servers.js';`],
    ['src/watch.ts', `import type { Clock } from './clock.js';`],
    ['src/servers.ts', `import '../machines/machine.js'; import type { Clock } from './clock.js';`],
    ['src/clock.ts', ''],
    ['src/alone.ts', ''],
    ['machines/machine.ts', `const later = () => import('../src/clock.js');`],
  ]),
);

const page = (heading: string, ...steps: string[]): string =>
  `## Traces\n\nProse.\n\n### ${heading}\n\n${steps.map((step, index) => `${index + 1}. ${step}`).join('\n')}\n`;

const problems = (heading: string, ...steps: string[]): readonly string[] =>
  tracesIn(page(heading, ...steps)).flatMap((trace) => problemsOf(graph, trace));

describe('the shortest chain', () => {
  it('follows imports, and reverses them for callbacks.', () => {
    expect(shortestChain(graph, ['src/watch.ts', 'machines/machine.ts'])).toEqual([
      { file: 'src/watch.ts' },
      { file: 'src/troupe.ts', link: 'is imported by' },
      { file: 'src/servers.ts', link: 'imports' },
      { file: 'machines/machine.ts', link: 'imports' },
    ]);
  });

  it('passes through every point, and through a common import only if that is a point.', () => {
    const files = (...points: string[]) => shortestChain(graph, points)?.map(({ file }) => file);
    expect(files('src/watch.ts', 'src/servers.ts')).toEqual([
      'src/watch.ts',
      'src/troupe.ts',
      'src/servers.ts',
    ]);
    expect(files('src/watch.ts', 'src/clock.ts', 'src/servers.ts')).toEqual([
      'src/watch.ts',
      'src/clock.ts',
      'src/servers.ts',
    ]);
  });

  it('does not exist if nothing links the files.', () => {
    expect(shortestChain(graph, ['src/alone.ts', 'src/clock.ts'])).toBeUndefined();
  });
});

describe('a listed trace', () => {
  it('has a title, a limit and steps.', () => {
    const text = page('A file is edited (at most 3 files)', '`src/watch.ts` hears it.', '`src/troupe.ts`.');
    expect(tracesIn(`1. Not a file.\n${text}`)).toEqual([
      {
        title: 'A file is edited',
        limit: 3,
        steps: [
          { file: 'src/watch.ts', way: [] },
          { file: 'src/troupe.ts', way: [] },
        ],
      },
    ]);
    const [trace] = tracesIn(page('Edited', '`src/b.ts` (by way of `src/a.ts`, `src/c.ts`) hears it.'));
    expect(trace).toEqual({
      title: 'Edited',
      limit: undefined,
      steps: [{ file: 'src/b.ts', way: ['src/a.ts', 'src/c.ts'] }],
    });
  });

  it('has no problem if each step is linked to the one before, by an import or by the files it names.', () => {
    const wired = '`src/servers.ts` (by way of `src/troupe.ts`) applies it.';
    const port = '`src/servers.ts` (by way of `src/clock.ts`) applies it.';
    for (const step of [wired, port]) {
      const steps = ['`src/watch.ts`', step, '`machines/machine.ts`'];
      expect(problems('Edited (at most 3 files)', ...steps)).toEqual([]);
    }
  });

  it('must not omit a link, name a missing file, or be longer than its limit.', () => {
    expect(problems('Edited', '`src/watch.ts`', '`src/servers.ts`')).toEqual([
      expect.stringMatching(/^Edited: .*src\/watch\.ts.*src\/servers\.ts/),
    ]);
    expect(problems('Edited', '`src/watch.ts`', '`src/servers.ts` (by way of `src/alone.ts`)')).toEqual([
      expect.stringMatching(/^Edited: .*src\/watch\.ts.*src\/alone\.ts/),
      expect.stringMatching(/^Edited: .*src\/alone\.ts.*src\/servers\.ts/),
    ]);
    expect(problems('Edited', '`src/gone.ts`')).toEqual([expect.stringMatching(/^Edited: .*src\/gone\.ts/)]);
    expect(problems('Edited (at most 1 files)', '`src/troupe.ts`', '`src/watch.ts`')).toEqual([
      expect.stringMatching(/^Edited: .*2.*1/),
    ]);
  });
});

describe('the tools in a shell', () => {
  const cwd = fileURLToPath(new URL('../../..', import.meta.url));
  const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });

  it.each(['tools/trace-files.mjs', 'tools/mutants/main.mjs'])('%s prints its usage.', (tool) => {
    expect(run(tool, '--help')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Usage: /),
      stderr: '',
    });
  });

  it.each([
    { args: ['tools/trace-files.mjs'] },
    { args: ['tools/trace-files.mjs', 'src/servers.ts'] },
    { args: ['tools/trace-files.mjs', '--check', 'docs/gone.md'] },
    { args: ['tools/trace-files.mjs', '--check', 'README.md', 'src/servers.ts'] },
    { args: ['tools/mutants/main.mjs', '--colour'] },
    { args: ['tools/mutants/main.mjs', '--workers', '0'] },
  ])('$args is refused with the usage.', ({ args }) => {
    const { status, stdout, stderr } = run(...args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Usage: ');
    expect(stderr).not.toMatch(/ENOENT|\n +at /);
  });

  it('a page without traces fails the check.', () => {
    expect(run('tools/trace-files.mjs', '--check', 'CHANGELOG.md')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('CHANGELOG.md'),
    });
  });
});
