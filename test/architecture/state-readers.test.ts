/**
 * Tags say what a state means. The text of a state is for people: outside `machines/`, no code inspects it or the state
 * value that it comes from.
 *
 * A syntax tree has no types, so a text is recognized by its source (`substate`, `statePath()`, `stateText()`), and a
 * value by its annotation `StateValue` or by the snapshot or the folded state that it is read from, under any name.
 */
import { parseSync, visitorKeys, type Node } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { readFiles } from '../../tools/import-graph.mjs';

/** Code that walks the states of any chart as a structure and does not test for a state by name. */
const WALKERS: Readonly<Record<string, string>> = {
  'src/event-log/format/digest.ts': 'writes a value so that the order of its regions does not matter',
  'src/event-log/replay/divergence.ts': 'compares the values of a recording and of its replay',
  'src/event-log/replay/folded-actor.ts': 'answers the guard `stateIn`, which the chart itself uses',
  'src/charts/chart-lookup.ts': 'finds the active states of a chart that is drawn',
  'visualizer/src/words/names.ts': 'writes every active state of a chart in words',
  'visualizer/src/log/visits.ts': 'counts the visits of every state of a chart that is drawn',
};

const MAKERS_OF_TEXT = new Set(['statePath', 'stateText']);
const SEARCHES = new Set(['includes', 'has', 'get', 'indexOf', 'test', 'exec', 'match', 'search', 'set']);
const COMPARISONS = new Set(['===', '!==', '==', '!=', 'in', '<', '>']);
/** Names of the objects that hold the value, by field. */
const HOLDERS = new Map([
  ['value', /(?:^place|snapshot|^folded)s?$/i],
  ['state', /^folded(?:States?)?$/i],
]);

interface Place {
  readonly node: Node;
  readonly parent: Place | undefined;
}

function placesIn(node: Node, parent?: Place): Place[] {
  const place = { node, parent };
  const below = (visitorKeys[node.type] ?? []).flatMap((key) => (node as never)[key] as Node | Node[] | null);
  return [place, ...below.flatMap((child) => (child === null ? [] : placesIn(child, place)))];
}

/** The last name of `a`, `a.name`, `#name` or `name()`. */
function nameOf(node: Node): string | undefined {
  switch (node.type) {
    case 'Identifier':
    case 'PrivateIdentifier':
      return node.name;
    case 'MemberExpression':
      return node.computed ? undefined : nameOf(node.property);
    case 'CallExpression':
      return nameOf(node.callee);
    case 'ChainExpression':
    case 'TSAsExpression':
    case 'TSNonNullExpression':
    case 'ParenthesizedExpression':
      return nameOf(node.expression);
    default:
      return undefined;
  }
}

/** Whether the node is a use of the text of a state. */
function isText({ node }: Place): boolean {
  if (node.type === 'CallExpression') return MAKERS_OF_TEXT.has(nameOf(node) ?? '');
  return (node.type === 'Identifier' || node.type === 'MemberExpression') && nameOf(node) === 'substate';
}

function isStateValue(type: Node): boolean {
  return type.type === 'TSTypeReference' && nameOf(type.typeName) === 'StateValue';
}

const FUNCTIONS = /Function|^TSMethodSignature$|^Program$/;

function scopeOf({ node, parent }: Place): Node {
  return parent === undefined || FUNCTIONS.test(node.type) ? node : scopeOf(parent);
}

/** The name that an identifier is bound to as the value of a state. */
function valueBoundBy({ node, parent }: Place): string | undefined {
  switch (node.type) {
    case 'Identifier': {
      const type = node.typeAnnotation?.typeAnnotation;
      const types = type?.type === 'TSUnionType' ? type.types : [type];
      return types.some((each) => each !== undefined && isStateValue(each)) ? node.name : undefined;
    }
    case 'VariableDeclarator':
      return node.init !== null && isValueOf(node.init) ? nameOf(node.id) : undefined;
    case 'Property': {
      const pattern = parent?.node;
      if (pattern?.type !== 'ObjectPattern') return undefined;
      const from = parent?.parent?.node;
      const type = pattern.typeAnnotation?.typeAnnotation;
      const isAnnotated = type?.type === 'TSTypeReference' && isHeldBy(node.key, type.typeName);
      const isTaken =
        from?.type === 'VariableDeclarator' && from.init !== null && isHeldBy(node.key, from.init);
      return isAnnotated || isTaken ? nameOf(node.value) : undefined;
    }
    default:
      return undefined;
  }
}

