/**
 * Finds the entries in a configuration file, whichever host's habit it follows, or says why there are none.
 */
import type { ConfigProblem } from '../errors.js';
import { membersOf, valueOf, type JsonNode, type JsonText, type Member } from './json-text.js';
import { nearestName } from './near-miss.js';
import { printable } from './problem.js';
import { isObject, kindOf } from './read-shape.js';
import { ALIASES, SERVER_KEYS } from './schema.js';

export type ReportProblem = (problem: Omit<ConfigProblem, 'source'>) => void;

export const WRAPPED = '{ "mcpServers": { "NAME": { … } } }';

const LOOKED_FOR = SERVER_KEYS.map((key) => `'${key}'`).join(', ');
const MOST_KEYS_SHOWN = 5;
const ADDRESS_FIELDS = ['url', ...Object.keys(ALIASES).filter((alias) => /url/i.test(alias))];

/** The entries of every key that may hold servers, in the order of the file; of a repeated name the last. */
export function findServers(json: JsonText, report: ReportProblem): readonly Member[] {
  const top = membersOf(json, json.root);
  const keys = top.filter(({ name }) => SERVER_KEYS.some((key) => key === name));
  if (keys.length === 0) {
    report({ ...json.positionOf(json.root), message: whyNone(json.root, top) });
    return [];
  }
  const holders = lastOfEach(keys, ({ name, position }) => {
    report({ ...REPEATED, ...position, field: name });
  });
  const entries = holders.flatMap((holder) => entriesIn(json, holder, report));
  return lastOfEach(entries, ({ name, position }) => {
    report({ ...REPEATED, ...position, server: printable(name) });
  });
}

export const REPEATED = {
  severity: 'warning',
  message: 'is written more than once; this one counts',
} as const;

function entriesIn(json: JsonText, holder: Member, report: ReportProblem): readonly Member[] {
  const { name: field, node, position } = holder;
  const members = membersOf(json, node);
  if (node.type !== 'object') {
    const message = `expected an object with one entry per server, found ${kindOf(valueOf(node))}`;
    report({ ...position, field, message });
    return [];
  }
  if (isEntryLike(node)) {
    report({ ...position, field, message: `holds a server without a name; write ${WRAPPED}` });
    return [];
  }
  // One editor keeps its servers a level lower, beside its inputs: { "mcp": { "servers": { … } } }.
  const lower = field === 'mcp' ? members.find(isLowerHolder) : undefined;
  if (lower !== undefined) return entriesIn(json, lower, report);
  if (members.length === 0) report({ ...position, severity: 'warning', field, message: 'names no server' });
  return members;
}

function isLowerHolder({ name, node }: Member): boolean {
  return name === 'servers' && node.type === 'object' && !isEntryLike(node);
}

function whyNone(root: JsonNode, top: readonly Member[]): string {
  if (root.type !== 'object') return `expected ${WRAPPED}, found ${kindOf(valueOf(root))}`;
  const lead = `names no servers: none of ${LOOKED_FOR} is there`;
  if (isEntryLike(root)) return `${lead}; it looks like a single entry: write ${WRAPPED}`;
  if (top.some(({ node }) => isEntryLike(node)))
    return `${lead}; its entries are not wrapped: write ${WRAPPED}`;
  if (top.length === 0) return `${lead}; the object is empty`;
  const names = top.map(({ name }) => name);
  const shown = names.slice(0, MOST_KEYS_SHOWN).map((name) => `'${printable(name)}'`);
  const more = names.length > shown.length ? ', …' : '';
  const nearest = names.map((name) => nearestName(name, SERVER_KEYS)).find((key) => key !== undefined);
  const meant = nearest === undefined ? '' : `; did you mean '${nearest}'?`;
  return `${lead}, only ${shown.join(', ')}${more}${meant}`;
}

/** It has a command or an address of its own, so it is a server and no collection of them. */
function isEntryLike(node: JsonNode): boolean {
  const value = valueOf(node);
  if (!isObject(value)) return false;
  const { command } = value;
  return (
    typeof command === 'string' ||
    Array.isArray(command) ||
    ADDRESS_FIELDS.some((field) => typeof value[field] === 'string')
  );
}

/** The last member of each name, at the place of the first; every later one is told. */
function lastOfEach(members: readonly Member[], onRepeat: (member: Member) => void): readonly Member[] {
  const last = new Map<string, Member>();
  for (const member of members) {
    if (last.has(member.name)) onRepeat(member);
    last.set(member.name, member);
  }
  return [...last.values()];
}
