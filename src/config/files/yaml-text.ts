/** Reads YAML. Follows anchors, aliases and merges within a size limit. A repeated name is an error in YAML. */
import type { Node } from 'jsonc-parser';
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  visit,
  type Document,
  type ErrorCode,
  type Pair,
} from 'yaml';
import type { Position } from '../entry/problem.js';
import {
  hasMoreThan,
  makePositionFinder,
  toParsedText,
  TOO_DEEP,
  tooMuch,
  withoutByteOrderMark,
  type ParsedText,
  type ReadTree,
} from './text-tree.js';

const EXPECTATIONS: Partial<Record<ErrorCode, string>> = {
  BAD_INDENT: 'the indentation does not fit, or a bracket is not closed',
  MISSING_CHAR: 'a character is missing here',
  MULTIPLE_DOCS: 'the document ends here, but the text continues',
  TAB_AS_INDENT: 'indent with spaces, not with tabs',
};
const MAX_NODES = 100_000;
/** Indicators of structure in a text: the parser needs milliseconds for a thousand of them. */
const MAX_INDICATORS = 20_000;
const INDICATORS = /[-?:,[\]{}&*!"'\r\n]/g;

class Refusal extends Error {
  constructor(
    message: string,
    readonly offset: number,
    readonly code: 'syntax-error' | 'too-complex' = 'syntax-error',
  ) {
    super(message);
  }
}

export const readYamlText: ReadTree = (text) => {
  const body = withoutByteOrderMark(text);
  const positionAt = makePositionFinder(body);
  if (hasMoreThan(MAX_INDICATORS, INDICATORS, body)) return tooMuch(MAX_INDICATORS, 'lists, names and lines');
  try {
    const document = parseDocument(body, { prettyErrors: false, stringKeys: true, uniqueKeys: false });
    const [error] = document.errors;
    if (error !== undefined) {
      const message = EXPECTATIONS[error.code] ?? 'this is not YAML';
      return { kind: 'broken', code: 'syntax-error', message, ...positionAt(error.pos[0]) };
    }
    const root = new TreeBuilder(document).build(document.contents, 0);
    return root.type === 'null' ? { kind: 'empty' } : toParsedText(root, positionAt);
  } catch (error) {
    return toBrokenText(error, positionAt);
  }
};

function toBrokenText(error: unknown, positionAt: (offset: number) => Position): ParsedText {
  if (error instanceof RangeError) return TOO_DEEP;
  if (!(error instanceof Refusal)) throw error;
  return { kind: 'broken', code: error.code, message: error.message, ...positionAt(error.offset) };
}

class TreeBuilder {
  private size = 0;
  private readonly targets: ReadonlyMap<unknown, unknown>;

  constructor(document: Document) {
    this.targets = targetsOf(document);
  }

  build(part: unknown, inherited: number): Node {
    this.size += 1;
    if (this.size > MAX_NODES) throw new Refusal('has too many parts', 0, 'too-complex');
    if (isAlias(part)) {
      const offset = part.range?.[0] ?? inherited;
      const target = this.targets.get(part);
      if (target === undefined) throw new Refusal('an alias has no anchor before it', offset);
      return this.build(target, offset);
    }
    if (isMap(part)) {
      const offset = part.range?.[0] ?? inherited;
      refuseRepeats(part.items, offset);
      const [merges, own] = [part.items.filter(isMerge), part.items.filter((item) => !isMerge(item))];
      const children = own.map(({ key, value }): Node => {
        const name = this.build(key, offset);
        return { ...name, type: 'property', children: [name, this.build(value, name.offset)] };
      });
      for (const { value } of merges) {
        for (const child of this.merged(value, offset, children)) children.push(child);
      }
      return { type: 'object', offset, length: 0, children };
    }
    if (isSeq(part)) {
      const offset = part.range?.[0] ?? inherited;
      return {
        type: 'array',
        offset,
        length: 0,
        children: part.items.map((item) => this.build(item, offset)),
      };
    }
    return scalarNode(part, inherited);
  }

  /** The new names that `<<` brings: from one object, or from a list of them. */
  private merged(value: unknown, offset: number, present: readonly Node[]): readonly Node[] {
    const source = this.build(value, offset);
    const known = new Set(present.map(nameOf));
    const added: Node[] = [];
    for (const object of source.type === 'array' ? (source.children ?? []) : [source]) {
      if (object.type !== 'object')
        throw new Refusal("'<<' needs an object, or a list of objects", object.offset);
      for (const child of object.children ?? []) {
        if (known.has(nameOf(child))) continue;
        known.add(nameOf(child));
        added.push(child);
      }
    }
    return added;
  }
}

/** The target of each alias: the last node before it with that anchor. Looked up once for all of them. */
function targetsOf(document: Document): ReadonlyMap<unknown, unknown> {
  const targets = new Map<unknown, unknown>();
  const anchored = new Map<string, unknown>();
  visit(document, {
    Node(_, node) {
      if (isAlias(node)) targets.set(node, anchored.get(node.source));
      else if (node.anchor !== undefined) anchored.set(node.anchor, node);
    },
  });
  return targets;
}

/** The parser itself would compare each name with every other. */
function refuseRepeats(pairs: readonly Pair[], inherited: number): void {
  const names = new Set<unknown>();
  for (const { key } of pairs) {
    const name = isScalar(key) ? key.value : key;
    if (names.has(name)) {
      const offset = isScalar(key) ? key.range?.[0] : undefined;
      throw new Refusal('a name is written more than once', offset ?? inherited);
    }
    names.add(name);
  }
}

/** A plain `<<` (YAML 1.1) is the usual way to share entries; in quotes it is an ordinary name. */
function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}

function nameOf({ children = [] }: Node): unknown {
  return children[0]?.value;
}

function scalarNode(part: unknown, inherited: number): Node {
  if (!isScalar(part)) return { type: 'null', offset: inherited, length: 0, value: null };
  const { value, source = '', range } = part;
  const place = { offset: range?.[0] ?? inherited, length: 0 };
  if (value === null || value === undefined) return { ...place, type: 'null', value: null };
  if (typeof value === 'number') return { ...place, type: 'number', value };
  if (typeof value === 'boolean') return { ...place, type: 'boolean', value };
  return { ...place, type: 'string', value: typeof value === 'string' ? value : source };
}