/** All such names, by scope. */
function namesOfValues(places: readonly Place[]): ReadonlyMap<Node, ReadonlySet<string>> {
  const names = new Map<Node, Set<string>>();
  for (const place of places) {
    const name = valueBoundBy(place);
    if (name === undefined) continue;
    const scope = scopeOf(place);
    names.set(scope, (names.get(scope) ?? new Set()).add(name));
  }
  return names;
}

function isNamed(
  name: string,
  { node, parent }: Place,
  names: ReadonlyMap<Node, ReadonlySet<string>>,
): boolean {
  if (names.get(node)?.has(name) === true) return true;
  return parent !== undefined && isNamed(name, parent, names);
}

/** Whether the node is a use of the value of a state. */
function isValue(place: Place, names: ReadonlyMap<Node, ReadonlySet<string>>): boolean {
  const { node } = place;
  if (node.type === 'Identifier') return isNamed(node.name, place, names);
  return (node.type === 'TSAsExpression' && isStateValue(node.typeAnnotation)) || isValueOf(node);
}

/** Whether a field of a holder, or of an element of a collection of holders, is the value of a state. */
function isHeldBy(field: Node, holder: Node): boolean {
  const pattern = HOLDERS.get(nameOf(field) ?? '');
  const { callee } = holder.type === 'CallExpression' ? holder : {};
  const collection = callee?.type === 'MemberExpression' ? callee.object : undefined;
  const names = [nameOf(holder), collection && nameOf(collection)];
  return names.some((name) => name !== undefined && pattern?.test(name) === true);
}

function isValueOf(node: Node): boolean {
  if (node.type === 'ChainExpression') return isValueOf(node.expression);
  return node.type === 'MemberExpression' && !node.computed && isHeldBy(node.property, node.object);
}

const WRAPPERS = new Set([
  'ChainExpression',
  'TSNonNullExpression',
  'ParenthesizedExpression',
  'TSAsExpression',
]);

/** How the surrounding expression inspects the place; undefined if it does not. */
function inspectionOf(place: Place): string | undefined {
  const { node, parent } = place;
  if (parent === undefined) return undefined;
  const around = parent.node;
  if (WRAPPERS.has(around.type)) return inspectionOf(parent);
  switch (around.type) {
    case 'MemberExpression':
      if (around.object === node) return 'is taken apart';
      return around.computed ? 'is a key' : undefined;
    case 'SwitchStatement':
      return around.discriminant === node ? 'is compared' : undefined;
    case 'BinaryExpression': {
      const other = around.left === node ? around.right : around.left;
      const isText =
        other.type === 'TemplateLiteral' || (other.type === 'Literal' && typeof other.value === 'string');
      const isEmpty = other.type === 'Literal' && other.value === '';
      return COMPARISONS.has(around.operator) && ((isText && !isEmpty) || around.operator === 'in')
        ? 'is compared'
        : undefined;
    }
    case 'UnaryExpression':
      return around.operator === 'typeof' ? 'is taken apart' : undefined;
    case 'CallExpression': {
      const callee = around.callee.type === 'MemberExpression' ? around.callee : undefined;
      if (callee === undefined || around.callee === node) return undefined;
      if (nameOf(callee.object) === 'Object') return 'is taken apart';
      return SEARCHES.has(nameOf(callee) ?? '') ? 'is searched' : undefined;
    }
    case 'ForInStatement':
      return around.right === node ? 'is taken apart' : undefined;
    case 'VariableDeclarator':
      return around.init === node && around.id.type === 'ObjectPattern' ? 'is taken apart' : undefined;
    default:
      return undefined;
  }
}

/** Another name would hide that it is the text of a state. */
function isRenamed({ node, parent }: Place): boolean {
  if (node.type !== 'Property' || parent?.node.type !== 'ObjectPattern' || nameOf(node.key) !== 'substate')
    return false;
  const bound = node.value.type === 'AssignmentPattern' ? node.value.left : node.value;
  return nameOf(bound) !== 'substate';
}

