/**
 * Finds the entries in a configuration file by its layout, or says why there are none.
 */
import type { ConfigProblem } from '../../errors.js';
import { translateVsCode } from '../hosts/editors.js';
import { translateOpencode } from '../hosts/agents.js';
import type { Translate } from '../hosts/translation.js';
import { WRAPPED, type Holder, type Layout } from './layout.js';
import { nearestName } from '../../text/option-names.js';
import { fieldName, printable } from '../entry/problem.js';
import { isObject, kindOf } from '../entry/read-shape.js';
import { ENTRY_FIELDS } from '../entry/entry-fields.js';
import { membersOf, valueOf, type Member, type TextTree, type TreeNode } from './text-tree.js';

export type ReportProblem = (problem: Omit<ConfigProblem, 'source'>) => void;

export interface FoundServer extends Member {
  readonly translate: Translate;
}

interface FoundHolder extends Member {
  readonly holder: Holder;
}

const MAX_KEYS_SHOWN = 5;
const ADDRESS_FIELDS = ['url', ...ENTRY_FIELDS.url.aliases];

export const REPEATED = {
  code: 'repeated-name',
  severity: 'warning',
  message: 'is written more than once; this one counts',
} as const;

/**
 * The entries of every place that may hold servers, in the order of the layout. If a name is repeated, the last entry
 * counts.
 */
export function findServers(tree: TextTree, layout: Layout, report: ReportProblem): readonly FoundServer[] {
  const top = membersOf(tree, tree.root);
  const found = layout.holders.flatMap((holder) => top.flatMap((member) => descend(tree, member, holder)));
  if (found.length === 0) {
    if (layout.isSettings !== true)
      report({ code: 'no-servers', ...tree.positionOf(tree.root), message: whyNone(tree, layout) });
    return [];
  }
  const naming = found.filter((holder) => !isOtherSetting(tree, holder));
  const holders = lastOfEach(
    naming.length === 0 ? found : naming,
    ({ holder }) => fieldName(holder.path),
    ({ holder, position }) => {
      report({ ...REPEATED, ...position, field: fieldName(holder.path) });
    },
  );
  const entries = holders.flatMap((holder) => entriesIn(tree, holder, layout, report));
  return lastOfEach(
    entries,
    ({ name }) => name,
    ({ name, position }) => {
      report({ ...REPEATED, ...position, server: printable(name) });
    },
  );
}

/** The member at the end of a holder's path, from a member at the top. */
function descend(tree: TextTree, member: Member, holder: Holder): readonly FoundHolder[] {
  const [first, ...rest] = holder.path;
  if (member.name !== first) return [];
  let inner: Member | undefined = member;
  for (const step of rest) {
    inner = inner && tree.memberOf(inner.node, step);
  }
  return inner === undefined ? [] : [{ ...inner, holder }];
}

/** One host keeps lists of names under `mcp`, while its servers are elsewhere. */
function isOtherSetting(tree: TextTree, { node, holder }: FoundHolder): boolean {
  const members = membersOf(tree, node);
  return (
    fieldName(holder.path) === 'mcp' &&
    members.length > 0 &&
    members.every((member) => member.node.type !== 'object')
  );
}

function entriesIn(
  tree: TextTree,
  { node, position, holder }: FoundHolder,
  { syntax }: Layout,
  report: ReportProblem,
): readonly FoundServer[] {
  const field = fieldName(holder.path);
  const members = membersOf(tree, node);
  if (node.type !== 'object') {
    const message = `expected an object with one entry per server, found ${kindOf(valueOf(node))}`;
    report({ code: 'wrong-type', ...position, field, message });
    return [];
  }
  if (isEntryLike(node)) {
    const message = `holds a server without a name; write ${WRAPPED[syntax]}`;
    report({ code: 'unnamed-server', ...position, field, message });
    return [];
  }
  // Two hosts keep their servers one level lower: { "mcp": { "servers": { … } } }.
  const lower = field === 'mcp' ? members.find(isLowerHolder) : undefined;
  if (lower !== undefined) {
    const inside = { path: ['servers'], translate: translateLower };
    return entriesIn(tree, { ...lower, holder: inside }, { syntax, holders: [] }, report);
  }
  if (members.length === 0)
    report({ code: 'no-servers', ...position, severity: 'warning', field, message: 'names no server' });
  return members.map((member) => ({ ...member, translate: holder.translate }));
}

/** An entry of opencode is recognized by its `type`. */
const translateLower: Translate = (entry) =>
  entry['type'] === 'local' || entry['type'] === 'remote' ? translateOpencode(entry) : translateVsCode(entry);

function isLowerHolder({ name, node }: Member): boolean {
  return name === 'servers' && node.type === 'object' && !isEntryLike(node);
}

function whyNone(tree: TextTree, { syntax, holders }: Layout): string {
  const { root } = tree;
  const wrapped = WRAPPED[syntax];
  if (root.type !== 'object') return `expected ${wrapped}, found ${kindOf(valueOf(root))}`;
  const keys = holders.map(({ path }) => fieldName(path));
  const lead = `names no servers: none of ${keys.map((key) => `'${key}'`).join(', ')} is there`;
  const top = membersOf(tree, root);
  if (isEntryLike(root)) return `${lead}; it looks like a single entry: write ${wrapped}`;
  if (top.some(({ node }) => isEntryLike(node)))
    return `${lead}; its entries are not wrapped: write ${wrapped}`;
  if (top.length === 0) return `${lead}; the object is empty`;
  const names = top.map(({ name }) => name);
  const shown = names.slice(0, MAX_KEYS_SHOWN).map((name) => `'${printable(name)}'`);
  const more = names.length > shown.length ? ', …' : '';
  const nearest = names.map((name) => nearestName(name, keys)).find((key) => key !== undefined);
  const meant = nearest === undefined ? '' : `; did you mean '${nearest}'?`;
  return `${lead}, only ${shown.join(', ')}${more}${meant}`;
}

/** It has its own command or address, so it is a server and not a collection of servers. */
function isEntryLike(node: TreeNode): boolean {
  const value = valueOf(node);
  if (!isObject(value)) return false;
  const { command } = value;
  return (
    typeof command === 'string' ||
    Array.isArray(command) ||
    ADDRESS_FIELDS.some((field) => typeof value[field] === 'string')
  );
}

/** The last item of each name, at the place of the first. Reports every repetition. */
function lastOfEach<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  onRepeat: (item: T) => void,
): readonly T[] {
  const last = new Map<string, T>();
  for (const item of items) {
    if (last.has(nameOf(item))) onRepeat(item);
    last.set(nameOf(item), item);
  }
  return [...last.values()];
}
