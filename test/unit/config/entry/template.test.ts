import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  escapeTemplate,
  parseTemplate,
  renderTemplate,
  variablesIn,
  type TemplateSyntax,
} from '../../../../src/config/entry/template.js';

const VARIABLES: Readonly<Record<string, string>> = {
  A: 'alpha',
  B: 'beta',
  EMPTY: '',
  TRICKY: '${A} $A $(id) `id` $$',
};

const SYNTAXES = fc.constantFrom<TemplateSyntax>('plain', 'command-line', 'code');

interface Rendered {
  readonly text: string;
  readonly missing: readonly string[];
}

function render(text: string, syntax: TemplateSyntax = 'command-line'): Rendered {
  const missing: string[] = [];
  const rendered = renderTemplate(
    parseTemplate(text, syntax),
    ({ origin, name }) => (origin === 'host' ? VARIABLES[name] : `<${name}>`),
    ({ name }) => {
      missing.push(name);
      return '';
    },
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
    ['$$(id)', '$$(id)', 'is left alone before what is no reference'],
    ['$${A%b}', '$${A%b}', 'is left alone before what a shell alone can read'],
    ['$$$A', '$alpha', 'may stand before a reference'],
    ['$$$$A', '$$A', 'may be repeated'],
    ['echo $$', 'echo $$', 'is left alone if one dollar would have no meaning'],
    ['$$ $1 $? $! $@ a$', '$$ $1 $? $! $@ a$', 'is not needed before anything but a name'],
    ['${NONE:-$$A}', '$A', 'works inside a default'],
    ['${NONE:-$${B} c}', '${B} c', 'keeps the brace of its reference inside a default'],
  ])('a double dollar in %s (%s) %s', (text, expected) => {
    expect(render(text)).toEqual({ text: expected, missing: [] });
  });

  it.each(['$A', 'pa$$word', '$$A', 'a$b$c', '$'])(
    'leaves %s unchanged if names without braces are not expanded',
    (text) => {
      expect(render(text, 'plain')).toEqual({ text, missing: [] });
    },
  );

  it.each([
    '$(id)',
    'a $((1+1))',
    '`id`',
    '``',
    'a`b',
    '${}',
    '${A',
    '${A B}',
    '${A-x}',
    '${A%.*}',
    '${A%%.*}',
    '${A#b}',
    '${A/b/c}',
    '${A:0:2}',
    '${A:?x}',
    '${A[@]}',
    '${#A}',
    '${!A}',
    '${1}',
    '$1 $# $@ $?',
    '${input:}',
    '${input:a b}',
    '${/:-x}',
    '${A:-x',
    '${x:-'.repeat(100_000),
  ])('%.20s is text like any other', (text) => {
    expect(render(text)).toEqual({ text, missing: [] });
    expect(render(text, 'plain')).toEqual({ text, missing: [] });
    expect(render(text, 'code')).toEqual({ text, missing: [] });
  });

  it('may stand beside such text and inside it', () => {
    expect(render('${NONE:-$(id)} ${NONE:-<${A%x}>} ${A:-${B} ${A%x}${A}')).toEqual({
      text: '$(id) <${A%x}> ${A:-beta ${A%x}alpha',
      missing: [],
    });
  });

  it('in code has only inputs and folders', () => {
    const code =
      'for f in ${A} $A ${env:A} ${A:-x}; do cd ${workspaceFolder}; echo $$ ${input:key} ${/}; done';
    expect(render(code, 'code')).toEqual({
      text: 'for f in ${A} $A ${env:A} ${A:-x}; do cd <workspaceFolder>; echo $$ <input:key> ${/}; done',
      missing: [],
    });
  });

  it('reports the variables that are not set and have no default', () => {
    expect(render('$X ${Y} ${A} ${Z:-${W}}')).toEqual({ text: '  alpha ', missing: ['X', 'Y', 'W'] });
  });

  it('lists the variables it refers to, with their origin, including those in defaults', () => {
    const text = '$A ${B:-${C}} ${workspaceFolder} ${env:workspaceFolder} ${input:api-key} ${/} $$D';
    const found = variablesIn(parseTemplate(text, 'command-line'));
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

  it('can be made from any text, and renders to that text', () => {
    const unit = fc.constantFrom(
      '$',
      '{',
      '}',
      '(',
      '`',
      'A',
      ':',
      '-',
      '~',
      ' ',
      '${A:-',
      '${A}',
      '${userHome}',
    );
    fc.assert(
      fc.property(fc.string({ unit }), SYNTAXES, (literal, syntax) => {
        expect(render(escapeTemplate(literal, syntax), syntax)).toEqual({ text: literal, missing: [] });
      }),
    );
  });
});

describe('for any text', () => {
  it('without a dollar, rendering changes nothing', () => {
    const plain = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('$'));
    fc.assert(
      fc.property(plain, SYNTAXES, (text, syntax) => {
        expect(render(text, syntax)).toEqual({ text, missing: [] });
      }),
    );
  });

  it('parsing never throws, and a value is inserted unchanged', () => {
    const noise = fc.string({ unit: fc.constantFrom('$', '{', '}', '(', '`', 'A', ':', '-', 'x', '~') });
    fc.assert(
      fc.property(noise, noise, (text, value) => {
        parseTemplate(text, 'command-line');
        parseTemplate(text, 'plain');
        const parts = parseTemplate('<${A}>', 'plain');
        const rendered = renderTemplate(
          parts,
          () => value,
          () => '',
        );
        expect(rendered).toBe(`<${value}>`);
      }),
    );
  });
});
