/** The mutation check: which mutants it creates, when one counts as caught, and what it caches. */
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Memory, mutantsOf, reportOf } from '../../../support/tools/mutants.js';

const changesOf = (text: string): string[] => mutantsOf('a.ts', text).map(({ what }) => what);

describe('the mutants of a file', () => {
  it('alter comparisons, logic, arithmetic, numbers and strings.', () => {
    expect(changesOf(`const f = (a: number) => a >= 2 && a + 1 !== 7;`)).toEqual([
      'a >= 2 && a + 1 !== 7 → (a >= 2) || (a + 1 !== 7)',
      'a >= 2 → (a) > (2)',
      '2 → (2 + 1)',
      'a + 1 !== 7 → (a + 1) === (7)',
      'a + 1 → (a) - (1)',
      '1 → (1 + 1)',
      '7 → (7 + 1)',
    ]);
    expect(changesOf(`const f = (a?: string) => !a || a === 'x';`)).toContain("'x' → 'mutant'");
  });

  it('omit conditions, statements, fields and calls.', () => {
    const text = `function f(a) { if (a.ok) { note(a); } return { b: 1, list: a.list.filter(isOk), m: Math.min(a, a) }; }`;
    expect(changesOf(text)).toEqual(
      expect.arrayContaining([
        'a.ok → true',
        'a.ok → false',
        'note(a); → ;',
        'b: 1 → ...{}',
        'a.list.filter(isOk) → a.list',
        'Math.min → Math.max',
      ]),
    );
  });

  it('alter targets, guards, actions, delays and the order of states of a chart.', () => {
    const text = `const m = setup({ delays: { soon: () => 5 } }).createMachine({
      id: 'm', initial: 'a',
      states: {
        a: { entry: ['x', 'y'], on: { go: { guard: 'ok', target: 'b', actions: 'x' }, skip: 'c' } },
        b: { after: { soon: 'c' }, tags: 'busy' },
        c: { type: 'final' },
      },
    });`;
    expect(changesOf(text)).toEqual(
      expect.arrayContaining([
        '5 → (5 + 1)',
        "'a' → 'b'",
        "'x' → ...[]",
        "'ok' → () => true",
        "'ok' → () => false",
        "'b' → '#m.c'",
        "target: 'b' → ...{}",
        "actions: 'x' → ...{}",
        "skip: 'c' → ...{}",
        "soon: 'c' → ...{}",
        "tags: 'busy' → ...{}",
        "type: 'final' → ...{}",
      ]),
    );
  });

  it('do not alter types and descriptions.', () => {
    expect(
      changesOf(
        `import { a } from 'a'; type T = 'x' | 1; const b = { description: 'for a person' } as const;`,
      ),
    ).toEqual([]);
  });

  it('are named by their place in the code, not by their line, with distinct names.', () => {
    const [first] = mutantsOf('a.ts', `const f = () => 1 + 1;`);
    expect(first).toMatchObject({ id: 'a.ts | f | 1 + 1 → (1) - (1)', line: 1 });
    expect(mutantsOf('a.ts', `\n\nconst f = () => 1 + 1;`).map(({ id }) => id)).toEqual([
      'a.ts | f | 1 + 1 → (1) - (1)',
      'a.ts | f | 1 → (1 + 1)',
      'a.ts | f | 1 → (1 + 1) (2)',
    ]);
  });

  it('cover a chart in several files: its states, transitions and branches.', () => {
    const machine = `const m = setup({}).createMachine({ id: 'm', initial: 'a', states: { a, b: {} } });`;
    const part = `
      const leave = { 'stop.asked': { target: 'b' } };
      const failed = [{ guard: 'mayPass', target: 'c' }, { target: 'd' }];
      const a = m.createStateConfig({
        initial: 'c', on: leave,
        states: { c: { on: { ...leave, go: 'd' } }, d: { on: { go: failed } } },
      });`;
    expect(mutantsOf('m.a.ts', part, [machine, part]).map(({ what }) => what)).toEqual(
      expect.arrayContaining([
        "'b' → '#m.a'",
        "'c' → '#m.a.d'",
        "'stop.asked': { target: 'b' } → ...{}",
        "{ target: 'd' } → ...[]",
        'on: leave → ...{}',
        '...leave → ...{}',
        'go: failed → ...{}',
      ]),
    );
  });

  it('can all be parsed, for every chart.', () => {
    const folder = fileURLToPath(new URL('../../../../machines/', import.meta.url));
    const mutants = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => mutantsOf(name, readFileSync(join(folder, name), 'utf8')));
    expect(mutants.length).toBeGreaterThan(2000);
    const some = mutants.filter((_, index) => index % 20 === 0);
    expect(some.filter(({ text }) => parseSync('a.ts', text).errors.length > 0)).toEqual([]);
  });
});

describe('the report on mutants', () => {
  const results = [
    { id: 'a1', file: 'a.ts', line: 1, caughtBy: 'a.test.ts' },
    { id: 'a2', file: 'a.ts', line: 2, caughtBy: null },
    { id: 'b1', file: 'b.ts', line: 3, caughtBy: null },
  ];

  it('excludes equivalent mutants, and lists the missed ones.', () => {
    const { table, missing, score } = reportOf(results, { a2: 'It is the same.' });
    expect(score).toBe(50);
    expect(missing.map(({ id }) => id)).toEqual(['b1']);
    expect(table.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['file', 'mutants', 'caught', 'equivalent', 'missed', 'score'],
      ['a.ts', '2', '1', '1', '0', '100.0 %'],
      ['b.ts', '1', '0', '0', '1', '0.0 %'],
      ['all', '3', '1', '1', '1', '50.0 %'],
    ]);
  });
});

describe('the cache of earlier runs', () => {
  const machines = new Map([['m.ts', 'm']]);
  const tests = new Map([
    ['a.test.ts', 'a'],
    ['b.test.ts', 'b'],
  ]);

  function folder(): string {
    const made = mkdtempSync(join(tmpdir(), 'troupe-mutants-'));
    onTestFinished(() => rmSync(made, { recursive: true }));
    return made;
  }

  it('is valid while the machines and the test that caught the mutant are unchanged.', () => {
    const project = folder();
    new Memory(project, machines, tests).keep({ id: 'x', caughtBy: 'a.test.ts', how: '' });
    expect(new Memory(project, machines, new Map([...tests, ['b.test.ts', 'other']])).get('x')).toBeDefined();
    expect(
      new Memory(project, machines, new Map([...tests, ['a.test.ts', 'other']])).get('x'),
    ).toBeUndefined();
    expect(new Memory(project, new Map([['m.ts', 'other']]), tests).get('x')).toBeUndefined();
  });

  it('is valid for a survivor while all tests are unchanged, and may contain a line that was cut off.', () => {
    const project = folder();
    new Memory(project, machines, tests).keep({ id: 'x', caughtBy: null, how: '' });
    appendFileSync(join(project, 'node_modules/.cache/troupe-mutants.jsonl'), '{"id":"y","cau');
    expect(new Memory(project, machines, tests).get('x')).toMatchObject({ caughtBy: null });
    expect(
      new Memory(project, machines, new Map([...tests, ['b.test.ts', 'other']])).get('x'),
    ).toBeUndefined();
  });
});
