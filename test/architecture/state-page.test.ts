/**
 * `docs/explanation/where-state-lives.md` lists all mutable state outside `machines/`: the page names every owner of state
 * in `src/`, and only those.
 *
 * An owner is a declaration at the top of a file: a class, a function, or a variable. It holds state if it has
 * - a field that is not `readonly`, or a readonly one that starts as a new collection;
 * - a variable of the module that is a `let`, or a collection that starts empty;
 * - a local variable that outlives a turn: a nested function changes it, or it is a `let` of a function that waits.
 *
 * A syntax tree has no types, so a change through a property (`turn.requests += 1`) is not found. The owners of such
 * records are found for other reasons. The counter of a `for` loop does not count.
 */
import { readFileSync } from 'node:fs';
import { parseSync, visitorKeys, type Node } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { readFiles } from '../../tools/import-graph.mjs';

const STATEFUL = new Set(['Map', 'Set', 'WeakMap', 'WeakSet', 'AbortController', 'AsyncLocalStorage']);
const CHANGES = new Set([
  'set',
  'add',
  'delete',
  'clear',
  'push',
  'pop',
  'shift',
  'unshift',
  'splice',
  'abort',
]);

type FunctionNode = Extract<
  Node,
  { type: 'FunctionDeclaration' | 'FunctionExpression' | 'ArrowFunctionExpression' }
>;
type Declarator = Extract<Node, { type: 'VariableDeclarator' }>;

function childrenOf(node: Node): readonly Node[] {
  return (visitorKeys[node.type] ?? [])
    .flatMap((key) => (node as never)[key] as Node | readonly Node[] | null | undefined)
    .filter((child) => child !== null && child !== undefined);
}

function isFunction(node: Node): node is FunctionNode {
  return /^(?:Function(?:Declaration|Expression)|ArrowFunctionExpression)$/.test(node.type);
}

/** Calls `visit` for every node, with the functions around it, the innermost last. */
function walk(
  node: Node,
  visit: (node: Node, around: readonly FunctionNode[]) => void,
  around: readonly FunctionNode[] = [],
): void {
  visit(node, around);
  const inside = isFunction(node) ? [...around, node] : around;
  for (const child of childrenOf(node)) walk(child, visit, inside);
}

function nameOf(node: Node | null | undefined): string {
  return node?.type === 'Identifier' ? node.name : '';
}

function isStateful(value: Node | null): boolean {
  if (value?.type === 'ArrayExpression') return value.elements.length === 0;
  return value?.type === 'NewExpression' && STATEFUL.has(nameOf(value.callee));
}

/** Whether the annotation, if there is one, makes it readonly. */
function isReadonly(type: Node | null | undefined): boolean {
  if (type?.type === 'TSTypeOperator') return true;
  return type?.type === 'TSTypeReference' && !STATEFUL.has(nameOf(type.typeName));
}

function isMutableField(node: Node): boolean {
  if (node.type === 'TSParameterProperty') return !node.readonly;
  if (node.type !== 'PropertyDefinition') return false;
  return !node.readonly || (isStateful(node.value) && !isReadonly(node.typeAnnotation?.typeAnnotation));
}

function isStatefulConstant({ id, init }: Declarator): boolean {
  const type = id.type === 'Identifier' ? id.typeAnnotation?.typeAnnotation : undefined;
  const isFilled = init?.type === 'NewExpression' && init.arguments.length > 0;
  return isStateful(init) && !isFilled && !isReadonly(type);
}

/** The names that a node assigns or changes. */
function changedBy(node: Node): readonly string[] {
  switch (node.type) {
    case 'UpdateExpression':
      return [nameOf(node.argument)];
    case 'AssignmentExpression': {
      const names: string[] = [];
      if (node.left.type === 'MemberExpression') return names;
      walk(node.left, (target) => names.push(nameOf(target)));
      return names;
    }
    case 'CallExpression': {
      const { callee } = node;
      const isChange = callee.type === 'MemberExpression' && CHANGES.has(nameOf(callee.property));
      return isChange ? [nameOf(callee.object)] : [];
    }
    default:
      return [];
  }
}

function waits(node: Node): boolean {
  if (node.type === 'AwaitExpression' || node.type === 'YieldExpression') return true;
  if (node.type === 'ForOfStatement' && node.await) return true;
  return childrenOf(node).some((child) => !isFunction(child) && waits(child));
}

/** By function, the variables that can change: a `let`, or a collection. */
function localsIn(declaration: Node): ReadonlyMap<Node, ReadonlyMap<string, 'let' | 'collection'>> {
  const locals = new Map<Node, Map<string, 'let' | 'collection'>>();
  const counters = new Set<Node | null>();
  walk(declaration, (node, around) => {
    if (node.type === 'ForStatement') counters.add(node.init);
    const scope = around.at(-1);
    if (node.type !== 'VariableDeclaration' || scope === undefined || counters.has(node)) return;
    const known = locals.get(scope) ?? new Map<string, 'let' | 'collection'>();
    for (const { id, init } of node.declarations) {
      if (node.kind === 'let') known.set(nameOf(id), 'let');
      else if (isStateful(init)) known.set(nameOf(id), 'collection');
    }
    locals.set(scope, known);
  });
  return locals;
}