/** `snapshot.matches()` tests for a state by name. */
function isAskedByName({ node }: Place): boolean {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false;
  return nameOf(node.callee) === 'matches' && /snapshot$/i.test(nameOf(node.callee.object) ?? '');
}

function readersIn(texts: ReadonlyMap<string, string>): string[] {
  return [...texts].flatMap(([path, text]) => {
    const { program } = parseSync(path, text);
    const places = placesIn(program);
    const names = namesOfValues(places);
    const foundAt = (place: Place): string | undefined => {
      if (isRenamed(place)) return 'the text of a state is renamed';
      if (isAskedByName(place)) return 'a state is tested by its name';
      const what = isText(place) ? 'text' : isValue(place, names) ? 'value' : undefined;
      const how = what === undefined ? undefined : inspectionOf(place);
      return how === undefined ? undefined : `the ${what} of a state ${how}`;
    };
    return places.flatMap((place) => {
      const found = foundAt(place);
      if (found === undefined) return [];
      return [`${path}:${text.slice(0, place.node.start).split('\n').length} ${found}`];
    });
  });
}

const everything = new Map([
  ...readFiles(['src', 'visualizer/src'], '.ts'),
  ...readFiles(['visualizer/src'], '.tsx'),
]);
const fileOf = (found: string): string => found.slice(0, found.indexOf(':'));

describe('the state of a machine', () => {
  it.each([
    ["if (row.substate === 'dormant') go();", 'the text of a state is compared'],
    [
      "const { substate } = row; if (substate.includes('dormant')) go();",
      'the text of a state is taken apart',
    ],
    ["const [first] = status?.substate!.split('.');", 'the text of a state is taken apart'],
    ['if (/dormant/.test(row.substate)) go();', 'the text of a state is searched'],
    ["if (['dormant'].includes(statePath(value))) go();", 'the text of a state is searched'],
    ['const word = WORDS[row.substate];', 'the text of a state is a key'],
    ["switch (stateText(value)) { case 'dormant': go(); }", 'the text of a state is compared'],
    ['const { substate: below } = row;', 'the text of a state is renamed'],
    ["if (actor.getSnapshot().value === 'idle') go();", 'the value of a state is compared'],
    ['const { ready } = this.#folded.value;', 'the value of a state is taken apart'],
    ['const phase = (snapshot.value as Value).phase;', 'the value of a state is taken apart'],
    [
      'function f(state: StateValue | null) { return Object.keys(state); }',
      'the value of a state is taken apart',
    ],
    ['const f = (at: StateValue) => typeof at;', 'the value of a state is taken apart'],
    ['const { phase } = state as StateValue;', 'the value of a state is taken apart'],
    [
      "const at = foldedStates.get('$')?.state; if (typeof at === 'string') go();",
      'the value of a state is taken apart',
    ],
    ["const { state } = folded; if (state === 'idle') go();", 'the value of a state is compared'],
    ["const f = ({ state }: FoldedState) => state['phase'];", 'the value of a state is taken apart'],
    ["if (snapshot.matches('ready')) go();", 'a state is tested by its name'],
  ])('is found if code inspects it: %s', (text, found) => {
    expect(readersIn(new Map([['a.ts', text]]))).toContain(`a.ts:1 ${found}`);
  });

  it.each([
    "const words = row.substate === '' ? row.state : `${row.state} (${row.substate})`;",
    'const row = { state: now.state, substate: now.substate };',
    'const isMoved = now.substate !== before?.substate;',
    'const now = publicState(snapshot.value);',
    'function f(state: StateValue | null) { return state === null ? undefined : publicState(state).state; }',
    'const f = (values: readonly StateValue[]) => values[0];',
    'if (step.value.length > 0) go();',
  ])('may be passed on and shown: %s', (text) => {
    expect(readersIn(new Map([['a.ts', text]]))).toEqual([]);
  });

  it('is inspected only in `machines/` and by code that walks the states of any chart', () => {
    const found = readersIn(everything);
    expect(found.filter((reader) => WALKERS[fileOf(reader)] === undefined)).toEqual([]);
    const walkers = new Set(found.map(fileOf));
    expect(Object.keys(WALKERS).filter((path) => !walkers.has(path))).toEqual([]);
  });
});
