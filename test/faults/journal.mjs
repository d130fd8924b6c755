/** What the servers of a case noted down themselves: their journal, and the requests an HTTP server has seen. */
import { existsSync, readFileSync } from 'node:fs';

/** One entry for each line; a last line that is cut short is left out. */
export function readJournal(file) {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** The processes that wrote a journal. */
export function pidsOf(entries) {
  return [...new Set(entries.map(({ pid }) => pid))];
}

/** The entries of a key: `EVENT`, `recv:METHOD` or `recv:METHOD:TOOL`. */
export function eventsOf(entries, key) {
  const [ev, method, tool] = key.split(':');
  return entries.filter(
    (entry) =>
      entry.ev === ev &&
      (method === undefined || entry.method === method) &&
      (tool === undefined || entry.tool === tool),
  );
}

const REQUEST_KEYS = [
  [
    /^status (\d+)$/,
    ([, status]) =>
      (seen) =>
        seen.status === Number(status),
  ],
  [
    /^auth is (.+)$/,
    ([, value]) =>
      (seen) =>
        seen.auth === value,
  ],
  [
    /^auth missing on (\S+)$/,
    ([, path]) =>
      (seen) =>
        seen.path === path && seen.auth === null,
  ],
  [
    /^([A-Z]+) (\/\S*)$/,
    ([, method, path]) =>
      (seen) =>
        seen.method === method && seen.path === path,
  ],
  [
    /^([a-z][\w/]*)(?::(.+))?$/i,
    ([, rpc, tool]) =>
      (seen) =>
        seen.rpc === rpc && (tool ?? seen.tool) === seen.tool,
  ],
];

/** Whether a key asks for requests rather than for entries of a journal; both may say `initialize`. */
export function requestMatcher(key) {
  for (const [shape, toMatcher] of REQUEST_KEYS) {
    const hit = shape.exec(key);
    if (hit !== null) return toMatcher(hit);
  }
  return undefined;
}
