/**
 * Generates small mistakes in one source file of `machines/`, one at a time.
 *
 * Owns the kinds of mistakes. A removed element of an object or a list is replaced by `...{}` or `...[]`, which keeps the
 * text valid in every position.
 *
 * Longer than most files because it is a list of mistakes.
 */
import { parseSync } from 'oxc-parser';

/** Properties for people, which no machine reads. */
const WORDS = new Set(['description', 'message', 'hint']);
/** Properties of a chart whose strings are handled separately, or must be valid names for the chart to load. */
const NAMES = new Set([
  'target',
  'guard',
  'actions',
  'entry',
  'exit',
  'src',
  'id',
  'initial',
  'always',
  'onDone',
  'onError',
  'tags',
]);
const SWAPPED = {
  '&&': '||',
  '||': '&&',
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '**': '*',
  '>>>': '>>',
  '^': '|',
  '+=': '-=',
};
const OTHER_CALL = {
  'Math.min': 'Math.max',
  'Math.max': 'Math.min',
  'Math.floor': 'Math.ceil',
  'Math.ceil': 'Math.floor',
  'Math.round': 'Math.floor',
};
/** Calls that a mutant replaces by their receiver. */
const WITHOUT = new Set(['filter', 'slice', 'toSorted', 'map']);
const EMPTIED = { assign: '() => ({})', enqueueActions: '() => {}' };

/**
 * The mutants of a file: `place` describes the position, `what` the change, `text` is the whole changed file. Place and
 * change identify a mutant as long as its surroundings keep their names, even if lines move. `chart` has the texts of all
 * files of the chart.
 */
export function mutantsOf(file, source, chart = [source]) {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const states = stateIdsIn(chart.map((text) => parseSync(file, text).program));
  const found = [];
  const seen = new Map();

  const add = (node, replacement, place) => {
    const { start, end } = node;
    const what = `${shortened(source.slice(start, end))} → ${shortened(replacement)}`;
    const base = `${file} | ${place.join('.')} | ${what}`;
    const times = (seen.get(base) ?? 0) + 1;
    seen.set(base, times);
    found.push({
      id: times === 1 ? base : `${base} (${times})`,
      file,
      line: source.slice(0, start).split('\n').length,
      place: place.join('.'),
      what,
      text: source.slice(0, start) + replacement + source.slice(end),
    });
  };
  const textOf = ({ start, end }) => source.slice(start, end);

  visit(program, [], [], (node, parents, place) => {
    for (const [span, replacement] of mistakesAt(node, parents, textOf, states))
      add(span, replacement, place);
  });
  return found;
}

function shortened(text) {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= 60 ? line : `${line.slice(0, 57)}…`;
}

/** Depth first, without types. */
function visit(node, parents, place, see) {
  if (isOnlyType(node)) return;
  const here = nameOf(node, parents) === undefined ? place : [...place, nameOf(node, parents)];
  see(node, parents, here);
  const below = [...parents, node];
  for (const [key, value] of Object.entries(node)) {
    if (key === 'typeAnnotation' || key === 'typeArguments' || key === 'returnType') continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === 'string') visit(child, below, here, see);
    }
  }
}

function isOnlyType({ type, source }) {
  if (type === 'ImportDeclaration' || (type.startsWith('Export') && source)) return true;
  return type.startsWith('TS') && !/^TS(As|Satisfies|NonNull)/.test(type);
}

function nameOf(node, parents) {
  if (node.type === 'Property') return node.key.name ?? node.key.value;
  if (node.type === 'VariableDeclarator' || node.type === 'FunctionDeclaration') return node.id?.name;
  const parent = parents.at(-1);
  if (node.type === 'ObjectExpression' && parent?.type === 'ArrayExpression') {
    return String(parent.elements.indexOf(node));
  }
  return undefined;
}

function* mistakesAt(node, parents, textOf, states) {
  yield* chartMistakes(node, parents, states);
  yield* expressionMistakes(node, parents, textOf);
}

// --- charts ---

