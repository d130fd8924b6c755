import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  escapeTemplate,
  parseTemplate,
  renderTemplate,
  variablesIn,
} from '../../../../src/config/entry/template.js';

const VARIABLES: Readonly<Record<string, string>> = {
  A: 'alpha',
  B: 'beta',
  EMPTY: '',
  TRICKY: '${A} $A $(id) `id` $$',
};

interface Rendered {
  readonly text: string;
  readonly missing: readonly string[];
}

function render(text: string, bareNames = true): Rendered | string {
  const template = parseTemplate(text, bareNames);
  if ('problem' in template) return template.problem;
  const missing: string[] = [];
  const rendered = renderTemplate(
    template.parts,
    ({ origin, name }) => (origin === 'builtin' ? `<${name}>` : VARIABLES[name]),
    ({ name }) => missing.push(name),
  );
  return { text: rendered, missing };
}

describe('a template', () => {
  it.each([
    ['', ''],
    ['plain', 'plain'],
    ['${A}', 'alpha'],
    ['${env:A}', 'alpha'],
    ['-${A}-${B}-', '-alpha-beta-'],
    ['${A}${B}', 'alphabeta'],
    ['${EMPTY}', ''],
    ['${A:-x}', 'alpha'],
    ['${env:A:-x}', 'alpha'],
    ['${NONE:-x}', 'x'],
    ['${EMPTY:-x}', 'x'],
    ['${NONE:-}', ''],
    ['${NONE:-a b/c:-d}', 'a b/c:-d'],
    ['${NONE:-${B}}', 'beta'],
    ['${NONE:-<${NONE:-${A}}>}', '<alpha>'],
    ['${NONE:-$A}', 'alpha'],
    ['${workspaceFolder}/x', '<workspaceFolder>/x'],
    ['${NONE:-{}', '{'],
    ['{"a":{}}', '{"a":{}}'],
    ['}', '}'],
    ['$A', 'alpha'],
    ['$A/$B.txt', 'alpha/beta.txt'],
    ['$A-x', 'alpha-x'],
    ['${TRICKY}', VARIABLES['TRICKY']],
    ['$TRICKY', VARIABLES['TRICKY']],
  ])('%s becomes %s', (text, expected) => {
    expect(render(text)).toEqual({ text: expected, missing: [] });
  });

  it.each([
    ['$$A', '$A', 'stands for one dollar before a name'],
    ['$${A}', '${A}', 'stands for one dollar before a brace'],
    ['$$(id)', '$(id)', 'stands for one dollar before a parenthesis'],
    ['$$$A', '$alpha', 'may stand before a reference'],
    ['$$$$A', '$$A', 'may be repeated'],
    ['echo $$', 'echo $$', 'is left alone if one dollar would have no meaning'],
    ['$$ $1 $? $! $@ a$', '$$ $1 $? $! $@ a$', 'is not needed before anything but a name'],
    ['${NONE:-$$A}', '$A', 'works inside a default'],
  ])('a double dollar in %s (%s) %s', (text, expected) => {
    expect(render(text)).toEqual({ text: expected, missing: [] });
  });

  it.each(['$A', 'pa$$word', '$$A', 'a$b$c', '$'])(
    'leaves %s unchanged if names without braces are not expanded',
    (text) => {
      expect(render(text, false)).toEqual({ text, missing: [] });
    },
  );

  it.each([
    ['$(id)', /command substitution is refused; write \$\$\(/],
    ['a $((1+1))', /command substitution/],
    ['`id`', /command substitution .*backticks/],
    ['``', /backticks/],
    ['${NONE:-$(id)}', /command substitution/],
    ['${}', /a reference is/],
    ['${A', /a reference is/],
    ['${A B}', /a reference is/],
    ['${A-x}', /a reference is/],
    ['${1}', /a reference is/],
    ['${input:}', /a reference is/],
    ['${input:a b}', /a reference is/],
    ['${/:-x}', /a reference is/],
    ['${A:-x', /a default is not closed/],
    ['${A:-${B}', /a default is not closed/],
    ['${A:-'.repeat(100_000), /nested too deeply/],
  ])('%.20s is refused', (text, problem) => {
    expect(render(text)).toMatch(problem);
    expect(render(text, false)).toMatch(problem);
  });

  it('may contain a single backtick', () => {
    expect(render('a`b')).toEqual({ text: 'a`b', missing: [] });
  });

  it('reports the variables that are not set and have no default', () => {
    expect(render('$X ${Y} ${A} ${Z:-${W}}')).toEqual({ text: '  alpha ', missing: ['X', 'Y', 'W'] });
  });

  it('lists the variables it refers to, with their origin, including those in defaults', () => {
    const text = '$A ${B:-${C}} ${workspaceFolder} ${env:workspaceFolder} ${input:api-key} ${/} $$D';
    const template = parseTemplate(text, true);
    const found = 'parts' in template ? variablesIn(template.parts) : [];
    expect(found.map(({ origin, name }) => `${origin} ${name}`)).toEqual([
      'host A',
      'host B',
      'host C',
      'builtin workspaceFolder',
      'host workspaceFolder',
      'input input:api-key',
      'builtin /',
    ]);
  });

  it('can be made from any text without a pair of backticks, and renders to that text', () => {
    const text = fc.string({ unit: fc.constantFrom('$', '{', '}', '(', 'A', ':', '-', '~', ' ') });
    fc.assert(
      fc.property(text, fc.boolean(), (literal, bareNames) => {
        expect(render(escapeTemplate(literal, bareNames), bareNames)).toEqual({ text: literal, missing: [] });
      }),
    );
  });
});

describe('for any text', () => {
  it('without a dollar or two backticks, rendering changes nothing', () => {
    const plain = fc.string({ unit: 'grapheme' }).filter((text) => !/[$`]/.test(text));
    fc.assert(
      fc.property(plain, fc.boolean(), (text, bare) => {
        expect(render(text, bare)).toEqual({ text, missing: [] });
      }),
    );
  });

  it('doubling every dollar and brace start keeps it literal', () => {
    const special = fc.string({ unit: fc.constantFrom('$', '{', '}', '(', ')', 'A', '_', ' ', ':', '-') });
    fc.assert(
      fc.property(special, (text) => {
        const escaped = text.replaceAll(/\$+(?=[{(A-Za-z_])/g, (run) => run + run);
        expect(render(escaped)).toEqual({ text, missing: [] });
      }),
    );
  });

  it('parsing never throws, and a value is inserted unchanged', () => {
    const noise = fc.string({ unit: fc.constantFrom('$', '{', '}', '(', '`', 'A', ':', '-', 'x', '~') });
    fc.assert(
      fc.property(noise, noise, (text, value) => {
        parseTemplate(text, true);
        parseTemplate(text, false);
        const template = parseTemplate('<${A}>', false);
        if ('problem' in template) throw new Error(template.problem);
        expect(
          renderTemplate(
            template.parts,
            () => value,
            () => {},
          ),
        ).toBe(`<${value}>`);
      }),
    );
  });
});
