/** Records of the servers of a case: their journal, and the requests that an HTTP server has received. */
import { existsSync, readFileSync } from 'node:fs';

/** Fields of every entry, whatever its event. */
const COMMON_FIELDS = new Set(['t', 'pid', 'ev']);

/** One entry for each line; an incomplete last line is ignored. */
export function readJournal(file) {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.trim() !== '')
    .map(toEntry);
}

function toEntry(line, index) {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`entry ${index + 1} of the journal is not JSON: ${line.slice(0, 80)}`);
  }
}

/** The processes that wrote to a journal. */
export function pidsOf(entries) {
  return [...new Set(entries.map(({ pid }) => pid))].filter(Number.isInteger);
}

/** The entries of a key: `EVENT`, `recv:METHOD`, `recv:METHOD:TOOL`, or `EVENT:VALUE` for any value of another event. */
export function eventsOf(entries, key) {
  const [ev, ...rest] = key.split(':');
  const matches = ev === 'recv' ? receivedMatcher(rest) : valueMatcher(rest.join(':'));
  return entries.filter((entry) => entry.ev === ev && matches(entry));
}

/** A tool may have colons in its name. */
function receivedMatcher([method, ...rest]) {
  const tool = rest.length === 0 ? undefined : rest.join(':');
  return (entry) =>
    (method === undefined || entry.method === method) && (tool === undefined || entry.tool === tool);
}

function valueMatcher(value) {
  return (entry) =>
    value === '' ||
    Object.entries(entry).some(([name, found]) => !COMMON_FIELDS.has(name) && String(found) === value);
}

/** Fields of a request that a key may name; every other name is a header. */
const FIELDS = ['auth', 'session', 'lastEventId'];

const REQUEST_KEYS = [
  [/^status (\d)xx$/i, (family) => (seen) => Math.floor(seen.status / 100) === Number(family)],
  [/^status (\d{3})$/, (status) => (seen) => seen.status === Number(status)],
  [/^(\S+) is (.+)$/, (name, value) => (seen) => fieldOf(seen, name) === value],
  [
    /^(\S+) missing on (\/\S*)$/,
    (name, path) => (seen) => seen.path === path && fieldOf(seen, name) === null,
  ],
  [/^([A-Z]+) (\/\S*)$/, (method, path) => (seen) => seen.method === method && seen.path === path],
  [
    /^([^\s:]+)(?::(.+))?$/,
    (rpc, tool) => (seen) => seen.rpc === rpc && (tool === undefined || seen.tool === tool),
  ],
];

function fieldOf(seen, name) {
  return (FIELDS.includes(name) ? seen[name] : seen.headers?.[name.toLowerCase()]) ?? null;
}

/** A function that tests whether a request matches a key; undefined for an invalid key. */
export function requestMatcher(key) {
  for (const [shape, toMatcher] of REQUEST_KEYS) {
    const hit = shape.exec(key);
    if (hit !== null) return toMatcher(...hit.slice(1));
  }
  return undefined;
}
