/**
 * The hosts whose entries are nearly those of `.mcp.json`: Claude, the editors, Cline and Gemini CLI. Fields they have
 * on top are taken over where they mean the same, and told where a server would run otherwise without them; the rest
 * stays, for typing mistakes to be found.
 */
import type { RawEntry } from '../entry-fields.js';
import { isObject } from '../read-shape.js';
import { fromSeconds, isAbsent, toolLists, translate, type Translate } from './translation.js';

const MISSED = new Set(['envFile', 'headersHelper', 'sandbox', 'sandboxEnabled']);
const tells = (field: string): boolean => MISSED.has(field);

/** Their lists of tools, under names that mean nothing else. */
const TOOL_LISTS = [
  ['includeTools', 'excludeTools'],
  ['enabledTools', 'disabledTools'],
] as const;

export const translatePlain: Translate = (entry) => translate(entry, anyLists(entry));

/** Variables may be numbers there, and null takes one away. */
export const translateVsCode: Translate = (entry) => {
  const { made, ...rules } = anyLists(entry);
  return translate(entry, { ...rules, made: { ...made, env: [asTexts(entry['env'] ?? undefined), 'env'] } });
};

export const translateWindsurf: Translate = (entry) => translate(entry, { ...denied(entry), tells });

/** Its `timeout` is that of a request, in seconds. */
export const translateCline: Translate = (entry) => {
  const { made, ...lists } = denied(entry);
  const callTimeout = [fromSeconds(entry['timeout'] ?? undefined), 'timeout'] as const;
  return translate(entry, { made: { ...made, callTimeout }, ...lists, tells });
};

/** Its `timeout` is that of a request, in milliseconds. */
export const translateGemini: Translate = (entry) => {
  const { made, ...lists } = toolLists(entry, 'includeTools', 'excludeTools');
  const callTimeout = [entry['timeout'] ?? undefined, 'timeout'] as const;
  return translate(entry, { made: { ...made, callTimeout }, ...lists, tells });
};

function asTexts(env: unknown): unknown {
  if (!isObject(env)) return env;
  const present = Object.entries(env).filter(([, value]) => value !== null);
  return Object.fromEntries(
    present.map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]),
  );
}

/** Whichever host wrote it: no list of tools is lost. One that stands beside another is told. */
function anyLists(entry: RawEntry) {
  const isTold = (field: string): boolean => tells(field) || TOOL_LISTS.flat().some((name) => name === field);
  const isWritten = (names: readonly string[]): boolean => names.some((name) => !isAbsent(entry[name]));
  const lists = isAbsent(entry['tools']) ? TOOL_LISTS.find(isWritten) : undefined;
  return { ...(lists && toolLists(entry, lists[0], lists[1])), tells: isTold };
}

function denied(entry: RawEntry) {
  return toolLists(entry, 'enabledTools', 'disabledTools');
}