function* chartMistakes(node, parents, states) {
  if (node.type === 'ArrayExpression' && hasBranches(node, parents)) yield* noLastBranch(node);
  if (node.type === 'SpreadElement' && heldBy(parents) === 'on') yield [node, '...{}'];
  if (node.type !== 'Property' || parents.at(-1).type === 'ObjectPattern') return;
  const { key, value } = node;
  const name = key.name ?? key.value;
  if (isTransition(node, parents) && isInChart(value)) yield* transitionMistakes(node, states);
  if (name === 'on' && value.type === 'Identifier') yield [node, '...{}'];
  if (name === 'target' && isString(value)) {
    yield [value, quoted(otherState(value.value, states))];
    yield [node, '...{}'];
  }
  if (name === 'initial' && isString(value)) {
    const other = siblingStates(parents.at(-1)).find((state) => state !== value.value);
    if (other !== undefined) yield [value, quoted(other)];
  }
  if (name === 'guard') {
    yield [value, '() => true'];
    yield [value, '() => false'];
  }
  if (['actions', 'entry', 'exit', 'tags', 'invoke'].includes(name) && isInChart(value)) yield* oneLess(node);
  if (name === 'type' && (value.value === 'final' || value.value === 'parallel')) yield [node, '...{}'];
}

function* transitionMistakes(property, states) {
  const { value } = property;
  if (isString(value)) yield [value, quoted(otherState(value.value, states))];
  yield [property, '...{}'];
}

/** Of several branches, the one that is taken if no guard holds. */
function* noLastBranch({ elements }) {
  for (const branch of elements) if (!propertyOf(branch, 'guard')) yield [branch, '...[]'];
}

/** Removes one action, tag or invoked actor. */
function* oneLess(property) {
  const { value } = property;
  if (value.type === 'ArrayExpression') for (const element of value.elements) yield [element, '...[]'];
  else yield [property, '...{}'];
}

/** Whether the node is in a declaration of `setup`, which has functions in place of names, lists and records. */
function isInChart(value) {
  if (value.type === 'ObjectExpression') {
    return value.properties.length === 0 || value.properties.some(({ key }) => CHART_KEYS.has(key?.name));
  }
  return (
    isString(value) ||
    value.type === 'ArrayExpression' ||
    value.type === 'CallExpression' ||
    value.type === 'MemberExpression' ||
    value.type === 'Identifier'
  );
}

/** The name of a list of branches that several states share. */
function hasBranches(list, parents) {
  const property = parents.at(-1);
  return (
    isTransition(property, parents.slice(0, -1)) || list.elements.some((each) => propertyOf(each, 'guard'))
  );
}

/** Whether an object has transitions that several states share, by event. */
function isTransition({ type, key }, parents) {
  if (type !== 'Property') return false;
  const name = key.name ?? key.value;
  return ['on', 'after'].includes(heldBy(parents)) || TRANSITIONS.has(name) || /^\w+\.\w+$/.test(name);
}

const TRANSITIONS = new Set(['onDone', 'onError', 'always']);

const CHART_KEYS = new Set(['type', 'target', 'guard', 'actions', 'src', 'reenter']);

/** Name of the property of the parent object of this one. */
function heldBy(parents) {
  const owner = parents.at(-2);
  return owner?.type === 'Property' ? owner.key.name : undefined;
}

function propertyOf(object, name) {
  return object?.properties?.find(({ key }) => key?.name === name);
}

function siblingStates(object) {
  return propertyOf(object, 'states')?.value.properties.map(({ key }) => key.name ?? key.value) ?? [];
}

/** The full id of another state of the chart than the intended one. */
function otherState(target, states) {
  const last = target.split('.').at(-1);
  const at = states.findIndex((id) => id === target || id.endsWith(`.${last}`));
  const meant = states[at] ?? target;
  const others = [...states.slice(at + 1), ...states.slice(0, Math.max(at, 0))];
  return others.find((id) => !`${id}.`.startsWith(`${meant}.`) && !`${meant}.`.startsWith(`${id}.`));
}

/** `#machine.state.state` of every state, in document order. A state may have a name and be in another file. */
function stateIdsIn(programs) {
  const ids = [];
  const named = new Map();
  const walk = (object, path) => {
    for (const { key, value } of propertyOf(object, 'states')?.value.properties ?? []) {
      const below = `${path}.${key.name ?? key.value}`;
      ids.push(below);
      const state = value.type === 'Identifier' ? named.get(value.name) : value;
      walk(state?.type === 'CallExpression' ? state.arguments[0] : state, below);
    }
  };
  const each = (see) => programs.forEach((program) => visit(program, [], [], see));
  each((node) => {
    if (node.type === 'VariableDeclarator' && node.init) named.set(node.id.name, node.init);
  });
  each((node) => {
    if (node.type !== 'CallExpression' || node.callee.property?.name !== 'createMachine') return;
    walk(node.arguments[0], `#${propertyOf(node.arguments[0], 'id').value.value}`);
  });
  return ids;
}

