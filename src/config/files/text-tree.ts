/**
 * A configuration text as a tree with the position of every part, for every syntax.
 *
 * The nodes are those of `jsonc-parser`, whose types users do not have; the readers of other syntaxes build the same. It knows
 * nothing of servers.
 */
import type { Path, Position } from '../entry/problem.js';
import { digitGroups } from '../../text/digit-groups.js';
import { asText } from '../../text/as-text.js';

export interface TreeNode {
  readonly type: 'object' | 'array' | 'property' | 'string' | 'number' | 'boolean' | 'null';
  readonly value?: unknown;
  readonly offset: number;
  readonly length: number;
  readonly children?: TreeNode[];
}

/** A named part of an object. */
export interface Member {
  readonly name: string;
  readonly node: TreeNode;
  /** Position of the name. */
  readonly position: Position;
}

export interface TextTree {
  readonly root: TreeNode;
  positionOf(node: TreeNode): Position;
  /** The member of an object with that name; of a repeated name, the last. */
  memberOf(node: TreeNode, name: string): Member | undefined;
}

export type ParsedText =
  | { readonly kind: 'tree'; readonly tree: TextTree }
  /** Nothing but white space and comments. */
  | { readonly kind: 'empty' }
  | ({
      readonly kind: 'broken';
      readonly code: 'syntax-error' | 'too-complex';
      readonly message: string;
    } & Position);

/** Never throws. A message contains nothing of the text. */
export type ReadTree = (text: string) => ParsedText;

/** A name that an object contains more than once, at its later position. */
export interface Repeat extends Position {
  readonly path: Path;
}

/** Nodes within each other, at most: a named part of an object is two. Readers count before a parser recurses. */
export const DEEPEST = 200;

/** The result for a parsed tree. A tree that is nested too deeply is refused, so that recursion over it is safe. */
export function toParsedText(root: TreeNode, positionAt: (offset: number) => Position): ParsedText {
  if (isDeeperThan(DEEPEST, root)) return TOO_DEEP;
  return { kind: 'tree', tree: new LocatedTree(root, positionAt) };
}

class LocatedTree implements TextTree {
  /** Built once for each object, because every one of its members may be looked up. */
  readonly #members = new WeakMap<TreeNode, ReadonlyMap<string, Member>>();

  constructor(
    readonly root: TreeNode,
    private readonly positionAt: (offset: number) => Position,
  ) {}

  positionOf(node: TreeNode): Position {
    return this.positionAt(node.offset);
  }

  memberOf(node: TreeNode, name: string): Member | undefined {
    const known = this.#members.get(node);
    const members = known ?? new Map(membersOf(this, node).map((member) => [member.name, member]));
    if (known === undefined) this.#members.set(node, members);
    return members.get(name);
  }
}

export const TOO_DEEP = {
  kind: 'broken',
  code: 'too-complex',
  message: 'is nested too deeply',
  line: 1,
  column: 1,
} as const;

// How long a parser takes depends far more on the structure of a text than on its length, so that is measured first.

export function tooMuch(most: number, what: string): ParsedText {
  const message = `has more than ${digitGroups(most)} ${what}, too many for a configuration`;
  return { kind: 'broken', code: 'too-complex', message, line: 1, column: 1 };
}

/** Whether the text has more of these characters; `characters` is a global expression. */
export function hasMoreThan(most: number, characters: RegExp, text: string): boolean {
  const found = new RegExp(characters);
  for (let count = 0; found.test(text); count += 1) if (count === most) return true;
  return false;
}

/** Members in the order of the text, including repeated names. Empty if `node` is not an object. */
export function membersOf(tree: TextTree, node: TreeNode): readonly Member[] {
  if (node.type !== 'object') return [];
  return (node.children ?? []).flatMap(({ children: [name, value] = [] }) =>
    name === undefined || value === undefined
      ? []
      : [{ name: asText(name.value), node: value, position: tree.positionOf(name) }],
  );
}

/** The value as plain data. Of a repeated name, the last one counts, as in `JSON.parse`. */
export function valueOf(node: TreeNode): unknown {
  switch (node.type) {
    case 'array':
      return (node.children ?? []).map(valueOf);
    case 'object':
      return Object.fromEntries(
        (node.children ?? []).flatMap(({ children: [name, value] = [] }) =>
          name === undefined || value === undefined ? [] : [[asText(name.value), valueOf(value)]],
        ),
      );
    default:
      return node.value;
  }
}

/** The position of the last existing step of `path` below `member`: a name, or an item of a list. */
export function locate(tree: TextTree, member: Member, path: Path): Position {
  const [step, ...rest] = path;
  if (typeof step === 'string') {
    const next = tree.memberOf(member.node, step);
    return next === undefined ? member.position : locate(tree, next, rest);
  }
  const item = step === undefined ? undefined : member.node.children?.[step];
  return item === undefined || member.node.type !== 'array' ? member.position : tree.positionOf(item);
}

/** Names written more than once in the objects below `node`. */
export function repeatsIn(tree: TextTree, node: TreeNode, path: Path = []): readonly Repeat[] {
  if (node.type === 'array') {
    return (node.children ?? []).flatMap((item, index) => repeatsIn(tree, item, [...path, index]));
  }
  const seen = new Set<string>();
  return membersOf(tree, node).flatMap(({ name, node: value, position }) => {
    const repeat = seen.has(name) ? [{ path: [...path, name], ...position }] : [];
    seen.add(name);
    return [...repeat, ...repeatsIn(tree, value, [...path, name])];
  });
}

export function makePositionFinder(text: string): (offset: number) => Position {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) starts.push(index + end.length);
  return (offset) => {
    let line = 0;
    for (let after = starts.length; after - line > 1;) {
      const middle = (line + after) >> 1;
      if ((starts[middle] ?? 0) <= offset) line = middle;
      else after = middle;
    }
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
}

export function withoutByteOrderMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function isDeeperThan(limit: number, node: TreeNode): boolean {
  return limit < 0 || (node.children ?? []).some((child) => isDeeperThan(limit - 1, child));
}
