/** opencode: `mcp` of `opencode.json`, or `mcp.servers` in its second version. Its references are `{env:NAME}`; a missing variable is empty there. */
import { isObject } from '../entry/read-shape.js';
import type { RawEntry } from '../entry/spelling.js';
import { foreign, isAbsent, reference, translate, type Translate } from './translation.js';

export const translateOpencode: Translate = (entry) => {
  if (isAbsent(entry['command']) && isAbsent(entry['url']) && isAbsent(entry['type'])) {
    return foreign('it only enables or disables a server that is defined elsewhere');
  }
  if (/\{file:/.test(JSON.stringify(entry))) return foreign("'{file:…}' is expanded only by opencode");
  const texts = withReferences(entry) as RawEntry;
  return translate(texts, {
    made: limits(texts['timeout']),
    // In opencode, `remote` is streamable HTTP with a fallback to SSE. Here, that is an entry without a type.
    known: texts['type'] === 'remote' ? ['type'] : [],
  });
};

/** Milliseconds: for the list of tools in the first version, for start and requests in the second. */
function limits(timeout: unknown): Readonly<Record<string, readonly [unknown, string, ...string[]]>> {
  if (isAbsent(timeout)) return {};
  if (!isObject(timeout)) return { startTimeoutMs: [timeout, 'timeout'] };
  return {
    startTimeoutMs: [timeout['startup'] ?? undefined, 'timeout', 'startup'],
    callTimeoutMs: [timeout['request'] ?? undefined, 'timeout', 'request'],
  };
}

function withReferences(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(/\{env:([^{}]+)\}/g, (_, name: string) => reference(name));
  }
  if (Array.isArray(value)) return value.map(withReferences);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withReferences(item)]));
}