// --- expressions ---

function* expressionMistakes(node, parents, textOf) {
  switch (node.type) {
    case 'LogicalExpression':
      if (node.operator === '??') yield [node, textOf(node.left)];
      else yield [node, swapped(node, textOf)];
      return;
    case 'BinaryExpression':
    case 'AssignmentExpression':
      if (SWAPPED[node.operator] !== undefined) yield [node, swapped(node, textOf)];
      return;
    case 'UnaryExpression':
      if (node.operator === '!' || node.operator === '-') yield [node, textOf(node.argument)];
      return;
    case 'ConditionalExpression':
    case 'IfStatement':
      yield [node.test, 'true'];
      yield [node.test, 'false'];
      return;
    case 'ExpressionStatement':
      if (parents.at(-1).type === 'BlockStatement') yield [node, ';'];
      return;
    case 'CallExpression':
      yield* callMistakes(node, textOf);
      return;
    case 'ObjectExpression':
      if (isInFunction(parents)) yield* oneFieldLess(node, parents);
      return;
    case 'Literal':
      yield* literalMistakes(node, parents);
  }
}

/** Whether an expression must not change, because the chart needs it to load or another mistake covers it. */
function* oneFieldLess({ properties }, parents) {
  const isReference = NAMES.has(nearestName(parents));
  for (const each of properties) {
    const name = each.key?.name;
    if (NAMES.has(name) || name === 'description' || (isReference && name === 'type')) continue;
    yield [each, '...{}'];
  }
}

function nearestName(parents) {
  const property = parents.findLast(({ type }) => type === 'Property');
  return property?.key.name ?? property?.key.value;
}

function swapped({ left, operator, right }, textOf) {
  return `(${textOf(left)}) ${SWAPPED[operator]} (${textOf(right)})`;
}

function* callMistakes({ callee, arguments: [first], ...call }, textOf) {
  const name = textOf(callee);
  if (OTHER_CALL[name] !== undefined) yield [callee, OTHER_CALL[name]];
  if (name === 'Math.abs') yield [callee, ''];
  const method = callee.type === 'MemberExpression' ? callee.property.name : undefined;
  if (WITHOUT.has(method)) yield [call, textOf(callee.object)];
  if (method === 'some') yield [callee.property, 'every'];
  if (EMPTIED[name] !== undefined && first?.type === 'ArrowFunctionExpression') yield [first, EMPTIED[name]];
}

function* literalMistakes(node, parents) {
  const parent = parents.at(-1);
  if (parent.type === 'Property' && parent.key === node) return;
  if (typeof node.value === 'boolean') yield [node, String(!node.value)];
  if (typeof node.value === 'number') yield [node, `(${node.raw} + 1)`];
  if (isString(node) && isDecidedBy(parents)) yield [node, quoted('mutant')];
}

/** Whether a string is compared or sent, and is neither a name in a chart nor a text for people. */
function isDecidedBy(parents) {
  const name = nearestName(parents);
  if (parents.at(-1).type === 'NewExpression') return false;
  if (name === undefined) return true;
  if (isInFunction(parents)) return !WORDS.has(name) && !NAMES.has(name) && !isReferenceType(name, parents);
  if (WORDS.has(name) || NAMES.has(name)) return false;
  const owners = ownersOf(parents);
  return name !== 'type' && !owners.includes('on') && !owners.includes('after');
}

function isReferenceType(name, parents) {
  return name === 'type' && ['guard', 'actions'].includes(ownersOf(parents).at(-2));
}

function ownersOf(parents) {
  return parents.filter(({ type }) => type === 'Property').map(({ key }) => key.name);
}

function isInFunction(parents) {
  return parents.some(({ type }) => type === 'ArrowFunctionExpression' || type === 'FunctionDeclaration');
}

function isString(node) {
  return node?.type === 'Literal' && typeof node.value === 'string';
}

function quoted(text) {
  return `'${text}'`;
}