function hasLastingLocal(declaration: Node): boolean {
  const locals = localsIn(declaration);
  let isFound = false;
  walk(declaration, (node, around) => {
    for (const name of changedBy(node)) {
      const scope = around.findLast((each) => locals.get(each)?.has(name) === true);
      if (scope === undefined || name === '') continue;
      const isLet = locals.get(scope)?.get(name) === 'let';
      if (scope !== around.at(-1) || (isLet && scope.body !== null && waits(scope.body))) isFound = true;
    }
  });
  return isFound;
}

function holdsState(declaration: Node): boolean {
  let isFound = hasLastingLocal(declaration);
  walk(declaration, (node) => {
    if (isMutableField(node)) isFound = true;
  });
  return isFound;
}

function ownersIn(path: string, text: string): readonly string[] {
  const { program } = parseSync(path, text);
  return program.body.flatMap((statement): readonly string[] => {
    const isExport =
      statement.type === 'ExportNamedDeclaration' || statement.type === 'ExportDefaultDeclaration';
    const declared = isExport ? statement.declaration : statement;
    if (declared?.type === 'VariableDeclaration') {
      const isLet = declared.kind === 'let';
      const held = declared.declarations.filter((one) => isLet || isStatefulConstant(one) || holdsState(one));
      return held.map(({ id }) => nameOf(id));
    }
    const isNamed = declared?.type === 'ClassDeclaration' || declared?.type === 'FunctionDeclaration';
    return isNamed && holdsState(declared) ? [nameOf(declared.id)] : [];
  });
}

/** The owners in the first cells of the tables, as `PATH NAME`. A path precedes the names of its owners. */
function namedOn(page: string): readonly string[] {
  const cells = page.split('\n').flatMap((line) => /^\| (`src\/[^|]*?) *\|/.exec(line)?.[1] ?? []);
  return cells.flatMap((cell) => {
    let path = '';
    return [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, word = '']) => {
      if (!word.startsWith('src/')) return [`${path} ${word}`];
      path = word;
      return [];
    });
  });
}

const page = readFileSync(new URL('../../docs/explanation/where-state-lives.md', import.meta.url), 'utf8');

describe('a declaration', () => {
  it.each([
    ['a field that changes', 'export class A { #count = 0; }'],
    ['a field without a first value', 'class A { onclose?: () => void; }'],
    ['a parameter that is a field', 'class A { constructor(private count: number) {} }'],
    ['a field that is a collection', 'class A { readonly #all = new Map<string, number>(); }'],
    ['a field that is a list', 'class A { readonly all: string[] = []; }'],
    ['a static collection', 'class A { static readonly #all = new WeakMap<object, A>(); }'],
    ['a variable of the module', 'let A: string | undefined;'],
    ['a collection of the module', 'export const A = new WeakMap<object, number>();'],
    ['a context of the module', 'const A = new AsyncLocalStorage<string>();'],
    ['a variable that an inner function sets', 'function A() { let n = 0; return () => (n += 1); }'],
    ['one that a pattern sets', 'const A = () => { let n = 0; return () => { [n] = [1]; }; };'],
    [
      'a collection that an inner function fills',
      'function A() { const all = new Set(); return () => all.add(1); }',
    ],
    ['a variable across a wait', 'async function A() { let n = 0; await go(); n = 1; }'],
    ['one across a yield', 'function* A() { let n = 0; for (const one of all) { n += one; yield n; } }'],
    ['one in a method', 'class A { f() { let n = 0; return () => n++; } }'],
  ])('owns state if it has %s', (_, text) => {
    expect(ownersIn('a.ts', text)).toEqual(['A']);
  });

  it.each([
    'class A { readonly #name: string; readonly #rest: ReadonlySet<string> = new Set(); }',
    'const A: ReadonlyMap<string, number> = new Map();',
    "const A = new Set(['one', 'two']);",
    'function A() { let n = 0; for (const one of all) n += one; return n; }',
    'async function A() { for (let page = 1; page < 9; page += 1) await read(page); }',
    'function A() { const all = new Set(); all.add(1); return all; }',
    'interface A { count: number }',
  ])('owns no state: %s', (text) => {
    expect(ownersIn('a.ts', text)).toEqual([]);
  });
});

describe('the page on where state lives', () => {
  const held = [...readFiles(['src'], '.ts')].flatMap(([path, text]) =>
    ownersIn(path, text).map((owner) => `${path} ${owner}`),
  );
  const named = namedOn(page);

  it('is parsed by its tables', () => {
    const table = '| Owner | Holds |\n| - | - |\n| `src/a.ts` `A`, `b`; `src/c.ts` `C` | `x` of `src/d.ts` |';
    expect(namedOn(table)).toEqual(['src/a.ts A', 'src/a.ts b', 'src/c.ts C']);
  });

  it('lists every owner of state outside the machines', () => {
    const known = new Set(named);
    expect(held.filter((owner) => !known.has(owner))).toEqual([]);
  });

  it('lists only owners of state', () => {
    const found = new Set(held);
    expect(named.filter((owner) => !found.has(owner))).toEqual([]);
  });

  it('lists each owner once', () => {
    expect(named.filter((owner, index) => named.indexOf(owner) !== index)).toEqual([]);
  });
});
