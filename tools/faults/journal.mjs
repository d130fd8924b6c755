/** What the servers of a case noted down themselves: their journal, and the requests an HTTP server has seen. */
import { existsSync, readFileSync } from 'node:fs';

/** What every entry has, whatever its event. */
const COMMON_FIELDS = new Set(['t', 'pid', 'ev']);

/** One entry for each line; a last line that is cut short is left out. */
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
    throw new Error(`entry ${index + 1} of the journal is no JSON: ${line.slice(0, 80)}`);
  }
}

/** The processes that wrote a journal. */
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

/** Fields of a request that a key may ask for; every other name is that of a header. */
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

/** Whether a request is one that the key asks for; undefined for a key that asks for nothing. */
export function requestMatcher(key) {
  for (const [shape, toMatcher] of REQUEST_KEYS) {
    const hit = shape.exec(key);
    if (hit !== null) return toMatcher(...hit.slice(1));
  }
  return undefined;
}
