import { describe, expect, it } from 'vitest';
import { readDeclarations } from '../../support/tools/docs-generators.js';

const only = (source: string) => {
  const [declaration] = readDeclarations(source).values();
  if (declaration === undefined) throw new Error('nothing was declared');
  return declaration;
};

describe('the parser of the sources', () => {
  it('recognizes whether a declaration is exported, abstract or extends another.', () => {
    const source = `
import type { A } from './a.js';
export abstract class Base extends Error {}
class Hidden extends Base {}
export interface Wide extends Narrow {}
export type Word = 'a' | 'b';
export const LIMIT = 60_000;
export function f(): { a: string } {
  return { a: 'export const b;' };
}`;
    const read = [...readDeclarations(source).values()];
    expect(read.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'class Base',
      'class Hidden',
      'interface Wide',
      'type Word',
      'const LIMIT',
    ]);
    expect(read.map(({ isExported }) => isExported)).toEqual([true, false, true, true, true]);
    expect(read.map(({ parent }) => parent)).toEqual(['Error', 'Base', 'Narrow', null, null]);
    expect(read.filter(({ isAbstract }) => isAbstract).map(({ name }) => name)).toEqual(['Base']);
    expect(read.map(({ type }) => type)).toEqual(['', '', '', "'a' | 'b'", '60_000']);
  });

  it('leaves the block tags of a comment out.', () => {
    const { doc } = only(`
/**
 * Decides about a lamp.
 *
 * @param lamp The lamp
 *   in question.
 */
export type Rule = (lamp: Lamp) => boolean;`);
    expect(doc).toBe('Decides about a lamp.');
  });

  it('gives every member its own comment, and no comment to a member without one.', () => {
    const { members, doc } = only(`
/**
 * What it is,
 * in two lines.
 */
export interface Options {
  /** First; with a semicolon and a brace }. */
  readonly first: string; // not a doc comment
  second?: number;
  /* not a doc comment */
  readonly third: 'x;y' | "}" | \`{\`;
  /** Called. */
  call(of: { a: number; b: number }): void;
  /** Named like a thing every object has. */
  readonly constructor_: string;
}`);
    expect(doc).toBe('What it is, in two lines.');
    expect(
      members.map(({ name, isOptional, type, doc: meaning }) => [name, isOptional, type, meaning]),
    ).toEqual([
      ['first', false, 'string', 'First; with a semicolon and a brace }.'],
      ['second', true, 'number', ''],
      ['third', false, `'x;y' | "}" | \`{\``, ''],
      ['call', false, '(of: { a: number; b: number }): void', 'Called.'],
      ['constructor_', false, 'string', 'Named like a thing every object has.'],
    ]);
  });

  it('reads the members of an inline object type.', () => {
    const [ping] = only(`interface Policy {
  readonly ping: {
    /** Silence before a ping. */
    readonly idleMs: number;
    readonly timeoutMs: number;
  };
}`).members;
    expect(ping?.type).toBe('{ idleMs: number; timeoutMs: number; }');
    expect(ping?.members().map(({ name, doc }) => [name, doc])).toEqual([
      ['idleMs', 'Silence before a ping.'],
      ['timeoutMs', ''],
    ]);
  });

  it('reads the values of a class and leaves out its constructor.', () => {
    const { members } = only(`export class LaunchError extends Error {
  readonly code = 'LAUNCH_FAILED';
  readonly problems: readonly string[];

  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.problems = [];
  }
  /** After it. */
  readonly last: number;
}`);
    expect(members.map(({ name, type, value, doc }) => [name, type, value, doc])).toEqual([
      ['code', '', "'LAUNCH_FAILED'", ''],
      ['problems', 'string[]', '', ''],
      ['last', 'number', '', 'After it.'],
    ]);
  });

  it('splits a union, each alternative with the comment before it.', () => {
    const variants = only(`export type Body =
  /** The first. */
  | { readonly type: 'a'; readonly n: 1 | 2 }
  /** The second. */
  | ({
      readonly type: 'b';
      /** Inside. */
      readonly m?: string | null;
    } & Shared)
  | { readonly type: 'c' };`).variants();
    expect(variants.map(({ doc, references }) => [doc, ...references])).toEqual([
      ['The first.'],
      ['The second.', 'Shared'],
      [''],
    ]);
    expect(variants.map(({ members }) => members.map(({ name, type }) => `${name}: ${type}`))).toEqual([
      ["type: 'a'", 'n: 1 | 2'],
      ["type: 'b'", 'm: string | null'],
      ["type: 'c'"],
    ]);
    expect(variants[1]?.members[1]?.doc).toBe('Inside.');
  });

  it('keeps the lines of a list in a comment.', () => {
    expect(only('/**\n * - `a`: one\n *   thing.\n * - `b`: another.\n */\nexport type T = 1;').doc).toBe(
      '- `a`: one thing.\n- `b`: another.',
    );
  });

  it.each([
    ['a member it does not understand', 'export interface A {\n  [key: string]: number;\n}'],
    ['a declaration it does not understand', 'export enum A {\n  B,\n}'],
    ['a brace that is never closed', 'export interface A {\n  b: {;\n}\nexport interface C {}'],
  ])('refuses %s instead of leaving it out.', (_, source) => {
    expect(() => readDeclarations(source)).toThrow(/cannot|can be documented|Understood/);
  });
});
